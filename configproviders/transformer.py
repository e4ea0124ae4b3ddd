"""Puts values in the place of references: plan, ask, substitute (KIP-297)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic

from .data import Answer, ConfigData
from .errors import (
    ConfigException,
    KeyNotFound,
    Unresolved,
    UnresolvedError,
    near,
    shorten,
)
from .lookups import LOOKUP_CONCURRENCY, Answers, Call, ask_all, calls
from .plan import Location, LookupPlan, Use
from .reference import V, find, substitute

if TYPE_CHECKING:
    import re
    from datetime import timedelta

    from .provider import ConfigProvider

_HINTS = 10


@dataclass(frozen=True, slots=True)
class ConfigTransformerResult(Generic[V]):
    """A config with values in the place of references, and what is known about them.

    ``data`` has every key of the config. ``ttls`` says for each location with a TTL how long its
    values may be used. ``unresolved`` lists the references that stand in ``data`` as typed.
    ``plan`` says which config keys hold values from which locations. ``stale`` holds the locations
    whose values are from an earlier answer, since their backend failed. ``answers`` is what each
    location said; a watcher tells what changed since then. ``repr`` shows no value.
    """

    data: dict[str, V] = field(repr=False)
    ttls: dict[Location, timedelta]
    unresolved: tuple[Unresolved, ...]
    plan: LookupPlan = field(repr=False)
    stale: frozenset[Location] = frozenset()
    answers: Mapping[Location, Answer] = field(default_factory=dict, repr=False)

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
        ask = Call.get if seconds is None else partial(_timed, seconds)
        answers = ask_all(self._calls(plan), self._concurrency, ask)
        return {location: answers[location] for location in plan.lookups}

    def _calls(self, plan: LookupPlan) -> Iterator[Call]:
        for name, lookups in plan.by_provider().items():
            yield from calls(self._providers[name], name, lookups)

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
        return self.transform_with(self.fetch(plan), plan, configs, strict=strict)

    def transform_with(
        self,
        answers: Mapping[Location, Answer],
        plan: LookupPlan,
        configs: Mapping[str, V],
        *,
        strict: bool = False,
    ) -> ConfigTransformerResult[V]:
        """Return what :meth:`transform` does, from what :meth:`fetch` has answered to *plan*."""
        data, complete = substitute(configs, plan.references, values_as_typed(plan, answers))
        unresolved = () if complete else unresolved_among(explain(plan, answers))
        failures = [each.error for each in unresolved if strict or each.is_failure]
        if failures:
            del data  # A traceback with locals would show what was found.
            raise UnresolvedError(unresolved) from failures[0]
        ttls, stale = _ttls(answers), _stale(answers)
        return ConfigTransformerResult(data, ttls, unresolved, plan, stale, answers)


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


def _timed(seconds: dict[Location, float], call: Call) -> Answers:
    start = time.perf_counter()
    answers = call.get()
    seconds.update(dict.fromkeys(answers, time.perf_counter() - start))
    return answers


def values_as_typed(
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
