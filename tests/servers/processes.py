"""Servers as child processes: find the program, start it, wait for it, stop it."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from servers.missing import missing

LOOPBACK = "127.0.0.1"


def program(name: str, *directories: str, package: str) -> str:
    """Find a program in ``PATH`` or in *directories* (the last of a pattern's matches first).

    Without it the test is skipped, or fails in CI, for want of *package*.
    """
    more = [found for pattern in directories for found in sorted(glob.glob(pattern), reverse=True)]
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *more])
    return shutil.which(name, path=path) or missing(f"{name} ({package})")


def free_port() -> int:
    """Return a port of loopback that nobody listens on at the moment."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    """Tell whether somebody listens on *port*."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True


def open_sockets() -> int:
    """Count the sockets of this process."""
    targets = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            targets.append(str(each.readlink()))
        except FileNotFoundError:  # That of the listing itself.
            continue
    return sum(target.startswith("socket:") for target in targets)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs as a child of ours, and what it has written so far."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def wait_until(self, ready: Callable[[], bool], *, seconds: float = 30) -> None:
        """Ask *ready* until it is true; raise :class:`RuntimeError` if the server ends before."""
        end = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                code = self.process.returncode
                raise RuntimeError(f"{self.name} ended with {code}:\n{self._tail()}")
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name} is not ready after {seconds} s:\n{self._tail()}")
            time.sleep(0.02)

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def run(command: Sequence[str], *, user: str | None = None) -> None:
    """Run *command* to its end, as *user*; raise :class:`RuntimeError` if it fails."""
    done = subprocess.run(
        list(command), cwd="/", capture_output=True, check=False, **_identity(user)
    )
    if done.returncode:
        name = os.path.basename(command[0])
        raise RuntimeError(f"{name} failed:\n{done.stderr.decode(errors='replace')}")


@contextmanager
def serving(  # noqa: PLR0913  All but two have their default, and a name.
    command: Sequence[str],
    log: Path,
    *,
    stop: signal.Signals = signal.SIGTERM,
    user: str | None = None,
    environ: Mapping[str, str] | None = None,
    new_session: bool = False,
) -> Iterator[Server]:
    """Run *command* as *user*, with its output in *log*; end it with the signal *stop*.

    Its environment is *environ*, by default ours. In a new session it can be told by the number of
    that session, its own process id, which processes are its descendants.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=environ,
            start_new_session=new_session,
            **_identity(user),
        )
    try:
        yield Server(os.path.basename(command[0]), process, log)
    finally:
        process.send_signal(stop)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class _Identity(TypedDict, total=False):
    user: str
    group: int
    extra_groups: list[int]


def _identity(user: str | None) -> _Identity:
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
