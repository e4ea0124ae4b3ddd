"""A watcher without threads: time, its own thread, backends and callbacks are simulated.

The real parts are the state of the watcher, which decides everything, and the backends' answers.
What has to come of it is worked out by :mod:`watch.model`, which is told of each act.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from watch.model import Expected
from watch.simulated_backends import Interrupted
from watch.world import World

from configproviders.data import Answer
from configproviders.errors import plugin_failure
from configproviders.plan import Location
from configproviders.watch.change import LocationChange
from configproviders.watch.rounds import Look
from configproviders.watch.state import WatchState
from configproviders.watch.subscription import Subscription

Changes = Mapping[Location, LocationChange]

_MOMENT = 1e-6  # No sleep is shorter.
_LONG = 60.0
_SPINS = 1000


class CallbackError(Exception):
    """What a callback raises."""


class Sleep:
    """How the watcher's thread sleeps: stands in for the condition that it waits on."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.asleep = False
        self.until = math.inf
        """When it wakes up by itself, in real time."""
        self.due = math.inf
        """When something is due that it wakes up for, by the clock."""

    def wait(self, timeout: float | None = None) -> bool:
        seconds = math.inf if timeout is None else max(timeout, _MOMENT)
        self.asleep = True
        self.until = self._world.now + seconds
        return True

    def notify_all(self) -> None:
        if self.asleep:
            self.until = min(self.until, self._world.now)
            self.due = min(self.due, self._world.elapsed)


@dataclass(eq=False)
class Subscriber:
    """A subscription, and what its callback does besides being told."""

    subscription: Subscription
    act: Callable[[Subscription], None]
    takes: float
    unfinished: int = 0
    """How many of its first looks are under way."""
    interrupted: bool = False
    first_looks: list[Look] = field(default_factory=list)


