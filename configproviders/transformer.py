"""Puts values in the place of references: plan, ask, substitute (KIP-297)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from .data import ConfigData
from .errors import (
    ConfigException,
    KeyNotFound,
    LookupFailed,
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

Answer = ConfigData | ConfigException
_HINTS = 10


@dataclass(frozen=True, slots=True)
class ConfigTransformerResult(Generic[V]):
    """A config with values in the place of references, and what is known about them.

    ``data`` has every key of the config. ``ttls`` says for each location with a TTL how long its
    values may be used. ``unresolved`` lists the references that stand in ``data`` as typed.
    ``plan`` says which config keys hold values from which locations. ``repr`` shows no value.
    """

    data: dict[str, V] = field(repr=False)
    ttls: dict[Location, timedelta]
    unresolved: tuple[Unresolved, ...]
    plan: LookupPlan = field(repr=False)


class ConfigTransformer:
    """Resolves the references of configs with a fixed set of named providers.

    Thread-safe if its providers are. It does not close them.
    """

    def __init__(
        self, providers: Mapping[str, ConfigProvider], pattern: re.Pattern[str] | None = None
    ) -> None:
        """Take the providers by the names that references use.

        *pattern* replaces the grammar; see :func:`configproviders.reference.find`. Raises
        :class:`ConfigException` if it lacks the groups.
        """
        if pattern is not None:
            find("", pattern)
        self._providers = dict(providers)
        self._pattern = pattern

    def plan(self, configs: Mapping[str, object]) -> LookupPlan:
        """Return what :meth:`transform` would ask of whom, without asking."""
        return LookupPlan.of(configs, self._providers, pattern=self._pattern)

    def fetch(self, plan: LookupPlan) -> dict[Location, Answer]:
        """Ask each location of *plan* once; an error stands in the place of an answer."""
        return {
            location: _ask(self._providers[location.provider], location, keys)
            for location, keys in plan.lookups.items()
        }

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
        return ConfigTransformerResult(data, _ttls(answers), unresolved, plan)


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
    # Not all names: what stands in a file that is no properties file may be the secret itself.
    hint = near(use.key, available) if available else ""
    count = f"; none of the {len(available)} there is like it" if available else ""
    return KeyNotFound(f"no key {shorten(use.key)!r} at {place}{f'; {hint}' if hint else count}")


def _ask(provider: ConfigProvider, location: Location, keys: AbstractSet[str]) -> Answer:
    try:
        return _checked(provider.get(location.path, keys))
    except ConfigException as error:
        return error
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        return plugin_failure(provider, error)


def _checked(answer: object) -> ConfigData:
    if not isinstance(answer, ConfigData):
        raise LookupFailed(f"the provider returned {type(answer).__name__}, not ConfigData")
    if not set(map(type, answer.data.values())) <= {str}:
        raise LookupFailed("the provider returned values that are not str")
    return answer


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
