"""Which locations are asked for when, and by which calls: each by one at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from ..data import ConfigData
from ..lookups import Call, Lookups, refresh_calls
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


@dataclass(frozen=True, slots=True)
class Round:
    """Locations of one source that are claimed: those that are due, and others that may go along.

    Into which calls they go is for the provider to say, without the lock: :meth:`looks`.
    """

    source: Source
    locations: Mapping[str, WatchedLocation]
    lookups: Lookups
    due: AbstractSet[WatchedLocation]
    dates: Mapping[WatchedLocation, float]
    is_limited: bool

    def looks(self) -> list[Look]:
        """Ask the provider which of them go into one call."""
        found = refresh_calls(self.source.provider, self.source.name, self.lookups)
        return [Look(call, {path: self.locations[path] for path in call.lookups}) for call in found]


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

    def due(self, now: float) -> list[Round]:
        """Claim what is due, and what is due soon and may go along."""
        due: defaultdict[Source, list[WatchedLocation]] = defaultdict(list)
        for watched in self._dates.pop_due(now):
            if watched.asking:
                watched.missed = True
            else:
                due[watched.source].append(watched)
        return [self._round(source, due[source], now) for source in due]

    def claim(self, locations: Iterable[WatchedLocation]) -> list[Round]:
        """Claim those of *locations* that nobody asks for, whenever they are due."""
        by_source: defaultdict[Source, list[WatchedLocation]] = defaultdict(list)
        for each in locations:
            if not each.asking:
                by_source[each.source].append(each)
        return [self._begin(source, {*each}, each) for source, each in by_source.items()]

    def begin(self, round_: Round, looks: Iterable[Look], now: float) -> Iterator[Look]:
        """Return those of *looks* that are to be made now; give back what is in no such look.

        That is what has company in none of them that is due, and what the rate puts off.
        """
        for look in looks:
            mine = [each for each in look.locations.values() if each in round_.due]
            slot = _slot(round_.source, mine, now) if mine and round_.is_limited else now
            if mine and slot <= now:
                for each in look.locations.values():
                    each.look, each.slot = look, None
                yield look
                continue
            for each in look.locations.values():
                each.slot = slot if each in round_.due else each.slot
                self.give_back(each, slot if each in round_.due else round_.dates[each])

    def give_back(self, watched: WatchedLocation, date: float) -> None:
        """Have *watched*, which was claimed and is not asked for, due at *date* or before."""
        watched.asking = False
        if not watched.wants:
            return
        others = (now_due for now_due in (self._dates.date(watched), date) if now_due is not None)
        self._dates.put(watched, date if watched.missed else min(others))
        watched.missed = False

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

    def _round(self, source: Source, due: list[WatchedLocation], now: float) -> Round:
        asked = {*due}
        return self._begin(source, asked, due + self._along(source, asked, now), is_limited=True)

    def _begin(
        self,
        source: Source,
        due: set[WatchedLocation],
        locations: Iterable[WatchedLocation],
        *,
        is_limited: bool = False,
    ) -> Round:
        by_path = {each.location.path: each for each in locations}
        lookups = {path: each.keys() for path, each in by_path.items()}
        dates = {each: self._dates.date(each) or 0.0 for each in by_path.values()}
        for each in by_path.values():
            self._dates.drop(each)
            each.since, each.hurried = each.event, each.event is not None
            each.askers = list(each.wants)
            each.asking, each.look, each.event, each.missed = True, None, None, False
        return Round(source, by_path, lookups, due, dates, is_limited and source.waits)

    def _along(
        self, source: Source, asked: set[WatchedLocation], now: float
    ) -> list[WatchedLocation]:
        """Return what is polled soon anyway, and ask now for what is due in a moment."""
        at_once = now + source.interval * _ALONG
        soon = now + source.interval * (_ALONG_IN_BATCH if source.waits else _ALONG)
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


def _slot(source: Source, together: Iterable[WatchedLocation], now: float) -> float:
    """Return when a call may ask for *together*: who was put off keeps the place in the queue."""
    booked = [each.slot for each in together if each.slot is not None]
    return source.rate.book(now, min(booked, default=None))
