"""A line on standard error that shows that a long wait goes on."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from .terminal import say

_PAUSE = 60.0
_ERASE = b"\r\x1b[K"
_USUAL_WIDTH = 80


class StatusLine:
    """In a terminal one line that is written over; elsewhere a new line each minute. Thread-safe.

    A terminal that is dumb gets new lines too; one that belongs to another program now gets none.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Show nothing yet."""
        self._clock = clock
        self._lock = threading.RLock()
        self._terminal = _terminal()
        self._is_shown = False
        self._next = -math.inf

    def show(self, text: Callable[[], str]) -> None:
        """Show what *text* says of how it is now, if it is time for that."""
        with self._lock:
            if self._terminal is not None:
                self._write_over(self._terminal, text())
            elif self._clock() >= self._next:
                say(text())
                self._next = self._clock() + _PAUSE

    def say(self, message: str) -> None:
        """Say *message* while the line is out of the way; it comes back when it is shown again."""
        with self._lock:
            self.clear()
            say(message)

    def clear(self) -> None:
        """Have the line out of the way until it is shown again."""
        with self._lock:
            if self._is_shown and self._terminal is not None:
                with suppress(OSError):  # It went away.
                    os.write(self._terminal, _ERASE)
                self._is_shown = False

    def _write_over(self, terminal: int, text: str) -> None:
        with suppress(OSError):  # It went away.
            if _belongs_to_another(terminal):
                return
            width = os.get_terminal_size(terminal).columns or _USUAL_WIDTH
            self._is_shown = True  # Before it is: ctrl-C may come in between.
            os.write(terminal, _ERASE + text[: width - 1].encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


def _terminal() -> int | None:
    """Return standard error if it is a terminal in which a line can be written over."""
    with suppress(AttributeError, OSError, ValueError):  # It is closed, or none of the system's.
        if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            return sys.stderr.fileno()
    return None


def _belongs_to_another(terminal: int) -> bool:
    """Whether this process is in the background, and somebody types there."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # It is not the terminal that started this.
        return False
