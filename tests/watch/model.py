"""What has to come of it, worked out a second time: :class:`Expected`.

It is told of each act before the state of the watcher is, and checks what that makes of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from watch.expected_location import ExpectedLocation
from watch.expected_subscription import ExpectedSubscription, Wanted
from watch.simulated_backends import KEYS, PARTLY, only
from watch.world import SETTLE, SETTLE_MAX, World

from configproviders import ConfigData, ConfigException
from configproviders.data import Answer
from configproviders.errors import LookupFailed
from configproviders.plan import Location
from configproviders.testing import CANARY
from configproviders.watch.change import ChangeKind, LocationChange, LocationHealth
from configproviders.watch.location import WatchedLocation
from configproviders.watch.rounds import Look
from configproviders.watch.state import WatchState
from configproviders.watch.subscription import Subscription

_ROUNDING = 1e-3
_STANDSTILL = 5.0


class Expected:
    """What the watcher has to know, to do, and to log."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.locations: dict[WatchedLocation, ExpectedLocation] = {}
        self.subscriptions: dict[Subscription, ExpectedSubscription] = {}
        self.log: list[tuple[int, str]] = []
        self.looks = self.changes = 0
        self._held_until = 0.0
        self._lost: dict[str, list[float]] = {name: [] for name in world.backends}
        self._budgets = {name: _Budget(world.rate(name)) for name in world.backends}

    def added(
        self,
        subscription: Subscription,
        wants: Mapping[Location, frozenset[str]],
        since: Mapping[Location, Answer],
    ) -> None:
        """Know a subscription whose locations are known by now."""
        subscribed = self.subscriptions[subscription] = ExpectedSubscription()
        for watched in subscription.locations:
            location = watched.location
            interval = self._world.sources[location.provider].interval
            self.locations.setdefault(watched, ExpectedLocation(location, interval))
            latest = len(self._world.place(location).history) - 1
            wanted = subscribed.wants[watched] = Wanted(wants[location], latest)
            answer = since.get(location)
            if isinstance(answer, ConfigData):
                wanted.seen, wanted.version = only(answer.data, wanted.keys or None), answer.version
            elif answer is not None:
                wanted.seen = {}

    def leaves(self, subscription: Subscription) -> None:
        """Know that the places which *subscription* has in the queues are lost."""
        for watched in subscription.locations:
            if watched.slot is not None:
                self._lost[watched.source.name].append(watched.slot)

    def removed(self, subscription: Subscription) -> None:
        self.subscriptions.pop(subscription, None)
        left = {watched for each in self.subscriptions.values() for watched in each.wants}
        self.locations = {each: self.locations[each] for each in self.locations if each in left}

    def hurried(self, locations: Iterable[WatchedLocation], *, settle: bool) -> None:
        now = self._world.elapsed
        for each in map(self.locations.__getitem__, locations):
            each.event = now if each.event is None else each.event
            each.due_by = max(each.event + SETTLE_MAX, now) if settle else now

    def wakes(self, locations: Iterable[WatchedLocation], late: float) -> None:
        """Know that the thread goes on, so many seconds *late*."""
        held_until, self._held_until = min(self._held_until, self._world.elapsed), 0.0
        for location in self.locations.values():
            location.due_by = max(location.due_by, held_until)
        for subscription in self.subscriptions.values():
            subscription.tell_by = max(subscription.tell_by, held_until)
        if late > _STANDSTILL:
            self.log.append((logging.WARNING, "the watcher stood still for "))
            self.hurried(locations, settle=False)

    def put_off(self, seconds: float) -> None:
        """Know that nothing is done for so many seconds from now on."""
        self._held_until = self._world.elapsed + seconds

    def claimed(self, looks: Iterable[Look], *, first: bool = False) -> None:
        """Check that what is asked for now is due, and not asked for already."""
        for look in looks:
            self.looks += 1
            if not first and look.call.provider.waits:
                self._budgets[look.call.name].spend(self._world.elapsed)
            for watched in look.locations.values():
                if watched in self.locations:
                    self._claim(watched, look, first=first)

    def asked(self, answers: Mapping[Location, Answer]) -> None:
        """Check that what comes of a backend in trouble says so."""
        for location, answer in answers.items():
            wrong = self._world.trouble(location)
            if wrong is None:
                assert not (isinstance(answer, ConfigData) and answer.stale)
            elif wrong == PARTLY:
                assert isinstance(answer, ConfigException) or "password" not in answer.data
            else:
                assert isinstance(answer, ConfigException) or answer.stale

    def landed(self, look: Look, answers: Mapping[Location, Answer]) -> None:
        for watched in look.locations.values():
            known = self.locations.get(watched)
            if known is None:  # Nobody wants it any more.
                continue
            known.look = None
            says = self._read(known, answers[watched.location])
            for each in known.asked_by:
                self._compare(each, watched, says=says)

    def hangs(self, look: Look) -> None:
        """Know that the answers to *look* take very long, which is a failure."""
        for watched in look.locations.values():
            known = self.locations.get(watched)
            if known is not None and known.look is look:
                self._read(known, LookupFailed("it takes very long"))

    def given_back(self, looks: Iterable[Look]) -> None:
        """Know that *looks* end; those that did not land were interrupted."""
        for look in looks:
            for watched in look.locations.values():
                known = self.locations.get(watched)
                if known is not None and known.look is look:
                    known.look = None
                    self.hurried([watched], settle=False)

    def ready(self, subscriptions: Iterable[Subscription]) -> None:
        """Check that *subscriptions* may be told, and are in time."""
        for each in map(self.subscriptions.__getitem__, subscriptions):
            assert not each.busy
            assert each.pending
            assert self._world.elapsed <= each.tell_by + _ROUNDING
            each.busy = True

    def told(self, subscription: Subscription, changes: Mapping[Location, LocationChange]) -> None:
        """Check what *subscription*, which is ready, is told."""
        known = self.subscriptions.get(subscription, ExpectedSubscription())
        pending = {watched.location: watched for watched in known.pending}
        assert changes.keys() == pending.keys()
        for location, change in changes.items():
            self._tell(known.wants[pending[location]], self.locations[pending[location]], change)
        self.changes += bool(changes)
        known.pending.clear()

    def freed(self, subscription: Subscription) -> None:
        known = self.subscriptions.get(subscription)
        if known is not None:
            known.busy = False
            known.free = self._world.elapsed + SETTLE
            known.plan(known.free)

    def check(self, state: WatchState) -> None:
        """Check what holds at any time."""
        now = self._world.elapsed
        health = state.health()
        assert {each.location: each for each in self.locations} == {
            each.location: each for each in state.find()
        }
        for watched, known in self.locations.items():
            self._check_health(known, health[watched.location])
            is_untold = any(watched in each.pending for each in self.subscriptions.values())
            assert (watched.data is not None) == is_untold
            assert watched.asking == (known.look is not None)
        for each in self.subscriptions.values():
            assert each.busy or now <= max(each.tell_by, self._held_until) + _ROUNDING

    def check_log(self, records: Sequence[logging.LogRecord]) -> None:
        """Check that *records* are what had to be logged since the last time."""
        messages = [(record.levelno, record.getMessage()) for record in records]
        assert len(messages) == len(self.log), messages
        for (level, message), (expected_level, begin) in zip(messages, self.log, strict=True):
            assert level == expected_level
            assert message.startswith(begin)
            assert CANARY not in message
        self.log.clear()

    def check_rest(self) -> None:
        """Check that everybody knows what is there, now that all is quiet and can be read."""
        assert not any(each.failures for each in self.locations.values())
        for subscription in self.subscriptions.values():
            for watched, wanted in subscription.wants.items():
                if watched not in subscription.pending:
                    content = self._world.place(watched.location).content
                    assert wanted.seen == only(content, wanted.keys or None)

    def _claim(self, watched: WatchedLocation, look: Look, *, first: bool) -> None:
        known, now = self.locations[watched], self._world.elapsed
        assert known.look is None
        if not first:
            assert now <= self._latest(known)
            assert known.event is not None or now >= known.not_before - _ROUNDING
        known.look, known.event, known.not_before = look, None, 0.0
        known.asked_by = [each for each in self.subscriptions.values() if watched in each.wants]

    def _read(self, known: ExpectedLocation, answer: Answer) -> bool:
        """Have *answer* read; return whether it says what is there."""
        failed = known.failures
        says = known.read(answer, self._world.elapsed)
        place = f"{known.location.provider}:{known.location.path}"
        if known.failures and not failed:
            self.log.append((logging.WARNING, f"{place} cannot be read, "))
        if failed and not known.failures:
            self.log.append((logging.INFO, f"{place} can be read again, "))
        return says

    def _compare(
        self, subscription: ExpectedSubscription, watched: WatchedLocation, *, says: bool
    ) -> None:
        """Find out whether *subscription* has to be told of *watched*, which was read."""
        known, wanted = self.locations[watched], subscription.wants[watched]
        there = known.of(wanted.keys)
        if wanted.seen is None:
            wanted.seen, wanted.version = there, known.version
        if not says:
            return
        now = self._world.elapsed
        if not known.may_tell(wanted.keys) or there == wanted.seen:
            subscription.pending.discard(watched)
        else:
            subscription.first = subscription.first if subscription.pending else now
            subscription.pending.add(watched)
        if not subscription.busy:
            subscription.plan(max(now, subscription.free))  # Not before it settles anew.

    def _tell(self, wanted: Wanted, known: ExpectedLocation, change: LocationChange) -> None:
        before, there = wanted.seen or {}, known.of(wanted.keys)
        kinds = {(False, True): ChangeKind.APPEARED, (True, False): ChangeKind.DELETED}
        assert change.data.data == there
        assert change.keys == {key for key, _ in before.items() ^ there.items()}
        assert change.keys
        assert change.kind is kinds.get((bool(before), bool(there)), ChangeKind.CHANGED)
        assert (change.before, change.after) == (wanted.version, known.version)
        assert change.data.version == known.version
        assert not change.data.stale
        history = self._world.place(known.location).history
        readable = set(KEYS) - known.unread
        matches = (
            number
            for number in range(wanted.floor, len(history))
            if only(history[number], wanted.keys or readable) == there
        )
        found = next(matches, None)
        assert found is not None
        wanted.floor = found
        wanted.seen, wanted.version = there, known.version

    def _check_health(self, known: ExpectedLocation, health: LocationHealth) -> None:
        now = self._world.elapsed
        assert health.stale == known.stale
        assert (health.error is not None) == bool(known.failures)
        assert CANARY not in repr(health)
        if known.failures:
            failing = timedelta(seconds=now - known.failing_since)
            assert health.failing_for is not None
            assert abs(health.failing_for - failing) < timedelta(seconds=_ROUNDING)
        if known.look is None:
            assert now + health.next_look.total_seconds() <= self._latest(known)

    def _latest(self, known: ExpectedLocation) -> float:
        """Return when *known* must have been asked for, if others are asked for before."""
        source, due_by = self._world.sources[known.location.provider], known.due_by
        if source.provider.waits:
            lost = sum(date >= due_by for date in self._lost[source.name])
            due_by += (len(source.locations) + lost) / self._world.rate(source.name)
        return max(due_by, self._held_until) + _ROUNDING


class _Budget:
    """The calls that a backend may get: so many a second, and as many at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left = self._most = max(1.0, rate)
        self._at = 0.0

    def spend(self, now: float) -> None:
        self._left = min(self._most, self._left + (now - self._at) * self._rate) - 1
        self._at = now
        assert self._left > -min(1.0, self._rate) - _ROUNDING  # A call may come a second late.
