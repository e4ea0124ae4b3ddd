"""What the command line shows: messages, results, tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from ..errors import ConfigException, printable
from ..output import encode

_COLOURS = {
    "found": 32,
    "stale": 33,
    "missing": 31,
    "refused": 31,
    "failed": 31,
    "appeared": 32,
    "changed": 33,
    "deleted": 31,
}


def say(message: str) -> None:
    """Write *message* to standard error, with our name before it; if nobody listens, to nobody."""
    with suppress(OSError, AttributeError):  # Nobody listens: stderr is full, or closed.
        os.write(sys.stderr.fileno(), f"resolve-config: {message}\n".encode(errors="replace"))


def some(count: int, noun: str) -> str:
    """Return *count* and *noun*, which gets an s for any number but one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_bytes(content: bytes) -> None:
    """Write *content* to standard output; raise :class:`ConfigException` if that cannot be."""
    if sys.stdout is None:
        raise ConfigException("standard output is closed: name a file with -o")
    sys.stdout.flush()
    try:
        os.set_blocking(sys.stdout.fileno(), True)
        # Past the buffer, which would try, and fail, a second time when the process ends.
        while content:
            content = content[os.write(sys.stdout.fileno(), content) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ConfigException(f"cannot write to standard output: {error.strerror}") from error


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Print *rows*, header first, in columns."""
    table = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(row, widths, strict=True)
        line = "  ".join(coloured(cell) + " " * (width - len(cell)) for cell, width in cells)
        print_bytes(encode(f"{line.rstrip()}\n"))


def coloured(word: str) -> str:
    """Return *word* in its colour, if it has one and standard output is a terminal with colours."""
    colour = _COLOURS.get(word)
    return f"\x1b[{colour}m{word}\x1b[0m" if colour and _has_colours() else word


def _has_colours() -> bool:
    unwanted = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return sys.stdout is not None and sys.stdout.isatty() and not unwanted
