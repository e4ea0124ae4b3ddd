"""When connectors are launched: so many at a time, and again with growing pauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses before the next try, in seconds: *first*, then twice as long each time."""

    first: float = 1.0
    longest: float = 60.0

    @classmethod
    def of(cls, first: timedelta, longest: timedelta) -> Backoff:
        """Take the pauses as durations."""
        return cls(first.total_seconds(), longest.total_seconds())

    def pause(self, failures: int, jitter: float) -> float:
        """Return the pause after so many *failures*; *jitter*, 0 to 1, takes up to half of it."""
        pause = min(self.longest, self.first * 2.0 ** min(failures, 32))
        return pause * (1 - jitter / 2)


class Launches:
    """Who is being launched, and who waits for that, in order. For one thread.

    One that takes longer than half a minute is no longer counted, so that a connector that hangs
    holds up nobody.
    """

    def __init__(self, concurrency: int, clock: Callable[[], float]) -> None:
        """Allow so many at a time."""
        self._concurrency, self._clock = concurrency, clock
        self._waiting: dict[str, None] = {}
        self._under_way: dict[str, float] = {}

    @property
    def waits(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)

    def want(self, name: str) -> None:
        """Have *name* wait; one that is being launched is not asked to wait again."""
        self._waiting.setdefault(name)

    def release(self, name: str) -> None:
        """Have *name* no longer launched. If it waits, it is still asked when its turn comes."""
        self._under_way.pop(name, None)

    def next(self) -> str | None:
        """Return who may be launched now, if anybody may, as being launched."""
        name = next((each for each in self._waiting if each in self._under_way), None)
        if name is None and self._counted() < self._concurrency:
            name = next(iter(self._waiting), None)
        if name is not None:
            del self._waiting[name]
            self._under_way[name] = self._clock()
        return name

    def _counted(self) -> int:
        since = self._clock() - _PATIENCE_SECONDS
        return sum(begun > since for begun in self._under_way.values())
