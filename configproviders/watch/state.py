"""What a watcher knows and decides, without a thread: what to ask for now, and whom to tell.

Who drives it calls :meth:`WatchState.step` when something is due, makes the looks that it returns,
lands their answers, and tells those who are ready. A location is asked for by one look at a time,
so that answers come in their order; a subscription is told by one caller at a time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..data import Answer
from ..errors import printable, shorten
from ..lookups import Answers
from ..plan import Location
from .agenda import Agenda
from .change import LocationChange, LocationHealth
from .content import Content
from .location import Reading, Source, WatchedLocation
from .rounds import Look, Round, Rounds
from .subscription import Subscription
from .timing import Elapsed, Timing

_log = logging.getLogger(__name__)
_FAILS = "%s cannot be read, which is tried again and again: %s"
_HANGS = Reading(None, error="it takes very long to answer")
_WORKS = "%s can be read again, after %.0f s"
_STANDSTILL = 5.0
_LONGEST_WAIT = 3600.0

_Note = tuple[int, str, str, object]


class Step(NamedTuple):
    """What is to be done now."""

    looks: list[Look]
    ready: list[Subscription]


class WatchState:
    """Locations, subscriptions, and what is due. Thread-safe; it asks nobody under its lock."""

    def __init__(self, timing: Timing, clock: Callable[[], float]) -> None:
        """Watch nothing yet."""
        self._timing = timing
        self._now = Elapsed(clock)
        self._lock = threading.RLock()
        self._landed = threading.Condition(self._lock)
        self._sooner = threading.Condition(self._lock)
        self._sources: dict[str, Source] = {}
        self._rounds = Rounds(timing)
        self._quiet: Agenda[Subscription] = Agenda()
        self._planned: float | None = None
        self._closed = False

    def add(
        self,
        subscription: Subscription,
        wants: Mapping[Location, frozenset[str]],
        sources: Mapping[str, Source],
        since: Mapping[Location, Answer],
    ) -> list[WatchedLocation]:
        """Watch what *subscription* wants; return what was not watched before.

        It will be told what changes after its first look, or after *since*.
        """
        fresh = []
        with self._lock:
            for location, keys in wants.items():
                source = self._sources.setdefault(location.provider, sources[location.provider])
                watched = source.locations.get(location.path)
                if watched is None:
                    watched = source.locations[location.path] = WatchedLocation(location, source)
                    fresh.append(watched)
                watched.wants[subscription] = keys
                subscription.locations.append(watched)
                if location in since:
                    subscription.told[watched] = Content.before(since[location]).only(keys)
        return fresh

    def remove(self, subscription: Subscription) -> list[WatchedLocation]:
        """Tell *subscription* no more; return what nobody watches any more."""
        gone = []
        with self._lock:
            subscription.ended = True
            self._quiet.drop(subscription)
            subscription.pending.clear()
            for watched in subscription.locations:
                watched.wants.pop(subscription, None)
                watched.forget_told(subscription)
                if not watched.wants and self._drop(watched):
                    gone.append(watched)
        return gone

    def first_looks(self, subscription: Subscription) -> Iterator[list[Look]]:
        """Claim all that *subscription* wants; what is under way already, as soon as it has landed.

        What is yielded is to be made before there is more.
        """
        left = list(subscription.locations)
        while left:
            with self._lock:
                while all(each.asking for each in left) and not self._closed:
                    self._landed.wait()
                rounds = self._rounds.claim(left)
            claimed = {watched for each in rounds for watched in each.locations.values()}
            left = [watched for watched in left if watched not in claimed] if rounds else []
            yield self._begin(rounds)

    def hurry(self, watched: Iterable[WatchedLocation], *, settle: bool = True) -> None:
        """Have *watched* looked at soon: something has happened there; without *settle* now."""
        with self._lock:
            now = self._now()
            for each in watched:
                if each.wants:
                    self._rounds.hurry(each, now, settle=settle)
            self._wake()

    def find(self, location: Location | None = None) -> list[WatchedLocation]:
        """Return what is watched at *location*; all that is, if there is none."""
        with self._lock:
            if location is None:
                return [each for source in self._sources.values() for each in _all(source)]
            source = self._sources.get(location.provider)
            watched = source.locations.get(location.path) if source else None
            return [watched] if watched else []

    def of_source(self, name: str) -> list[WatchedLocation]:
        """Return what is watched of one provider."""
        with self._lock:
            source = self._sources.get(name)
            return _all(source) if source else []

    def step(self) -> Step:
        """Claim what is due to be asked for, and who is to be told."""
        with self._lock:
            now = self._now()
            if self._planned is not None and now - self._planned > _STANDSTILL:
                self._recover(now - self._planned)
            rounds = self._rounds.due(now)
            ready = [each for each in self._quiet.pop_due(now) if self._is_quiet(each, now)]
            for each in ready:
                each.busy = True
        looks = self._begin(rounds)
        with self._lock:
            self._planned = self._next()
        return Step(looks, ready)

    def wait(self, longest: float | None = None) -> None:
        """Wait until something is due, or was made due, or for *longest* seconds."""
        with self._lock:
            left = self.seconds_left()
            waits = [each for each in (left, longest) if each is not None]
            self._planned = self._next()
            if not self._closed and (not waits or min(waits) > 0):
                self._sooner.wait(min([*waits, _LONGEST_WAIT]))

    def seconds_left(self) -> float | None:
        """Return the seconds until something is due; nothing if nothing will be."""
        with self._lock:
            due = self._next()
            return None if due is None else max(0.0, due - self._now())

    def land(self, look: Look, answers: Answers) -> None:
        """Take in the *answers* to a look that was claimed."""
        readings = {location.path: Reading.of(answer) for location, answer in answers.items()}
        notes: list[_Note] = []
        with self._lock:
            now, interval = self._now(), next(iter(look.locations.values())).source.interval
            poll = now + self._timing.poll_wait(interval)  # One for all, who stay together so.
            for path, watched in look.locations.items():
                notes += self._take(watched, readings[path], now)
                self._rounds.landed(watched, readings[path].data, now, poll)
            self._landed.notify_all()
            self._wake()
        _say(notes)

    def wait_for(self, look: Look) -> None:
        """Have what *look* asks for count as failing until its answer comes, which takes long."""
        notes: list[_Note] = []
        with self._lock:
            for watched in look.locations.values():
                if watched.wants and watched.asking and watched.look is look:
                    notes += self._read(watched, _HANGS, self._now())
        _say(notes)

    def give_back(self, looks: Iterable[Look]) -> None:
        """Have those of *looks* that did not land, since they were interrupted, made again."""
        with self._lock:
            for look in looks:
                for watched in look.locations.values():
                    if watched.asking and watched.look is look:
                        self._rounds.give_back(watched, self._now())
            self._landed.notify_all()
            self._wake()

    def take(self, subscription: Subscription) -> dict[Location, LocationChange]:
        """Return what *subscription*, which is ready, is to be told now."""
        with self._lock:
            return {} if subscription.ended else subscription.take()

    def told(self, subscription: Subscription) -> None:
        """Have *subscription* free to be told more."""
        with self._lock:
            subscription.busy = False
            if subscription.pending:
                self._quiet.put(subscription, self._now() + self._timing.settle)
                self._wake()

    def health(self) -> dict[Location, LocationHealth]:
        """Say how it is with each location."""
        with self._lock:
            now = self._now()
            return {
                each.location: each.health(now, self._rounds.date(each)) for each in self.find()
            }

    def close(self) -> None:
        """Have nothing due any more, and nobody wait."""
        with self._lock:
            self._closed = True
            self._rounds, self._quiet, self._planned = Rounds(self._timing), Agenda(), None
            self._landed.notify_all()
            self._sooner.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _begin(self, rounds: Iterable[Round]) -> list[Look]:
        """Have the providers say which calls *rounds* come to; return those to be made now."""
        looks: list[Look] = []
        for each in rounds:
            try:
                grouped = each.looks()
            except BaseException:  # An interrupt: nobody would ever ask for them.
                with self._lock:
                    for watched in each.locations.values():
                        self._rounds.give_back(watched, self._now())
                raise
            with self._lock:
                looks += self._rounds.begin(each, grouped, self._now())
                self._landed.notify_all()
        return looks

    def _drop(self, watched: WatchedLocation) -> bool:
        self._rounds.drop(watched)
        source = watched.source
        if source.locations.get(watched.location.path) is not watched:
            return False
        del source.locations[watched.location.path]
        if not source.locations and self._sources.get(source.name) is source:
            del self._sources[source.name]
        return True

    def _take(self, watched: WatchedLocation, reading: Reading, now: float) -> list[_Note]:
        if not watched.wants:  # It was let go meanwhile.
            watched.asking = False
            return []
        before = watched.content.digests
        watched.asking = False
        notes = self._read(watched, reading, now)
        # What is stale is no news, but it is what who begins now has in hand.
        begin = Content.before(reading.data) if reading.stale and reading.data else watched.content
        for subscription, keys in watched.asked_by():
            subscription.told.setdefault(watched, begin.only(keys))
        if reading.content is not None:
            self._pend(watched, reading, now, is_new=watched.content.digests != before)
        if watched.hurried:
            for subscription in watched.wants:
                if subscription.pending and not subscription.busy:
                    last = max(now, subscription.first + self._timing.settle_max)
                    self._quiet.put(subscription, min(now + self._timing.grace, last))
        return notes

    def _read(self, watched: WatchedLocation, reading: Reading, now: float) -> list[_Note]:
        """Have *watched* take *reading*; return what is to be said of it."""
        was_failing, since = watched.failures, watched.failing_since
        watched.take(reading, now)
        place = printable(f"{watched.location.provider}:{shorten(watched.location.path)}")
        if watched.error and not was_failing:
            return [(logging.WARNING, _FAILS, place, printable(watched.error))]
        if was_failing and not watched.error:
            return [(logging.INFO, _WORKS, place, now - since)]
        return []

    def _pend(
        self, watched: WatchedLocation, reading: Reading, now: float, *, is_new: bool
    ) -> None:
        """Note who has to be told what was read, and when it will be quiet enough for that."""
        for subscription, _ in watched.asked_by():
            if not subscription.differs(watched):
                subscription.pending.discard(watched)
                watched.forget_told(subscription)
                continue
            news = is_new or watched not in subscription.pending
            if not subscription.pending:
                subscription.first = now if watched.since is None else watched.since
            subscription.pending.add(watched)
            watched.untold.add(subscription)
            watched.data = reading.data
            if news and not watched.hurried and not subscription.busy:
                self._quiet.put(subscription, self._timing.settled(subscription.first, now))

    def _is_quiet(self, subscription: Subscription, now: float) -> bool:
        """Whether *subscription* can be told now; else it comes again when that may be."""
        if subscription.busy or not subscription.pending:
            return False
        last = subscription.first + self._timing.settle_max
        if now < last and any(each.is_moving for each in subscription.locations):
            self._quiet.put(subscription, last)
            return False
        return True

    def _recover(self, late: float) -> None:
        """Look at everything again: this process stood still, and who knows what it missed."""
        _log.warning("the watcher stood still for %.0f s: all is looked at again", late)
        self.hurry(self.find(), settle=False)

    def _next(self) -> float | None:
        dates = [date for date in (self._rounds.next(), self._quiet.next()) if date is not None]
        return min(dates, default=None)

    def _wake(self) -> None:
        """Have who waits look at the time again, if something is due before they would."""
        due = self._next()
        if due is not None and (self._planned is None or due < self._planned):
            self._planned = due
            self._sooner.notify_all()


def _say(notes: Iterable[_Note]) -> None:
    for level, message, *facts in notes:
        _log.log(level, message, *facts)


def _all(source: Source) -> list[WatchedLocation]:
    return list(source.locations.values())
