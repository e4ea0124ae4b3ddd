"""A month of a watcher's life in minutes, with all that may happen in it; Hypothesis chooses.

``SOAK=1`` makes a month of what are hours else.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from watch.simulated_backends import BREAKS, SPOILS, Place
from watch.simulation import CallbackError, Simulation
from watch.world import World

from configproviders import ConfigData
from configproviders.data import Answer
from configproviders.errors import ProviderUnavailable
from configproviders.plan import Location
from configproviders.watch.subscription import Subscription

LONG = "SOAK" in os.environ
SETTINGS = settings(
    max_examples=40 if LONG else 80,
    stateful_step_count=60 if LONG else 40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=[Phase.generate],
)
DAY = timedelta(days=1).total_seconds()
UNTIL_ALL_IS_QUIET = 2400.0
MOST_SUBSCRIPTIONS = 12

LOCATIONS = World().locations
WRITES = [Place.rotate, Place.move, Place.rewrite, Place.delete, Place.bring_back]
locations = st.sampled_from(LOCATIONS)
backends = st.sampled_from(sorted({each.provider for each in LOCATIONS}))
numbers = st.integers(0, 1000)
keys = st.sampled_from(
    [
        frozenset[str](),
        frozenset({"password"}),
        frozenset({"username", "password"}),
        frozenset({"username", "port"}),
        frozenset({"password", "absent"}),
    ]
)
wants = st.dictionaries(locations, keys, min_size=1, max_size=4)
moments = st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.15, 0.5, 1.0, 1.5, 3.0, 10.0])
spans = st.sampled_from([30.0, 61.0, 300.0, 1800.0, 4000.0])
days = st.sampled_from([0.25, 0.5, 1.0, 3.0] if LONG else [0.125])
stops = st.sampled_from([0.2, 4.5, 5.5, 70.0, 4000.0, 3 * DAY])
jumps = st.sampled_from([-3 * DAY, -4000.0, -1.0, 0.5, 4.5, 70.0, 4000.0, 3 * DAY])
delays = st.sampled_from([0.0, 0.0, 0.03, 0.2, 2.0, 20.0, 100.0])
ttls = st.sampled_from([None, 0.0, 30.0, 300.0, 3600.0])
befores = st.sampled_from(["nothing", "nothing", "now", "first", "stale", "failure"])
callbacks = st.sampled_from(
    ["returns", "raises", "cancels", "subscribes", "invalidates", "is slow", "is slow"]
)


class Life(RuleBasedStateMachine):
    """What may happen to a watcher: the simulation does it, the model checks what comes of it."""

    seconds: ClassVar[float] = 0.0
    looks: ClassVar[int] = 0
    changes: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.simulation = Simulation(self.world)
        self.records = Records()
        self.records.begin()
        self.rested = 0.0

    @initialize(keys=keys)
    def begin(self, keys: frozenset[str]) -> None:
        """Have everything watched, at first."""
        self.simulation.subscribe(dict.fromkeys(LOCATIONS, keys), {}, _do_nothing, 0.0)

    @rule(location=locations, is_heard_of=st.booleans())
    def rotate(self, location: Location, *, is_heard_of: bool) -> None:
        self.write(location, Place.rotate, is_heard_of=is_heard_of)

    @rule(location=locations, write=st.sampled_from(WRITES), is_heard_of=st.booleans())
    def write(
        self, location: Location, write: Callable[[Place], None], *, is_heard_of: bool
    ) -> None:
        write(self.world.place(location))
        if is_heard_of:
            self.simulation.hurry(location, settle=True)

    @rule(location=st.none() | locations, settle=st.booleans())
    def hurry(self, location: Location | None, *, settle: bool) -> None:
        self.simulation.hurry(location, settle=settle)

    @rule(wants=wants, before=befores, callback=callbacks)
    def subscribe(
        self, wants: Mapping[Location, frozenset[str]], before: str, callback: str
    ) -> None:
        if len(self.simulation.subscribers) < MOST_SUBSCRIPTIONS:
            since = {} if before == "nothing" else {at: self.answer(at, before) for at in wants}
            act = {
                "raises": self.fail,
                "cancels": self.simulation.end,
                "subscribes": self.subscribe_to_the_same,
                "invalidates": self.invalidate_all,
            }.get(callback, _do_nothing)
            takes = 45.0 if callback == "is slow" else 0.0
            self.simulation.subscribe(wants, since, act, takes)

    @rule(number=numbers)
    def cancel(self, number: int) -> None:
        subscriptions = list(self.simulation.subscribers)
        if subscriptions:
            self.simulation.end(subscriptions[number % len(subscriptions)])

    @rule(number=numbers)
    def interrupt(self, number: int) -> None:
        self.simulation.interrupt(number)

    @rule(location=locations, trouble=st.sampled_from([*BREAKS, *SPOILS]))
    def begin_trouble(self, location: Location, trouble: str) -> None:
        at = (
            self.world.backends[location.provider]
            if trouble in BREAKS
            else self.world.place(location)
        )
        at.trouble = trouble

    @rule(location=locations)
    def end_trouble(self, location: Location) -> None:
        self.world.backends[location.provider].trouble = None
        self.world.place(location).trouble = None

    @rule(name=backends, delay=delays, answers_late=st.booleans())
    def slow_down(self, name: str, delay: float, *, answers_late: bool) -> None:
        self.world.backends[name].delay = delay
        self.world.backends[name].answers_late = answers_late

    @rule(location=locations, answers_late=st.booleans())
    def look_slowly(self, location: Location, *, answers_late: bool) -> None:
        """Have a look under way in which more happens."""
        self.slow_down(location.provider, 2.0, answers_late=answers_late)
        self.simulation.hurry(location, settle=False)
        self.simulation.run(0.5)

    @rule(name=backends, seconds=ttls)
    def limit_time(self, name: str, seconds: float | None) -> None:
        ttl = None if seconds is None else timedelta(seconds=seconds)
        self.world.backends[name].ttl = ttl

    @rule(location=locations)
    def resolve(self, location: Location) -> None:
        """Have a config resolved meanwhile, which is a matter of the cache."""
        with suppress(BaseException):  # Whatever the backend does now.
            self.world.providers[location.provider].get(location.path, {"password"})

    @rule()
    def hesitate(self) -> None:
        self.simulation.hesitate()

    @rule(seconds=moments)
    def wait_a_moment(self, seconds: float) -> None:
        self.simulation.run(seconds)

    @rule(seconds=spans)
    def wait(self, seconds: float) -> None:
        self.simulation.run(seconds)

    @rule(count=days)
    def wait_long(self, count: float) -> None:
        for backend in self.world.backends.values():
            backend.ttl = None
        self.simulation.run(count * DAY)

    @rule(seconds=stops)
    def stand_still(self, seconds: float) -> None:
        self.simulation.stand_still(seconds)

    @rule(seconds=jumps)
    def jump(self, seconds: float) -> None:
        self.simulation.jump(seconds)

    @precondition(lambda self: self.world.now > self.rested + DAY)
    @rule()
    def rest(self) -> None:
        """End all troubles, and find that everybody knows what is there."""
        self.rested = self.world.now
        for backend in self.world.backends.values():
            backend.trouble, backend.delay = None, 0.0
            for place in backend.places.values():
                place.trouble = None
        self.simulation.run(UNTIL_ALL_IS_QUIET)
        self.simulation.expected.check_rest()

    @invariant()
    def all_is_well(self) -> None:
        self.simulation.expected.check(self.simulation.state)
        self.simulation.expected.check_log(self.records.take())

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.rest()
                self.all_is_well()
        finally:
            self.records.end()
        Life.seconds += self.world.now
        Life.looks += self.simulation.expected.looks
        Life.changes += self.simulation.expected.changes

    def answer(self, location: Location, before: str) -> Answer:
        """Return what a config was made of before somebody subscribed."""
        history = self.world.place(location).history
        content = history[0] if before == "first" else history[-1]
        if before == "failure":
            return ProviderUnavailable("the backend cannot be reached")
        return ConfigData(content, version="0", stale=before == "stale")

    def fail(self, subscription: Subscription) -> None:
        raise CallbackError

    def subscribe_to_the_same(self, subscription: Subscription) -> None:
        locations = [watched.location for watched in subscription.locations]
        self.subscribe(dict.fromkeys(locations, frozenset({"password"})), "nothing", "returns")

    def invalidate_all(self, subscription: Subscription) -> None:
        self.simulation.hurry(None, settle=False)


class Records(logging.Handler):
    """What the watcher logs; nothing of it goes anywhere else."""

    def __init__(self) -> None:
        super().__init__()
        self._logger = logging.getLogger("configproviders")
        self._before = self._logger.level, self._logger.propagate
        self._records: list[logging.LogRecord] = []

    def begin(self) -> None:
        self._logger.addHandler(self)
        self._logger.setLevel(logging.DEBUG)
        self._logger.propagate = False

    def end(self) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._before[0])
        self._logger.propagate = self._before[1]

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith("configproviders.watch"):
            self._records.append(record)

    def take(self) -> list[logging.LogRecord]:
        records, self._records = self._records, []
        return records


@pytest.mark.soak
def test_nothing_is_lost_and_nothing_told_twice_whatever_happens() -> None:
    run_state_machine_as_test(Life, settings=SETTINGS)
    if LONG:
        assert Life.seconds >= 30 * DAY
        logging.getLogger(__name__).warning(
            "%.0f days, %d looks, %d changes", Life.seconds / DAY, Life.looks, Life.changes
        )


def _do_nothing(subscription: Subscription) -> None:
    pass
