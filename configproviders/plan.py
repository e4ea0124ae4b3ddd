"""What a config asks of whom, as a value: made without asking anyone.

Kafka's transformer works this out inside one method and throws it away. Kept, it says what to
fetch, what to subscribe to, when to look again, which config keys hold secrets, and which of them
a change touches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .errors import (
    ConfigException,
    LookupFailed,
    UnknownProvider,
    plugin_failure,
    shorten,
    there_is,
)
from .provider import ConfigProvider
from .reference import Reference, find_all

if TYPE_CHECKING:
    import re


class Location(NamedTuple):
    """A path within a provider: the unit of fetching, of TTLs and of change."""

    provider: str
    path: str


class Use(NamedTuple):
    """One reference of a config: where it stands, and what it asks for.

    ``error`` is set, and *location* and *key* are as typed, if nobody can be asked.
    """

    config_key: str
    reference: Reference
    location: Location
    key: str
    error: ConfigException | None


@dataclass(frozen=True, slots=True)
class LookupPlan:
    """The references of a config and the lookups they come to.

    ``references`` holds, for each config key whose value has any, its references from left to
    right. ``lookups`` holds the keys to ask for at each location: one lookup per location.
    ``located`` says where a reference leads that does not mean just what it says: its provider has
    a :meth:`~ConfigProvider.locate` of its own, or there is nobody to ask.
    """

    references: Mapping[str, tuple[Reference, ...]]
    lookups: Mapping[Location, AbstractSet[str]]
    located: Mapping[Reference, tuple[Location, str] | ConfigException]

    @classmethod
    def of(
        cls,
        configs: Mapping[str, object],
        providers: Mapping[str, ConfigProvider],
        *,
        pattern: re.Pattern[str] | None = None,
    ) -> LookupPlan:
        """Plan the lookups for *configs*; only values that are text are looked at."""
        references = find_all(configs, pattern)
        literal = {name for name, each in providers.items() if _is_literal(each)}
        located: dict[Reference, tuple[Location, str] | ConfigException] = {}
        lookups: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for found in references.values():
            for reference in found:
                provider, path, key, _, _ = reference
                if provider in literal:
                    lookups[provider, path].add(key)
                    continue
                located[reference] = where = _locate(reference, providers)
                if not isinstance(where, ConfigException):
                    lookups[where[0]].add(where[1])
        return cls(references, {Location(*at): keys for at, keys in lookups.items()}, located)

    def uses(self) -> Iterator[Use]:
        """Yield every reference with its config key and the lookup it belongs to, in order."""
        for config_key, found in self.references.items():
            for reference in found:
                typed = Location(reference.provider, reference.path), reference.key
                where = self.located.get(reference, typed)
                if isinstance(where, ConfigException):
                    yield Use(config_key, reference, *typed, where)
                else:
                    yield Use(config_key, reference, *where, None)

    def by_provider(self) -> dict[str, dict[str, AbstractSet[str]]]:
        """Return the keys to ask for by path, for each provider by name."""
        paths: defaultdict[str, dict[str, AbstractSet[str]]] = defaultdict(dict)
        for location, keys in self.lookups.items():
            paths[location.provider][location.path] = keys
        return paths


def _is_literal(provider: ConfigProvider) -> bool:
    return type(provider).locate is ConfigProvider.locate


def _locate(
    reference: Reference, providers: Mapping[str, ConfigProvider]
) -> tuple[Location, str] | ConfigException:
    provider = providers.get(reference.provider)
    if provider is None:
        return UnknownProvider(
            f"no config provider named {shorten(reference.provider)!r} is configured;"
            f" {there_is(reference.provider, providers)}"
        )
    try:
        where: tuple[object, object] = provider.locate(reference.path, reference.key)
        path, key = where
    except ConfigException as error:
        return error
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        return plugin_failure(provider, error)
    if not (isinstance(path, str) and isinstance(key, str)):
        return LookupFailed(f"{type(provider).__name__}.locate returned what is no path and key")
    return Location(reference.provider, path), key
