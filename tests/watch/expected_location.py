"""What has to be known of one location that is watched, and when it has to be asked for again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from watch.expected_subscription import ExpectedSubscription
from watch.simulated_backends import Content, only

from configproviders import ConfigData
from configproviders.data import Answer
from configproviders.errors import ConfigException, KeyNotFound, PathNotFound
from configproviders.plan import Location
from configproviders.watch.rounds import Look

_LONGEST_PAUSE = 60.0
_ALONG = 0.2  # Of the interval: so much earlier it may go along with others.


@dataclass(eq=False)
class ExpectedLocation:
    """As ``WatchedLocation``, with values for digests, and bounds for dates."""

    location: Location
    interval: float
    content: Content = field(default_factory=dict)
    version: str | None = None
    unread: set[str] = field(default_factory=set)
    failures: int = 0
    failing_since: float = 0.0
    stale: bool = False
    look: Look | None = None
    asked_by: list[ExpectedSubscription] = field(default_factory=list)
    event: float | None = None
    not_before: float = 0.0
    due_by: float = math.inf

    def read(self, answer: Answer, now: float) -> bool:
        """Take in *answer*; return whether it says what is there."""
        unread: set[str] = set()
        says = isinstance(answer, PathNotFound)
        if says:
            self.content, self.version = {}, None
        elif isinstance(answer, ConfigData) and not answer.stale:
            says = True
            unread = {key for key, error in answer.errors.items() if not _is_absence(error)}
            self.content = {**answer.data, **only(self.content, unread)}
            self.version = answer.version
        self.unread = unread if says else self.unread
        self.stale = isinstance(answer, ConfigData) and answer.stale
        self._count(now, fails=bool(unread) or not says)
        self.not_before, due_by = self._bounds(answer, now)
        self.due_by = due_by if self.event is None else max(self.due_by, now)
        return says

    def may_tell(self, keys: frozenset[str]) -> bool:
        """Whether none of *keys* is there that cannot be read; none are all."""
        return self.unread.isdisjoint(keys or self.content.keys())

    def of(self, keys: frozenset[str]) -> dict[str, str]:
        """Return what is there of *keys*; none are all."""
        return only(self.content, keys or None)

    def _count(self, now: float, *, fails: bool) -> None:
        if fails and not self.failures:
            self.failing_since = now
        self.failures = self.failures + 1 if fails else 0

    def _bounds(self, answer: Answer, now: float) -> tuple[float, float]:
        """Return when it may and when it must be asked for again, if nothing happens."""
        soonest = min(1.0, self.interval)
        if self.failures:
            pause = min(
                soonest * 2.0 ** min(self.failures - 1, 20), max(_LONGEST_PAUSE, self.interval)
            )
            return now + 0.75 * pause, now + 1.25 * pause
        wait = math.inf
        if isinstance(answer, ConfigData) and answer.ttl is not None:
            ttl = answer.ttl.total_seconds()
            wait = max(ttl / 2 if answer.lease else ttl + 0.05, soonest)
        earliest = min(0.9 * self.interval, wait) - _ALONG * self.interval
        return now + earliest, now + min(1.1 * self.interval, wait)


def _is_absence(error: ConfigException) -> bool:
    return isinstance(error, KeyNotFound | PathNotFound)
