"""What tests of the watcher share: a provider whose values change, a watch without threads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta

from configproviders import ConfigData, ConfigException, ConfigProvider, Location
from configproviders.data import Answer
from configproviders.errors import PathNotFound
from configproviders.testing import FakeClock
from configproviders.watch import LocationChange
from configproviders.watch.location import Source
from configproviders.watch.state import WatchState
from configproviders.watch.subscription import Subscription
from configproviders.watch.timing import Rate, Timing

POLL = 60.0


class Changing(ConfigProvider):
    """Answers what it was told last; ``asked`` lists the paths that it was asked for, in calls."""

    def __init__(self, **values: str) -> None:
        """Have *values* at the path ``db``."""
        self.answers: dict[str, Answer] = {"db": ConfigData(values)}
        self.asked: list[list[str]] = []

    def put(self, path: str = "db", version: str | None = None, **values: str) -> None:
        """Have *values* at *path*."""
        self.answers[path] = ConfigData(values, version=version)

    def fail(self, error: ConfigException, path: str = "db") -> None:
        """Raise *error* for *path*."""
        self.answers[path] = error

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return or raise what was put there."""
        self.asked.append([path])
        return self._answer(path, keys)

    def _answer(self, path: str, keys: Collection[str] | None) -> ConfigData:
        answer = self.answers.get(path, PathNotFound(f"nothing at {path!r}"))
        if isinstance(answer, ConfigException):
            raise answer
        found = {key: text for key, text in answer.data.items() if keys is None or key in keys}
        return ConfigData(
            found,
            answer.ttl,
            version=answer.version,
            stale=answer.stale,
            lease=answer.lease,
            errors=answer.errors,
        )


class Batching(Changing):
    """Takes any number of paths in one call."""

    def get_many(
        self, lookups: Mapping[str, Collection[str] | None]
    ) -> dict[str, ConfigData | ConfigException]:
        """Return what was put there."""
        self.asked.append(sorted(lookups))
        answers: dict[str, ConfigData | ConfigException] = {}
        for path, keys in lookups.items():
            try:
                answers[path] = self._answer(path, keys)
            except ConfigException as error:
                answers[path] = error
        return answers


class Watch:
    """A state, its clock, and who drives it; ``told`` lists what callbacks got."""

    def __init__(self, provider: ConfigProvider, *, per_second: float = 100.0) -> None:
        """Watch *provider*, by the name ``it``; the jitter is in the middle."""
        self.clock = FakeClock()
        self.timing = Timing(POLL, 0.1, 1.0, per_second, lambda: 0.5)
        self.state = WatchState(self.timing, self.clock)
        self.source = Source("it", provider, POLL, Rate(per_second))
        self.told: list[Mapping[Location, LocationChange]] = []

    def subscribe(
        self,
        *keys: str,
        paths: Collection[str] = ("db",),
        since: Mapping[str, Answer] | None = None,
        tell: Callable[[Mapping[Location, LocationChange]], None] | None = None,
    ) -> Subscription:
        """Subscribe to *keys* at each of *paths*, and make the first look."""
        subscription = Subscription("a test", tell or self.told.append, self._remove)
        wants = {Location("it", path): frozenset(keys) for path in paths}
        known = {Location("it", path): answer for path, answer in (since or {}).items()}
        self.state.add(subscription, wants, {"it": self.source}, known)
        for looks in self.state.first_looks(subscription):
            for look in looks:
                self.state.land(look, look.call.refresh())
        return subscription

    def _remove(self, subscription: Subscription) -> None:
        self.state.remove(subscription)

    def hear(self, path: str = "db") -> None:
        """Have an event at *path*."""
        self.state.hurry(self.state.find(Location("it", path)))

    def do_what_is_due(self) -> None:
        """Make the looks that are due, and tell who is ready."""
        step = self.state.step()
        for look in step.looks:
            self.state.land(look, look.call.refresh())
        for subscription in step.ready:
            changes = self.state.take(subscription)
            if changes:
                subscription.tell(changes)
            self.state.told(subscription)

    def run(self, seconds: float) -> None:
        """Let *seconds* pass, and do what is due at its time."""
        left = seconds
        while True:
            self.do_what_is_due()
            due = self.state.seconds_left()
            if due is None or due > left:
                self.clock.advance(left)
                return
            self.clock.advance(due + 1e-6)
            left -= due

    @property
    def changes(self) -> list[LocationChange]:
        """What was told, location by location."""
        return [change for told in self.told for change in told.values()]


def leased(ttl: float, **values: str) -> ConfigData:
    """Return data of a lease of *ttl* seconds."""
    return ConfigData(values, timedelta(seconds=ttl), lease="lease/1")
