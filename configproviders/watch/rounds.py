"""Which locations are asked for when, and by which calls: each by one at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..data import ConfigData
from ..lookups import Call, refresh_calls
from .agenda import Agenda
from .location import Source, WatchedLocation
from .timing import Timing

_ALONG, _ALONG_IN_BATCH = 0.02, 0.2  # Parts of the poll interval.


class Look(NamedTuple):
    """A call to make, and the locations that are claimed for it, by path."""

    call: Call
    locations: Mapping[str, WatchedLocation]

    @property
    def is_under_way(self) -> bool:
        """Whether it has not landed, and was not given up."""
        return any(each.asking and each.look is self for each in self.locations.values())


class Rounds:
    """The dates of all locations. Touched under the lock of the state."""

    def __init__(self, timing: Timing) -> None:
        """Have nothing due yet."""
        self._timing = timing
        self._dates: Agenda[WatchedLocation] = Agenda()

    def next(self) -> float | None:
        """Return when something is due."""
        return self._dates.next()

    def date(self, watched: WatchedLocation) -> float | None:
        """Return when *watched* is due; nothing while it is asked for."""
        return self._dates.date(watched)

    def drop(self, watched: WatchedLocation) -> None:
        """Have *watched* due no more."""
        self._dates.drop(watched)

    def hurry(self, watched: WatchedLocation, now: float, *, settle: bool) -> None:
        """Have *watched* due soon, since something has happened there; without *settle* now."""
        watched.event = now if watched.event is None else watched.event
        settled = self._timing.settled(watched.event, now)
        self._dates.put(watched, max(now, settled - self._timing.grace) if settle else now)

    def due(self, now: float) -> list[Look]:
        """Claim what is due."""
        due: defaultdict[Source, list[WatchedLocation]] = defaultdict(list)
        for watched in self._dates.pop_due(now):
            if watched.asking:
                watched.missed = True
            else:
                due[watched.source].append(watched)
        return [look for source in due for look in self._due_looks(source, due[source], now)]

    def claim(self, locations: Iterable[WatchedLocation]) -> Iterator[Look]:
        """Claim *locations*, whenever they are due."""
        by_source: defaultdict[Source, list[WatchedLocation]] = defaultdict(list)
        for each in locations:
            by_source[each.source].append(each)
        for source, watched in by_source.items():
            for look in _looks_at(source, watched):
                self._mark(look)
                yield look

    def landed(
        self, watched: WatchedLocation, data: ConfigData | None, now: float, poll: float
    ) -> None:
        """Have *watched* due again in time, at *poll* at the latest, after *data* has come."""
        interval = watched.source.interval
        if not watched.wants:
            return
        if watched.missed:
            self._dates.put(watched, now)
        elif watched.event is not None:
            return
        elif watched.failures:
            self._dates.put(watched, now + self._timing.next_try(watched.failures, interval))
        else:
            self._dates.put(watched, min(poll, now + self._timing.ttl_wait(data, interval)))

    def _due_looks(self, source: Source, due: list[WatchedLocation], now: float) -> Iterator[Look]:
        """Claim *due*, and what is due soon and can go along, as far as the rate allows."""
        asked = set(due)
        for look in _looks_at(source, due + self._along(source, asked, now)):
            mine = [each for each in look.locations.values() if each in asked]
            if not mine:
                continue
            slot = _slot(source, mine, now) if source.provider.waits else now
            if slot <= now:
                self._mark(look)
                yield look
                continue
            for each in mine:
                each.slot = slot
                self._dates.put(each, slot)

    def _along(
        self, source: Source, asked: set[WatchedLocation], now: float
    ) -> list[WatchedLocation]:
        """Return what is polled soon anyway, and ask now for what is due in a moment."""
        at_once = now + source.interval * _ALONG
        soon = now + source.interval * (_ALONG_IN_BATCH if source.provider.waits else _ALONG)
        along = []
        for each in source.locations.values():
            date = self._dates.date(each)
            if each.asking or each.event is not None or each.failures or date is None:
                continue
            if date <= at_once:
                asked.add(each)
            if date <= soon:
                along.append(each)
        return along

    def _mark(self, look: Look) -> None:
        for each in look.locations.values():
            self._dates.drop(each)
            each.hurried, each.slot = each.event is not None, None
            each.askers = list(each.wants)
            each.asking, each.look, each.event, each.missed = True, look, None, False


def _slot(source: Source, together: Iterable[WatchedLocation], now: float) -> float:
    """Return when a call may ask for *together*: who was put off keeps the place in the queue."""
    booked = [each.slot for each in together if each.slot is not None]
    return source.rate.book(now, min(booked, default=None))


def _looks_at(source: Source, watched: Iterable[WatchedLocation]) -> Iterator[Look]:
    by_path = {each.location.path: each for each in watched}
    lookups = {path: each.keys() for path, each in by_path.items()}
    for call in refresh_calls(source.provider, source.name, lookups):
        yield Look(call, {path: by_path[path] for path in call.lookups})
