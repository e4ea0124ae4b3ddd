"""Makes the looks: those that wait for a backend in threads, all others one by one in one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ..errors import ConfigException, LookupFailed, plugin_failure
from ..lookups import Answers, Call, ask_all
from .callbacks import lacks_threads
from .location import WatchedLocation
from .rounds import Look
from .state import WatchState

_LONG_SECONDS = 60.0
_STANDSTILL_SECONDS = 5.0

Arm = Callable[[Iterable[WatchedLocation]], None]
"""Called with what is about to be looked at, so that no event is missed after the look."""


class Looks:
    """Asks for what the state has claimed, and lands the answers. Thread-safe."""

    def __init__(self, state: WatchState, concurrency: int) -> None:
        """Start no thread yet."""
        self._state = state
        self._concurrency = concurrency
        self._files = ThreadPoolExecutor(1, "watcher-files")
        self._waiting: dict[str, ThreadPoolExecutor] = {}  # One for each provider, as it may hang.
        self._lock = threading.Lock()
        self._under_way: set[Future[None]] = set()
        self._begun: deque[tuple[float, Look]] = deque()

    def make(self, looks: Sequence[Look], arm: Arm) -> None:
        """Make all *looks* now; those that were interrupted are given back."""
        by_call = {id(look.call): look for look in looks}
        self._begin(looks)

        def ask(call: Call) -> Answers:
            return self._look(by_call[id(call)], arm)

        try:
            ask_all((look.call for look in looks), self._concurrency, ask)
        finally:
            self._state.give_back(looks)

    def submit(self, looks: Iterable[Look], arm: Arm) -> None:
        """Make *looks* in threads."""
        looks, at_once = list(looks), []
        self._begin(looks)
        for look in looks:
            if look.call.provider.waits:
                self._submit(self._threads_for(look.call.name), [look], arm)
            else:
                at_once.append(look)
        if at_once:
            self._submit(self._files, at_once, arm)

    def watch_over(self) -> float | None:
        """Have what takes very long count as failing; return in how many seconds to come again."""
        late = []
        now = time.monotonic()
        with self._lock:
            self._drop_ended()
            if self._begun and now - self._begun[0][0] > _LONG_SECONDS + _STANDSTILL_SECONDS:
                self._begun = deque((now, look) for _, look in self._begun)  # We came too late.
            while self._begun and now - self._begun[0][0] >= _LONG_SECONDS:
                late.append(self._begun.popleft()[1])
            left = self._begun[0][0] + _LONG_SECONDS - now if self._begun else None
        for look in late:
            self._state.wait_for(look)
        return left

    def close(self, seconds: float) -> None:
        """Make no more; wait up to *seconds* for those under way."""
        with self._lock:
            under_way = list(self._under_way)
        for each in under_way:
            each.cancel()
        _, left = wait(under_way, max(0.0, seconds))
        for threads in (self._files, *self._waiting.values()):
            threads.shutdown(wait=not left, cancel_futures=True)

    def _begin(self, looks: Iterable[Look]) -> None:
        now = time.monotonic()
        with self._lock:
            self._drop_ended()
            self._begun.extend((now, look) for look in looks)

    def _drop_ended(self) -> None:
        while self._begun and not self._begun[0][1].is_under_way:
            self._begun.popleft()

    def _threads_for(self, name: str) -> ThreadPoolExecutor:
        with self._lock:
            if name not in self._waiting:
                self._waiting[name] = ThreadPoolExecutor(self._concurrency, "watcher-lookup")
            return self._waiting[name]

    def _submit(self, threads: ThreadPoolExecutor, looks: Sequence[Look], arm: Arm) -> None:
        try:
            future = threads.submit(self._look_at, looks, arm)
        except RuntimeError as error:  # Else it was closed, or Python ends.
            if lacks_threads(error):
                for look in looks:
                    self._fail(look, LookupFailed("there is no thread to be had"))
            return
        with self._lock:
            self._under_way.add(future)
        future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._under_way.discard(future)

    def _look_at(self, looks: Sequence[Look], arm: Arm) -> None:
        try:
            for look in looks:
                if look.is_under_way and not self._state.is_closed:
                    self._try(look, arm)
        finally:
            self._state.give_back(looks)

    def _try(self, look: Look, arm: Arm) -> None:
        try:
            self._look(look, arm)
        except BaseException as error:  # noqa: BLE001  A plugin may raise anything; this thread is ours.
            self._fail(look, plugin_failure(look.call.provider, error))

    def _fail(self, look: Look, failure: ConfigException) -> None:
        self._state.land(look, {each.location: failure for each in look.locations.values()})

    def _look(self, look: Look, arm: Arm) -> Answers:
        arm(look.locations.values())
        answers = look.call.refresh()
        self._state.land(look, answers)
        return answers