class Simulation:
    """Does what the watcher's threads do, one after the other."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.state = WatchState(world.timing, world.clock)
        self.expected = Expected(world)
        self.subscribers: dict[Subscription, Subscriber] = {}
        self._sleep = Sleep(world)
        self.state._sooner = self._sleep  # type: ignore[assignment]  # Nobody really waits.
        self._hesitates = False
        self._starting: list[Subscriber] = []
        self._flights: list[_Flight] = []
        self._acts: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def run(self, seconds: float = 0.0) -> None:
        """Let *seconds* pass, and do in the meantime all that is due."""
        end = self.world.now + seconds
        while True:
            self._run_thread()
            date = min(self._sleep.until, self._acts[0][0] if self._acts else math.inf)
            if date > end:
                break
            self.world.pass_by(date - self.world.now)
            self._act()
        self.world.pass_by(end - self.world.now)

    def stand_still(self, seconds: float) -> None:
        """Let *seconds* pass in which this process does nothing."""
        self.run()
        self.world.pass_by(seconds)
        self.expected.put_off(0.0)
        self._act()
        self.run()

    def jump(self, seconds: float) -> None:
        """Have the clock jump; whoever sleeps does not notice."""
        self.run()
        self.world.jump(seconds)
        if seconds > 0:
            self.expected.put_off(self._sleep.until - self.world.now)

    def hesitate(self) -> None:
        """Have the thread go on, and be held up just before it goes to sleep again."""
        self.run()
        self._step()
        self._hesitates = True

    def subscribe(
        self,
        wants: Mapping[Location, frozenset[str]],
        since: Mapping[Location, Answer],
        act: Callable[[Subscription], None] = lambda subscription: None,
        takes: float = 0.0,
    ) -> None:
        """Begin as ``Watcher.watch`` does."""
        subscription = Subscription("it", lambda changes: None, self.end)
        subscriber = Subscriber(subscription, act, takes)
        self.subscribers[subscription] = subscriber
        self.state.add(subscription, wants, self.world.sources, since)
        self.expected.added(subscription, wants, since)
        self._starting.append(subscriber)
        self._start()

    def end(self, subscription: Subscription) -> None:
        self.expected.leaves(subscription)
        self.state.remove(subscription)
        self.expected.removed(subscription)
        self.subscribers.pop(subscription, None)

    def hurry(self, location: Location | None, *, settle: bool) -> None:
        """Have an event arrive, or somebody invalidate."""
        watched = self.state.find(location)
        self.expected.hurried(watched, settle=settle)
        self.state.hurry(watched, settle=settle)

    def interrupt(self, number: int) -> None:
        """Have one of the looks that are under way end without an answer."""
        if self._flights:
            self._flights[number % len(self._flights)].interrupted = True

    def _run_thread(self) -> None:
        if self._hesitates:
            self._hesitates = False
            self._fall_asleep()
        for _ in range(_SPINS):
            if self._sleep.asleep and self._sleep.until > self.world.now:
                return
            self._step()
            self._fall_asleep()
        raise AssertionError("the thread does not come to rest")

    def _fall_asleep(self) -> None:
        self.state.wait()
        left = self.state.seconds_left()
        self._sleep.due = math.inf if left is None else self.world.elapsed + left

    def _step(self) -> None:
        late = self.world.elapsed - self._sleep.due
        self._sleep.asleep = False
        self.expected.wakes(self.state.find(), late)
        step = self.state.step()
        self.expected.claimed(step.looks)
        self.expected.ready(step.ready)
        for look in step.looks:
            self._begin(look)
        for subscription in step.ready:
            self._call_back(subscription)

    def _start(self) -> None:
        """Make the first looks of those that need not wait for looks under way."""
        for each in list(self._starting):
            waits = any(watched.asking for watched in each.subscription.locations)
            if waits or each not in self._starting:  # One that lands at once begins others.
                continue
            self._starting.remove(each)
            self.expected.leaves(each.subscription)
            claims = self.state.first_looks(each.subscription)
            each.first_looks = [look for looks in claims for look in looks]
            each.unfinished = len(each.first_looks)
            self.expected.claimed(each.first_looks, first=True)
            for look in each.first_looks:
                self._begin(look, each)

    def _begin(self, look: Look, subscriber: Subscriber | None = None) -> None:
        backend = self.world.backends[look.call.name]
        flight = _Flight(look, subscriber)
        self._flights.append(flight)
        if backend.delay and not backend.answers_late:
            self._ask(flight)
        self._later(backend.delay, lambda: self._land(flight))
        if backend.delay > _LONG:
            self._later(_LONG, lambda: self._hang(flight))

    def _hang(self, flight: _Flight) -> None:
        """Say that a look takes very long."""
        if flight in self._flights:
            self.expected.hangs(flight.look)
            self.state.wait_for(flight.look)

    def _land(self, flight: _Flight) -> None:
        self._flights.remove(flight)
        self._ask(flight)
        if not flight.interrupted:
            self.expected.landed(flight.look, flight.answers or {})
            self.state.land(flight.look, flight.answers or {})
        elif flight.subscriber is None:
            self._give_back([flight.look])
        if flight.subscriber is not None:
            self._finish(flight.subscriber, interrupted=flight.interrupted)
        self._start()

    def _ask(self, flight: _Flight) -> None:
        if flight.answers is not None or flight.interrupted:
            return
        try:
            flight.answers = flight.look.call.refresh()
            self.expected.asked(flight.answers)
        except Interrupted as error:
            if flight.subscriber is not None:
                flight.interrupted = True
            else:  # The threads of the watcher are not interrupted.
                failure = plugin_failure(flight.look.call.provider, error)
                places = flight.look.locations.values()
                flight.answers = {watched.location: failure for watched in places}

    def _finish(self, subscriber: Subscriber, *, interrupted: bool) -> None:
        """Note that a first look is done; an interrupt ends the subscription after the last."""
        subscriber.interrupted |= interrupted
        subscriber.unfinished -= 1
        if not subscriber.unfinished:
            self._give_back(subscriber.first_looks)
            if subscriber.interrupted:
                self.end(subscriber.subscription)

    def _give_back(self, looks: Iterable[Look]) -> None:
        self.expected.given_back(looks)
        self.state.give_back(looks)

    def _call_back(self, subscription: Subscription) -> None:
        """Tell *subscription*, and do what its callback does: it may raise, and may take long."""
        subscriber = self.subscribers.get(subscription)
        changes = self.state.take(subscription)
        self.expected.told(subscription, changes)
        if changes and subscriber is not None:
            with suppress(CallbackError):
                subscriber.act(subscription)
        self._later(subscriber.takes if subscriber else 0.0, lambda: self._free(subscription))

    def _free(self, subscription: Subscription) -> None:
        self.expected.freed(subscription)
        self.state.told(subscription)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        if seconds:
            heapq.heappush(self._acts, (self.world.now + seconds, next(self._numbers), act))
        else:
            act()

    def _act(self) -> None:
        while self._acts and self._acts[0][0] <= self.world.now:
            heapq.heappop(self._acts)[2]()


@dataclass(eq=False)
class _Flight:
    """A look that is under way."""

    look: Look
    subscriber: Subscriber | None
    interrupted: bool = False
    answers: dict[Location, Answer] | None = None
