"""Makes the looks: those that wait for a backend in threads, all others one by one in one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress

from ..lookups import Answers, Call, ask_all
from .location import WatchedLocation
from .rounds import Look
from .state import WatchState

Arm = Callable[[Iterable[WatchedLocation]], None]
"""Called with what is about to be looked at, so that no event is missed after the look."""


class Looks:
    """Asks for what the state has claimed, and lands the answers. Thread-safe."""

    def __init__(self, state: WatchState, concurrency: int) -> None:
        """Start no thread yet."""
        self._state = state
        self._concurrency = concurrency
        self._files = ThreadPoolExecutor(1, "watcher-files")
        self._waiting = ThreadPoolExecutor(concurrency, "watcher-lookup")
        self._lock = threading.Lock()
        self._under_way: set[Future[None]] = set()

    def make(self, looks: Sequence[Look], arm: Arm) -> None:
        """Make all *looks* now; those that were interrupted are given back."""
        by_call = {id(look.call): look for look in looks}

        def ask(call: Call) -> Answers:
            return self._look(by_call[id(call)], arm)

        try:
            ask_all((look.call for look in looks), self._concurrency, ask)
        finally:
            self._state.give_back(looks)

    def submit(self, looks: Iterable[Look], arm: Arm) -> None:
        """Make *looks* in threads."""
        at_once = []
        for look in looks:
            if look.call.provider.waits:
                self._submit(self._waiting, [look], arm)
            else:
                at_once.append(look)
        if at_once:
            self._submit(self._files, at_once, arm)

    def close(self, seconds: float) -> None:
        """Make no more; wait up to *seconds* for those under way."""
        with self._lock:
            under_way = list(self._under_way)
        for each in under_way:
            each.cancel()
        _, left = wait(under_way, max(0.0, seconds))
        for threads in (self._files, self._waiting):
            threads.shutdown(wait=not left, cancel_futures=True)

    def _submit(self, threads: ThreadPoolExecutor, looks: Sequence[Look], arm: Arm) -> None:
        with suppress(RuntimeError):  # It was closed, or Python ends.
            future = threads.submit(self._look_at, looks, arm)
            with self._lock:
                self._under_way.add(future)
            future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._under_way.discard(future)

    def _look_at(self, looks: Sequence[Look], arm: Arm) -> None:
        try:
            for look in looks:
                if not self._state.is_closed:
                    self._look(look, arm)
        finally:
            self._state.give_back(looks)

    def _look(self, look: Look, arm: Arm) -> Answers:
        arm(look.locations.values())
        answers = look.call.refresh()
        self._state.land(look, answers)
        return answers
