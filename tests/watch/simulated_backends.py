"""Backends that live in memory, and all that may happen to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta

from configproviders import ConfigData, ConfigException, ConfigProvider
from configproviders.errors import (
    KeyNotFound,
    LookupDenied,
    LookupFailed,
    MalformedText,
    PathNotFound,
    ProviderUnavailable,
)
from configproviders.testing import CANARY

Content = Mapping[str, str]
Lookups = Mapping[str, Collection[str] | None]
KEYS = ("username", "password", "port")
PARTLY = "partly"


class Interrupted(BaseException):
    """What a user does who no longer wants to wait."""


class Place:
    """What is at one path: all that was there so far, in order, and what is wrong with it now."""

    def __init__(self) -> None:
        self.history: list[Content] = []
        self.writes = 0
        self.trouble: str | None = None
        self.rotate()

    @property
    def content(self) -> Content:
        return self.history[-1]

    def rotate(self) -> None:
        number = len(self.history)
        self._write({"username": f"user-{number // 3}", "password": f"{CANARY}-{number}"})

    def move(self) -> None:
        """Change what has nothing to do with the password."""
        self._write({**self.content, "port": str(len(self.history))})

    def delete(self) -> None:
        self._write({})

    def bring_back(self) -> None:
        self._write(self.history[-2] if len(self.history) > 1 else self.content)

    def rewrite(self) -> None:
        self.writes += 1

    def _write(self, content: Content) -> None:
        self.writes += 1
        if not self.history or content != self.content:
            self.history.append(content)


class Backend(ConfigProvider):
    """Answers what is at its places, as well as its troubles let it."""

    def __init__(self, *paths: str, ttl: timedelta | None = None) -> None:
        self.places = {path: Place() for path in paths}
        self.ttl = ttl
        self.trouble: str | None = None
        self.delay = 0.0
        self.answers_late = False
        """Whether what a slow answer says is what is there at its end."""

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        if self.trouble:
            BREAKS[self.trouble]()
        place = self.places[path]
        if place.trouble:
            return SPOILS[place.trouble](self._read(place, keys))
        return self._read(place, keys)

    def _read(self, place: Place, keys: Collection[str] | None) -> ConfigData:
        if not place.content:
            raise PathNotFound("there is nothing")
        return ConfigData(only(place.content, keys), self.ttl, version=str(place.writes))


class Files(Backend):
    """Without versions and without waiting; it says for each key that it is not there."""

    waits = False

    def _read(self, place: Place, keys: Collection[str] | None) -> ConfigData:
        kind = KeyNotFound if place.content else PathNotFound
        absent = [key for key in keys or () if key not in place.content]
        return ConfigData(only(place.content, keys), errors=dict.fromkeys(absent, kind("absent")))


class Batching(Backend):
    """Fetches two paths with one call."""

    def batches(self, paths: Collection[str]) -> Iterable[Collection[str]]:
        listed = list(paths)
        return [listed[at : at + 2] for at in range(0, len(listed), 2)]

    def get_many(self, lookups: Lookups) -> dict[str, ConfigData | ConfigException]:
        return dict(super().get_many(lookups))


class Leasing(Backend):
    """Makes credentials for who asks, and others for who asks in the last half of their lease."""

    LEASE = timedelta(hours=1)

    def __init__(self, *paths: str, clock: Callable[[], float]) -> None:
        super().__init__(*paths)
        self._clock = clock
        self._made: dict[int, float] = {}

    def _read(self, place: Place, keys: Collection[str] | None) -> ConfigData:
        now, lease = self._clock(), self.LEASE.total_seconds()
        left = self._made.setdefault(id(place), now) + lease - now
        if left < lease / 2:
            place.rotate()
            self._made[id(place)], left = now, lease
        data = super()._read(place, keys)
        return ConfigData(data.data, timedelta(seconds=left), lease=str(len(place.history)))


def only(content: Content, keys: Collection[str] | None) -> dict[str, str]:
    """Return what there is of *keys*; all of it if that is ``None``."""
    return {key: content[key] for key in content if keys is None or key in keys}


def _unreachable() -> None:
    raise ProviderUnavailable("the backend cannot be reached")


def _break() -> None:
    raise RuntimeError(f"{CANARY} is wrong")


def _interrupt() -> None:
    raise Interrupted


def _refuse(data: ConfigData) -> ConfigData:
    raise LookupDenied("the path is refused")


def _malform(data: ConfigData) -> ConfigData:
    raise MalformedText("line 1: expected something else")


def _count(data: ConfigData) -> ConfigData:
    return ConfigData({**data.data, "number": 1})  # type: ignore[dict-item]  # It is garbage.


def _lose(data: ConfigData) -> ConfigData:
    return None  # type: ignore[return-value]  # It is garbage.


def _hold_back(data: ConfigData) -> ConfigData:
    """Leave out the password, which is there."""
    left = {key: data.data[key] for key in data.data if key != "password"}
    held = set(data.data) - set(left)
    errors = {**data.errors, **dict.fromkeys(held, LookupFailed("the password cannot be read"))}
    return ConfigData(left, data.ttl, version=data.version, lease=data.lease, errors=errors)


BREAKS = {"unreachable": _unreachable, "breaks": _break, "interrupts": _interrupt}
"""What is wrong with a backend."""

SPOILS = {
    "refused": _refuse,
    "malformed": _malform,
    "numbers": _count,
    "nothing": _lose,
    PARTLY: _hold_back,
}
"""What is wrong with a path."""
