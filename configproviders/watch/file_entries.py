"""Which entries of which directories decide where a path leads.

In a Kubernetes mount ``password`` leads to ``..data/password``, and ``..data`` is replaced by a
rename. So it is the entry of the file, that of each link on the way, and those of the directories
that these are in, which can be moved away and come back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

_MOST_LINKS = 40


class Entry(NamedTuple):
    """A name in a directory; no name is everything in it."""

    directory: str
    name: str


def entries_of(path: str) -> Iterator[Entry]:
    """Yield the entries that decide where *path* leads, links followed, as far as it leads."""
    try:
        left = _names(path if os.path.isabs(path) else os.path.join(os.getcwd(), path))
    except FileNotFoundError:  # The working directory is not there any more.
        return
    at = whole = os.sep
    links = 0
    while left:
        name = left.pop(0)
        if name == os.pardir:
            at = whole = os.path.dirname(at)  # Where a link led, not where it stands.
            continue
        whole = os.path.join(at, name)
        target, exists = _read_link(whole)
        if target is not None and links < _MOST_LINKS:
            yield from _with_directory(Entry(at, name))
            links += 1
            at = whole = os.sep if target.startswith(os.sep) else at
            left = [*_names(target), *left]
            continue
        if not left or not exists:
            yield from _with_directory(Entry(at, name))
            break
        at = whole
    if os.path.isdir(whole):
        yield Entry(whole, "")
        yield from _with_directory(Entry(*os.path.split(whole)))


def _names(path: str) -> list[str]:
    return [name for name in path.split(os.sep) if name not in {"", os.curdir}]


def _with_directory(entry: Entry) -> Iterator[Entry]:
    yield entry
    if entry.directory != os.sep:
        yield Entry(*os.path.split(entry.directory))


def _read_link(path: str) -> tuple[str | None, bool]:
    """Return where the link at *path* leads, if there is one, and whether there is anything."""
    try:
        return os.readlink(path), True
    except OSError as error:
        return None, error.errno == errno.EINVAL
    except ValueError:  # It holds a NUL character.
        return None, False
