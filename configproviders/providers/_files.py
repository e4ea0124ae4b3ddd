"""Whole files: every byte of one state of the file, or an error that says why not."""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import NamedTuple

from ..errors import LookupDenied, LookupFailed, PathNotFound, shorten
from ..formats import MAX_BYTES
from ._allowed_paths import AllowedPaths

ATTEMPTS = 5
_CLOCK_TICK_NS = 50_000_000


class State(NamedTuple):
    """What changes when a file changes."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> State:
        """Take the state from the answer of ``stat``."""
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_dev, status.st_ino, status.st_size, *times)

    @property
    def is_settled(self) -> bool:
        """Whether a later write must change it: its times are older than a tick of the clock.

        A file system whose times are coarser than 50 ms may still hide a write of the same size
        into the same file; so may a memory map, until the system writes it back.
        """
        return time.time_ns() - max(self.mtime_ns, self.ctime_ns) > _CLOCK_TICK_NS


def state_of(path: str, allowed: AllowedPaths) -> State:
    """Return the state of the file at *path*; raise a kind of :class:`LookupFailed`."""
    try:
        return State.of(os.stat(allowed.resolve(path)))
    except (OSError, ValueError) as error:
        raise failure(path, error) from error


def read(path: str, allowed: AllowedPaths) -> tuple[bytes, State]:
    """Return the content of the file at *path* and the one state of the file it belongs to.

    Raises a kind of :class:`LookupFailed`, also for anything but a regular file, for more than
    ``MAX_BYTES``, and for a file that never rests.
    """
    last: OSError | None = None
    for _ in range(ATTEMPTS):
        try:
            return _read_once(allowed.resolve(path), follow=allowed.is_everything)
        except (FileNotFoundError, BlockingIOError) as error:
            last = error  # A file or a link on the way to it was replaced, or is not there.
        except (OSError, ValueError) as error:
            raise failure(path, error) from error
    raise failure(path, last) from last


def failure(path: str, error: OSError | ValueError | None) -> LookupFailed:
    """Say in our words why *path* cannot be read."""
    if isinstance(error, OSError):
        message = f"cannot read {shorten(path)!r}: {error.strerror}"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return PathNotFound(message)
        if isinstance(error, PermissionError):
            return LookupDenied(message)
        return LookupFailed(message)
    return PathNotFound(f"cannot read {shorten(path)!r}: a path holds no NUL character")


def _read_once(path: str, *, follow: bool) -> tuple[bytes, State]:
    # Not blocking, so that a pipe in the place of a file does not hang.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not follow and _opened_path(file.fileno()) not in {path, None}:
            raise BlockingIOError(errno.EAGAIN, "it moves while it is read")
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES >> 20} MiB")
        state = State.of(os.fstat(file.fileno()))
    if state != State.of(status):
        raise BlockingIOError(errno.EAGAIN, "it changes while it is read")
    return content, state


def _opened_path(descriptor: int) -> str | None:
    """Return what was opened, where Linux says it: a directory may be swapped after the check."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
