"""Texts with references, resolved through caches: by the driver for all, or by a process alone.

Locations have *generations*, which begin when a value is refused where it was used. A version is a
digest of the value and of the generations that it is from, keyed by what nobody else has. So who
refuses a version that is not the newest changes nothing: however many do, it is fetched once.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

from ...cache import CachingConfigProvider
from ...cache_entry import is_refusal
from ...data import Answer, ConfigData
from ...errors import ConfigException, LookupFailed, Unresolved, UnresolvedError
from ...plan import Location, LookupPlan
from ...provider import ConfigProvider
from ...reference import substitute
from ...registry import open_providers
from ...single_flight import renew_in_children
from ...transformer import (
    ConfigTransformer,
    explain,
    unresolved_among,
    values_as_typed,
)
from .secret import Resolved

TTL = timedelta(minutes=5)
"""How long a value is kept if neither its reference nor the backend says so."""

_LONGEST = timedelta(days=3650)

_Generations = dict[Location, int]


class CachedTexts:
    """Resolves texts with one set of providers, each with a cache around it. Thread-safe.

    What is asked of a location is what any of the texts wants of it, so that it is fetched once
    for all of them.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        live: Mapping[str, ConfigProvider] | None = None,
        *,
        ttl: timedelta = TTL,
    ) -> None:
        """Open the providers that *settings* declare; use those of *live*, which win."""
        check_ttl(ttl)
        self._closing = ExitStack()
        declared = self._closing.enter_context(open_providers(settings))
        for provider in declared.values():
            provider.values_outlive_it = False  # They are used as long as this is open.
        known = {**declared, **(live or {})} if settings or not live else dict(live)
        self._cached = {name: _cached(provider, ttl) for name, provider in known.items()}
        self._transformer = ConfigTransformer(self._cached)
        self._ttl = ttl
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._expected: set[tuple[str, ...]] = set()
        self._wanted: dict[Location, frozenset[str]] = {}
        self._generations: Counter[Location] = Counter()
        self._latest: dict[str, tuple[str, _Generations]] = {}
        self._asked: dict[Location, tuple[float, int]] = {}
        self._found: dict[str, tuple[Resolved, float, _Generations]] = {}
        renew_in_children(self)

    def add(self, configs: Mapping[str, str]) -> None:
        """Take the values of *configs* for texts that will be asked for.

        All of them are resolved. Raises one :class:`UnresolvedError` for all that cannot be.
        """
        plan = self._transformer.plan(configs)
        if unresolved := unresolved_among(explain(plan, self._fetch(plan))):
            raise UnresolvedError(unresolved) from unresolved[0].error
        self._want(plan)

    def resolve(self, text: str, together: Collection[str] = ()) -> Resolved:
        """Return what *text* comes to now; raise a :class:`ConfigException` that pickles."""
        if found := self._known(text):
            return found
        self._expect(tuple(together))
        plan = self._transformer.plan({text: text})
        with self._lock:
            generations = {location: self._generations[location] for location in plan.lookups}
        answers = self._fetch(plan)
        if unresolved := unresolved_among(explain(plan, answers)):
            raise _in_one(unresolved) from None  # The cause may be a plugin's, with a value in it.
        values = values_as_typed(plan, answers)
        value = substitute({text: text}, plan.references, values)[0][text]
        version = self._version(value, generations)
        with self._lock:
            if all(self._generations[each] == number for each, number in generations.items()):
                self._latest[text] = version, generations
        references = plan.references.get(text, ())
        parts = tuple(values[each.provider, each.path][each.key] for each in references)
        resolved = Resolved(value, parts, version, self._left(answers))
        self._found[text] = resolved, time.monotonic() + resolved.seconds, generations
        return resolved

    def refuse(self, text: str, version: str) -> None:
        """Have *text* fetched anew if *version* is the newest that was given out of it."""
        with self._lock:
            latest, generations = self._latest.get(text, ("", {}))
            if latest != version:
                return
            for location, generation in generations.items():
                if self._generations[location] == generation:
                    self._generations[location] += 1
                    self._cached[location.provider].invalidate(location.path)

    def close(self) -> None:
        """Close the providers that were opened here."""
        self._closing.close()

    def renew(self) -> None:
        """Have a lock of its own in a forked child."""
        self._lock = threading.Lock()

    def _known(self, text: str) -> Resolved | None:
        """Return what *text* came to, if that is still good: most calls are for that."""
        resolved, end, generations = self._found.get(text, (None, 0.0, {}))
        left = end - time.monotonic()
        if resolved is None or left <= 0:
            return None
        if any(self._generations[each] != number for each, number in generations.items()):
            return None
        return replace(resolved, seconds=left)

    def _expect(self, together: tuple[str, ...]) -> None:
        if together and together not in self._expected:
            self._want(self._transformer.plan({text: text for text in together}))
            self._expected.add(together)

    def _want(self, plan: LookupPlan) -> None:
        with self._lock:
            for location, keys in plan.lookups.items():
                self._wanted[location] = self._wanted.get(location, frozenset()).union(keys)

    def _fetch(self, plan: LookupPlan) -> dict[Location, Answer]:
        """Return what the locations of *plan* say, asked for all that is wanted of them.

        What others want and cannot have is not asked for again: it must not stand in the way.
        """
        alone = plan.lookups
        with self._lock:
            wanted = {at: self._wanted_at(at, alone[at]) for at in alone}
        answers = self._transformer.fetch(replace(plan, lookups=wanted))
        refused = {}
        for at, answer in answers.items():
            there = answer.data.keys() if isinstance(answer, ConfigData) else alone[at]
            if isinstance(answer, ConfigData) or is_refusal(answer):
                self._give_up(at, wanted[at] - there)
                if isinstance(answer, ConfigException) and wanted[at] != alone[at]:
                    refused[at] = alone[at]
        if refused:
            answers |= self._transformer.fetch(replace(plan, lookups=refused))
        end = time.monotonic() + self._left(answers)
        with self._lock:
            whole = (at for at in wanted if at not in refused and wanted[at] != alone[at])
            self._asked.update((at, (end, self._generations[at])) for at in whole)
        return answers

    def _wanted_at(self, location: Location, keys: AbstractSet[str]) -> AbstractSet[str]:
        """Return what to ask for: all that is wanted there, but once while the answer is good."""
        end, generation = self._asked.get(location, (0.0, -1))
        if time.monotonic() < end and generation == self._generations[location]:
            return keys  # It is in the cache with all others; to ask for thousands takes long.
        return self._wanted.get(location, frozenset()).union(keys)

    def _give_up(self, location: Location, keys: AbstractSet[str]) -> None:
        with self._lock:
            if keys and location in self._wanted:
                self._wanted[location] -= keys

    def _left(self, answers: Mapping[Location, Answer]) -> float:
        """Return for how many seconds all of *answers* may be used."""
        ttls = [each.ttl for each in answers.values() if isinstance(each, ConfigData)]
        return min((ttl for ttl in ttls if ttl is not None), default=self._ttl).total_seconds()

    def _version(self, value: str, generations: Mapping[Location, int]) -> str:
        state = f"{sorted(generations.items())}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, state, "sha256").hex()


def check_ttl(ttl: timedelta) -> None:
    """Raise :class:`ConfigException` for a *ttl* that no clock measures."""
    if not timedelta(0) <= ttl <= _LONGEST:
        raise ConfigException(f"ttl is {ttl}: it must not be below 0 or above {_LONGEST}")


def _cached(provider: ConfigProvider, ttl: timedelta) -> ConfigProvider:
    if isinstance(provider, CachingConfigProvider):
        return provider
    return CachingConfigProvider(provider, default_ttl=ttl)


def _in_one(unresolved: Sequence[Unresolved]) -> ConfigException:
    """Return one error that says what *unresolved* do, of their class if that is the same."""
    classes = {public_class(each.error) for each in unresolved}
    error_class = classes.pop() if len(classes) == 1 else LookupFailed
    return error_class("; ".join(f"{each.reference.text}: {each.error}" for each in unresolved))


def public_class(error: ConfigException) -> type[ConfigException]:
    """Return the class in :mod:`configproviders.errors` that *error* belongs to."""
    public = (each for each in type(error).__mro__ if each.__module__ == ConfigException.__module__)
    return next(each for each in public if issubclass(each, ConfigException))
