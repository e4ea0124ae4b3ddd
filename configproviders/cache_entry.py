"""What a cache knows about one location, and for how long: decisions without a clock or a lock.

::

    fetched          early          TTL                       TTL + max.stale
       |---- fresh ----|-- one asks --|-- stale, if the backend --|-- gone
                       |  again, all  |   cannot be reached       |
                       |  are served  |                           |

The TTL is that of who asks: the smaller of the option ``ttl`` and what the provider said, or else
the default. So ``x?ttl=1000`` and ``x?ttl=60000`` share what was fetched. A key that was asked for
and not there is remembered for ``negative.ttl.ms``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from .data import ConfigData
from .errors import (
    ConfigException,
    KeyNotFound,
    LookupDenied,
    PathNotFound,
    ProviderUnavailable,
)
from .path_options import TTL, split_any_options, ttl_of, with_options
from .single_flight import again

Keys = frozenset[str] | None
"""Keys asked for; ``None`` is all there are."""


class Ask(NamedTuple):
    """One question: the path as it was given, without its TTL, the TTL, and the keys.

    With ``anew`` nothing that was fetched before it was asked is an answer.
    """

    path: str
    location: str
    ttl: timedelta | None
    keys: Collection[str] | None
    anew: bool = False

    @classmethod
    def of(cls, path: str, keys: Collection[str] | None, *, anew: bool = False) -> Ask:
        """Take the TTL from *path*; raise :class:`ConfigException` if it is no number."""
        return cls(path, *split_ttl(path), keys, anew)


@dataclass(frozen=True, slots=True)
class Terms:
    """How long answers are kept, in seconds."""

    default_ttl: float
    max_stale: float
    negative_ttl: float

    def ttl(self, option: timedelta | None, given: timedelta | None) -> float:
        """Return the TTL of a question with *option* that the provider answered with *given*."""
        if option is None:
            return self.default_ttl if given is None else given.total_seconds()
        return (option if given is None else min(option, given)).total_seconds()


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer of the provider: to which keys, when, and from which part of the TTL on it is old.

    ``failure`` is set while the provider cannot be reached for a newer one; it is asked again
    from ``retry`` on. ``repr`` shows no value.
    """

    data: ConfigData
    asked: Keys
    fetched: float
    early: float
    failure: ConfigException | None = None
    retry: float = 0.0

    def serve(self, ask: Ask, now: float, terms: Terms) -> tuple[ConfigData | None, bool]:
        """Return what answers *ask*, if this does, and whether somebody should ask for more."""
        values = self._values(ask.keys)
        if values is None:
            return None, True
        ttl = terms.ttl(ask.ttl, self.data.ttl)
        age = now - self.fetched
        if age < self._lifetime(ask.keys, values, ttl, terms):
            due = 0 < ttl * self.early <= age and now >= self.retry
            return self._answer(ask, values, ttl, now), due
        if self.failure is None:
            return None, True
        return self.despite(self.failure, ask, now, terms), now >= self.retry

    def answer(self, ask: Ask, now: float, terms: Terms) -> ConfigData | None:
        """Return what is here for *ask*, however old, with the time it has left."""
        values = self._values(ask.keys)
        if values is None:
            return None
        return self._answer(ask, values, terms.ttl(ask.ttl, self.data.ttl), now)

    def despite(
        self, error: ConfigException, ask: Ask, now: float, terms: Terms
    ) -> ConfigData | None:
        """Return what answers *ask* although *error* came of asking for more.

        A value within its TTL does, and a stale one if nobody could be reached. A refusal does not
        let the old value stand. A key without a value has *error* for its reason. To who asks anew
        each of them is stale.
        """
        values = self._values(ask.keys)
        lost = self._lost(ask.keys)
        if values is None or is_refusal(error) or (lost and not values):
            return None
        ttl = terms.ttl(ask.ttl, self.data.ttl)
        left = ttl + self.fetched - now
        stale = left <= 0
        if stale and not (isinstance(error, ProviderUnavailable) and left + terms.max_stale > 0):
            return None
        until = timedelta(seconds=max(self.retry - now, 0) if stale else left)
        errors = {key: again(error) for key in lost}
        return self._with(values, until, errors, stale=stale or ask.anew)

    def kept_for(self, asks: Iterable[Ask], terms: Terms) -> float:
        """Return for how many seconds this may be of use to those who *ask* as these do."""
        ttl = max(terms.ttl(ask.ttl, self.data.ttl) for ask in asks)
        negative = terms.negative_ttl if self._lost(self.asked) else 0
        return max(ttl + terms.max_stale, negative)

    def _values(self, keys: Collection[str] | None) -> dict[str, str] | None:
        """Return the values of *keys*; nothing if some of them were not asked for."""
        data = self.data.data
        if keys is None:
            return dict(data) if self.asked is None else None
        values = {key: data[key] for key in keys if key in data}
        if len(values) == len(keys) or self.asked is None:
            return values
        return values if all(key in data or key in self.asked for key in keys) else None

    def _lost(self, keys: Collection[str] | None) -> list[str]:
        """Return those of *keys* that were asked for and have no value."""
        asked = self.data.errors if keys is None else keys
        return [key for key in asked if key not in self.data.data]

    def _lifetime(
        self, keys: Collection[str] | None, values: Mapping[str, str], ttl: float, terms: Terms
    ) -> float:
        if keys is not None and len(values) == len(keys):
            return ttl
        lost = self._lost(keys)
        errors = [self.data.errors[key] for key in lost if key in self.data.errors]
        if not all(isinstance(error, KeyNotFound) or is_refusal(error) for error in errors):
            return 0
        return min([terms.negative_ttl] * bool(lost) + [ttl] * (bool(values) or not lost))

    def _answer(self, ask: Ask, values: dict[str, str], ttl: float, now: float) -> ConfigData:
        left = timedelta(seconds=max(ttl + self.fetched - now, 0)) if ttl else self.data.ttl
        errors = self.data.errors
        if errors and ask.keys is not None:
            errors = {key: errors[key] for key in ask.keys if key in errors}
        return self._with(values, left, errors, stale=False)

    def _with(
        self,
        values: dict[str, str],
        ttl: timedelta | None,
        errors: Mapping[str, ConfigException],
        *,
        stale: bool,
    ) -> ConfigData:
        return ConfigData(
            values,
            ttl,
            version=self.data.version,
            stale=stale or self.data.stale,
            lease=self.data.lease,
            available=self.data.available,
            errors=dict(errors),
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer without values: nothing at the path, or not for those who ask for *keys*."""

    error: ConfigException
    keys: Keys
    until: float

    def answers(self, ask: Ask) -> bool:
        """Whether *ask* would be refused too."""
        return concerns(self.error, self.keys, ask)


def is_refusal(error: ConfigException) -> bool:
    """Whether the backend was reached and said no, so that no older value counts."""
    return isinstance(error, PathNotFound | LookupDenied)


def concerns(error: ConfigException, asked: Keys, ask: Ask) -> bool:
    """Whether *error*, which came of asking for *asked*, is an answer to *ask* as well.

    One key may be refused and its neighbour not.
    """
    if ask.keys is None or isinstance(error, PathNotFound | ProviderUnavailable):
        return True
    return asked is not None and asked.issubset(ask.keys)


def split_ttl(text: str) -> tuple[str, timedelta | None]:
    """Return *text* without the option ``ttl``, and the option."""
    if "ttl=" not in text:
        return text, None
    rest, options = split_any_options(text)
    ttl = ttl_of(options)
    if ttl is None:
        return text, None
    return with_options(rest, {name: options[name] for name in options if name != TTL}), ttl


def with_ttl(text: str, ttls: Iterable[timedelta | None]) -> str:
    """Return *text* with the smallest of *ttls* for its option ``ttl``, if there is one."""
    given = [ttl for ttl in ttls if ttl is not None]
    if not given:
        return text
    rest, options = split_any_options(text)
    return with_options(rest, {**options, TTL: str(min(given) // timedelta(milliseconds=1))})
