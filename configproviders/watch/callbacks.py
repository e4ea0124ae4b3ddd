"""The thread in which callbacks run, one by one; another takes over from one that hangs.

A callback is the user's code: it may raise, and it may never return. Both are said once, and stop
nobody else.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable

from ..errors import shorten

_log = logging.getLogger(__name__)
_MOST_THREADS = 32
_AGAIN_SECONDS = 1.0


class Callbacks:
    """Runs what it is given in the order of its coming. Thread-safe."""

    def __init__(self, slow: float) -> None:
        """Take over after *slow* seconds; no thread is started yet."""
        self._slow = slow
        self._changed = threading.Condition()
        self._queue: deque[tuple[str, Callable[[], None]]] = deque()
        self._threads: list[threading.Thread] = []
        self._current: threading.Thread | None = None
        self._running: tuple[str, float] | None = None
        self._starved = False
        self._closed = False

    def submit(self, name: str, call: Callable[[], None]) -> None:
        """Run *call* when its turn comes; *name* is for messages."""
        with self._changed:
            if self._closed:
                return
            self._queue.append((name, call))
            if self._current is None:
                self._start()
            self._changed.notify_all()

    def relieve(self) -> float | None:
        """Have another thread go on if a call takes too long, or there was none to have.

        Return in how many seconds to look again; nothing if there is nothing to look at.
        """
        with self._changed:
            if self._starved and self._current is None:
                self._start()
                return _AGAIN_SECONDS
            if self._running is None:
                return self._slow if self._queue else None
            name, since = self._running
            left = since + self._slow - time.monotonic()
            if left > 0:
                return left
            self._threads = [each for each in self._threads if each.is_alive()]
            if len(self._threads) >= _MOST_THREADS or not self._start():
                return self._slow
        _log.warning(
            "the callback of %s takes longer than %.0f s; others go on without it", name, self._slow
        )
        return self._slow

    def close(self, seconds: float) -> None:
        """Run nothing more; wait up to *seconds* for what runs."""
        with self._changed:
            self._closed = True
            self._queue.clear()
            self._changed.notify_all()
            current = self._current
        if current is not None and current is not threading.current_thread():
            current.join(seconds)

    def _start(self) -> bool:
        """Have a new thread go on; return whether there is one."""
        thread = threading.Thread(target=self._run, name="watcher-callback", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if lacks_threads(error) and self._current is None and not self._starved:
                _log.warning("there is no thread to be had: callbacks may have to wait for one")
                self._starved = True
            return False
        if self._starved:
            _log.info("there is a thread for callbacks again")
            self._starved = False
        self._threads.append(thread)
        self._current, self._running = thread, None
        return True

    def _run(self) -> None:
        while (turn := self._next()) is not None:
            name, call = turn
            started = time.monotonic()
            try:
                call()
            except BaseException as error:  # noqa: BLE001  The top of a thread, which must go on.
                report(f"the callback of {shorten(name)}", error)
            self._end(name, started)

    def _next(self) -> tuple[str, Callable[[], None]] | None:
        """Wait for the next turn; there is none for who was relieved."""
        with self._changed:
            while self._current is threading.current_thread() and not self._closed:
                if self._queue:
                    turn = self._queue.popleft()
                    self._running = turn[0], time.monotonic()
                    return turn
                self._changed.wait()
        return None

    def _end(self, name: str, started: float) -> None:
        with self._changed:
            if self._current is threading.current_thread():
                self._running = None
                return
        took = time.monotonic() - started
        _log.info("the callback of %s has come back, after %.0f s", name, took)


def lacks_threads(error: RuntimeError) -> bool:
    """Whether *error* says that the system gives no more threads, and not that Python ends."""
    return str(error) == "can't start new thread"


def report(who: str, error: BaseException) -> None:
    """Log that *who* raised, and where; not the text of the error, which may hold a value."""
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    _log.error("%s raised %s:\n%s", who, type(error).__name__, frames)
