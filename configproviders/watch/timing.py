"""When to look and when to tell: decisions in seconds, without a clock.

::

    event ── settle ── look ──┬─ same: nothing          poll ── look ──┬─ same: nothing
      └ another event starts  └─ other: tell                           └─ other ── settle ── tell
        the wait again, up to settle_max

A location is looked at again after the poll interval, a tenth more or less; earlier if its TTL ends
before. What is leased is replaced some time before its end, so the remaining time is halved again
and again. A location that fails is tried again after a second, then two, then four.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..data import ConfigData

_SOONEST, _LONGEST_PAUSE = 1.0, 60.0
_AFTER_TTL = 0.05
_GRACE = 0.02
_KEPT = 1.0  # A place for a call, after its time has come.


@dataclass(frozen=True, slots=True)
class Timing:
    """The settings, in seconds, and a *jitter* of numbers from 0 to 1."""

    poll_interval: float
    settle: float
    settle_max: float
    calls_per_second: float
    jitter: Callable[[], float]

    @property
    def grace(self) -> float:
        """How long an event may be on its way: what was read before it came may be half a save."""
        return min(_GRACE, self.settle / 2)

    def poll_wait(self, interval: float) -> float:
        """Return how long to wait after an answer."""
        return interval * (0.9 + 0.2 * self.jitter())

    def ttl_wait(self, data: ConfigData | None, interval: float) -> float:
        """Return how long to wait at most, since *data* may have another content then."""
        if data is None or data.ttl is None:
            return math.inf
        ttl = data.ttl.total_seconds()
        return max(ttl / 2 if data.lease else ttl + _AFTER_TTL, min(_SOONEST, interval))

    def next_try(self, failures: int, interval: float) -> float:
        """Return how long to wait after that many failures."""
        pause = min(_SOONEST, interval) * 2.0 ** min(failures - 1, 16)
        return min(pause, max(_LONGEST_PAUSE, interval)) * (0.75 + 0.5 * self.jitter())

    def settled(self, first: float, now: float) -> float:
        """Return when it is quiet, if something happens *now* and happened *first* then."""
        return min(now + self.settle, max(first + self.settle_max, now))


class Rate:
    """Has places for so many calls in a second, as many at once, and gives them out in order."""

    def __init__(self, per_second: float) -> None:
        """Start with none made."""
        self._spacing = 1 / per_second
        self._burst = max(1.0, per_second) * self._spacing
        self._full_at = -math.inf

    def book(self, now: float, booked: float | None = None) -> float:
        """Return when a call may go: as it was *booked* before, if that is not long past."""
        if booked is not None and now - booked < _KEPT:
            return booked
        self._full_at = max(self._full_at, now) + self._spacing
        return max(now, self._full_at - self._burst)


class Elapsed:
    """Seconds that only grow: a clock that jumps is followed forwards, and not back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start at 0."""
        self._clock = clock
        self._last = clock()
        self._seconds = 0.0

    def __call__(self) -> float:
        """Return the seconds; called under a lock."""
        now = self._clock()
        self._seconds += max(0.0, now - self._last)
        self._last = now
        return self._seconds
