"""Where the watcher is simulated: a time whose clock may jump, sources with backends, settings."""

from __future__ import annotations

from datetime import timedelta

from watch.simulated_backends import Backend, Batching, Files, Leasing, Place

from configproviders import ConfigProvider
from configproviders.cache import CachingConfigProvider
from configproviders.plan import Location
from configproviders.testing import FakeClock
from configproviders.watch.location import Source
from configproviders.watch.timing import Rate, Timing

SETTLE, SETTLE_MAX = 0.1, 1.0
RATES = {"crowded": 0.1}
INTERVALS = {"files": 60.0, "batched": 300.0, "leased": 900.0, "crowded": 30.0}


class World:
    """Everything around the watcher."""

    def __init__(self) -> None:
        self.clock = FakeClock(1e6)
        self.now = 0.0
        """The seconds that passed."""
        self.elapsed = 0.0
        """The seconds that passed by a clock that may jump forwards, but not back."""
        self.timing = Timing(60.0, SETTLE, SETTLE_MAX, 20.0, self._jitter)
        self.backends: dict[str, Backend] = {
            "plain": Backend("a"),
            "files": Files("a"),
            "batched": Batching("a", "b", ttl=timedelta(minutes=2)),
            "leased": Leasing("a", clock=self.clock),
            "cached": Backend("a"),
            "crowded": Backend("a", "b", "c"),
        }
        self.providers: dict[str, ConfigProvider] = {
            **self.backends,
            "cached": CachingConfigProvider(
                self.backends["cached"],
                default_ttl=timedelta(minutes=3),
                max_stale=timedelta(hours=1),
                clock=self.clock,
            ),
        }
        self.sources = {name: self._source(name) for name in self.backends}
        self._jitters = 0

    @property
    def locations(self) -> list[Location]:
        """All that can be watched."""
        return [
            Location(name, path) for name, each in self.backends.items() for path in each.places
        ]

    def place(self, location: Location) -> Place:
        return self.backends[location.provider].places[location.path]

    def trouble(self, location: Location) -> str | None:
        """Return what is wrong with *location*, if anything is."""
        return self.backends[location.provider].trouble or self.place(location).trouble

    def rate(self, name: str) -> float:
        """Return how many calls a second the backend may get."""
        return RATES.get(name, 20.0)

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        passed = max(0.0, seconds)
        self.clock.advance(passed)
        self.now += passed
        self.elapsed += passed

    def jump(self, seconds: float) -> None:
        """Have the clock jump."""
        self.clock.advance(seconds)
        self.elapsed += max(0.0, seconds)

    def _jitter(self) -> float:
        self._jitters += 1
        return self._jitters * 0.618034 % 1.0

    def _source(self, name: str) -> Source:
        interval = INTERVALS.get(name, 60.0)
        return Source(name, self.providers[name], interval, Rate(self.rate(name)))
