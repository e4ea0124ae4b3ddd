"""Puts values in the place of references: plan, ask, substitute (KIP-297)."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Generic

from .data import Answer, ConfigData, checked
from .errors import (
    ConfigException,
    KeyNotFound,
    Unresolved,
    UnresolvedError,
    near,
    plugin_failure,
    shorten,
)
from .plan import Location, LookupPlan, Use
from .reference import V, find, substitute

if TYPE_CHECKING:
    import re
    from datetime import timedelta

    from .provider import ConfigProvider

LOOKUP_CONCURRENCY = 16
"""How many lookups wait for backends at the same time, if nothing else is said."""

_Call = tuple["ConfigProvider", str, Mapping[str, AbstractSet[str]]]
_HINTS = 10


@dataclass(frozen=True, slots=True)
class ConfigTransformerResult(Generic[V]):
    """A config with values in the place of references, and what is known about them.

    ``data`` has every key of the config. ``ttls`` says for each location with a TTL how long its
    values may be used. ``unresolved`` lists the references that stand in ``data`` as typed.
    ``plan`` says which config keys hold values from which locations. ``stale`` holds the locations
    whose values are from an earlier answer, since their backend failed. ``repr`` shows no value.
    """

    data: dict[str, V] = field(repr=False)
    ttls: dict[Location, timedelta]
    unresolved: tuple[Unresolved, ...]
    plan: LookupPlan = field(repr=False)
    stale: frozenset[Location] = frozenset()

    @property
    def stale_keys(self) -> list[str]:
        """The config keys that have a value from one of the ``stale`` locations, in order."""
        if not self.stale:
            return []
        lost = {(each.config_key, each.reference) for each in self.unresolved}
        found = (use for use in self.plan.uses() if (use.config_key, use.reference) not in lost)
        return list(dict.fromkeys(use.config_key for use in found if use.location in self.stale))


class ConfigTransformer:
    """Resolves the references of configs with a fixed set of named providers.

    Thread-safe if its providers are. It does not close them.
    """

    def __init__(
        self,
        providers: Mapping[str, ConfigProvider],
        pattern: re.Pattern[str] | None = None,
        *,
        concurrency: int = LOOKUP_CONCURRENCY,
    ) -> None:
        """Take the providers by the names that references use.

        *pattern* replaces the grammar; see :func:`configproviders.reference.find`. At most
        *concurrency* lookups wait for backends at the same time. Raises :class:`ConfigException`
        if *pattern* lacks the groups, or *concurrency* is not positive.
        """
        if pattern is not None:
            find("", pattern)
        if concurrency < 1:
            raise ConfigException(f"lookup.concurrency is {concurrency}: write 1 or more")
        self._providers = dict(providers)
        self._pattern = pattern
        self._concurrency = concurrency

    def plan(self, configs: Mapping[str, object]) -> LookupPlan:
        """Return what :meth:`transform` would ask of whom, without asking."""
        return LookupPlan.of(configs, self._providers, pattern=self._pattern)

    def fetch(
        self, plan: LookupPlan, *, seconds: dict[Location, float] | None = None
    ) -> dict[Location, Answer]:
        """Ask each location of *plan* once; an error stands in the place of an answer.

        *seconds*, if given, receives how long the call took in which each location was asked for.

        What a provider takes in one call goes together; calls that wait for a backend run in
        threads, so that the time is that of the slowest and not of all.
        """
        at_once, waiting = self._calls(plan)
        ask = _ask if seconds is None else partial(_ask_timed, seconds)
        answers: dict[Location, Answer] = {}
        if len(waiting) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(self._concurrency, len(waiting)), "lookup") as threads:
                for asked in threads.map(ask, *zip(*waiting, strict=True)):
                    answers.update(asked)
        else:
            at_once += waiting
        for provider, name, lookups in at_once:
            answers.update(ask(provider, name, lookups))
        return {location: answers[location] for location in plan.lookups}

    def _calls(self, plan: LookupPlan) -> tuple[list[_Call], list[_Call]]:
        """Return the calls that *plan* comes to: those that answer at once, and all others."""
        paths: defaultdict[str, dict[str, AbstractSet[str]]] = defaultdict(dict)
        for location, keys in plan.lookups.items():
            paths[location.provider][location.path] = keys
        at_once: list[_Call] = []
        waiting: list[_Call] = []
        for name, lookups in paths.items():
            provider = self._providers[name]
            calls = waiting if provider.waits else at_once
            for batch in _batches(provider, lookups):
                calls.append((provider, name, {path: lookups[path] for path in batch}))
        return at_once, waiting

    def transform(
        self, configs: Mapping[str, V], *, strict: bool = False
    ) -> ConfigTransformerResult[V]:
        """Return *configs* with every reference replaced by its value.

        One pass, one level: values are not looked into. Values that are not text pass unchanged.
        A reference to an unknown provider or a missing key stays as typed and is listed in the
        result. If a provider fails or refuses, and with *strict* also for those left as typed,
        one :class:`UnresolvedError` names every unresolved reference after all locations were
        asked.
        """
        plan = self.plan(configs)
        answers = self.fetch(plan)
        data, complete = substitute(configs, plan.references, _values_as_typed(plan, answers))
        unresolved = () if complete else unresolved_among(explain(plan, answers))
        failures = [each.error for each in unresolved if strict or each.is_failure]
        if failures:
            raise UnresolvedError(unresolved) from failures[0]
        return ConfigTransformerResult(data, _ttls(answers), unresolved, plan, _stale(answers))


def explain(
    plan: LookupPlan, answers: Mapping[Location, Answer]
) -> Iterator[tuple[Use, ConfigException | None]]:
    """Yield each use of *plan* with why it has no value among *answers*, or ``None`` if it has.

    Only the first few missing keys come with what is there instead: finding that out takes time.
    """
    hints = _HINTS
    for use in plan.uses():
        answer = use.error or answers[use.location]
        if isinstance(answer, ConfigException):
            yield use, answer
        elif use.key in answer.data:
            yield use, None
        else:
            error = answer.errors.get(use.key)
            yield use, error or _missing(use, answer.available if hints > 0 else None)
            hints -= 1


def unresolved_among(
    outcomes: Iterable[tuple[Use, ConfigException | None]],
) -> tuple[Unresolved, ...]:
    """Return those of *outcomes* that have no value."""
    return tuple(
        Unresolved(use.config_key, use.reference, error) for use, error in outcomes if error
    )


def _missing(use: Use, available: Collection[str] | None) -> KeyNotFound:
    path, provider = shorten(use.location.path), use.location.provider
    place = repr(path) if path else f"provider {provider!r}"
    hint = ""
    with suppress(Exception):  # The border around a plugin, whose collection it is.
        hint = _hint(use.key, available or ())
    return KeyNotFound(f"no key {shorten(use.key)!r} at {place}{hint}")


def _hint(key: str, available: Collection[str]) -> str:
    # Not all names: what stands in a file that is no properties file may be the secret itself.
    if not available:
        return ""
    return f"; {near(key, available) or f'none of the {len(available)} there is like it'}"


def _batches(
    provider: ConfigProvider, lookups: Mapping[str, AbstractSet[str]]
) -> Iterable[Collection[str]]:
    """Return the paths as *provider* batches them, each of them once whatever it says."""
    try:
        batches = [dict.fromkeys(batch) for batch in provider.batches(lookups.keys())]
    except Exception:  # noqa: BLE001  The border around a plugin; get_many may still work.
        batches = []
    if Counter(chain.from_iterable(batches)) != Counter(lookups.keys()):
        return [(path,) for path in lookups]
    return batches


def _ask(
    provider: ConfigProvider, name: str, lookups: Mapping[str, AbstractSet[str]]
) -> dict[Location, Answer]:
    """Return an answer or an error for each of *lookups*, whatever the provider does."""
    try:
        answers = provider.get_many(lookups)
        return {Location(name, path): checked(answers.get(path)) for path in lookups}
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        failure = error if isinstance(error, ConfigException) else plugin_failure(provider, error)
    return {Location(name, path): failure for path in lookups}


def _ask_timed(
    seconds: dict[Location, float],
    provider: ConfigProvider,
    name: str,
    lookups: Mapping[str, AbstractSet[str]],
) -> dict[Location, Answer]:
    start = time.perf_counter()
    answers = _ask(provider, name, lookups)
    seconds.update(dict.fromkeys(answers, time.perf_counter() - start))
    return answers


def _values_as_typed(
    plan: LookupPlan, answers: Mapping[Location, Answer]
) -> Mapping[tuple[str, str], dict[str, str]]:
    """Return the values by provider, path and key as the references have them."""
    values: dict[tuple[str, str], dict[str, str]] = {
        at: answer.data for at, answer in answers.items() if isinstance(answer, ConfigData)
    }
    if not plan.located:
        return values
    typed: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for use in plan.uses():
        if use.error is None and use.key in values.get(use.location, ()):
            provider, path, key, *_ = use.reference
            typed[provider, path][key] = values[use.location][use.key]
    return typed


def _ttls(answers: Mapping[Location, Answer]) -> dict[Location, timedelta]:
    return {
        location: answer.ttl
        for location, answer in answers.items()
        if isinstance(answer, ConfigData) and answer.ttl is not None
    }


def _stale(answers: Mapping[Location, Answer]) -> frozenset[Location]:
    return frozenset(
        location
        for location, answer in answers.items()
        if isinstance(answer, ConfigData) and answer.stale
    )
