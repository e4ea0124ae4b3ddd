"""What a callback is told: which locations changed, how, and which config keys that affects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum

from ..data import ConfigData
from ..plan import Location, LookupPlan


class ChangeKind(Enum):
    """What happened to the values that were subscribed to."""

    CHANGED = "changed"
    """Some have another content, or came, or went."""
    DELETED = "deleted"
    """None of them is there any more."""
    APPEARED = "appeared"
    """They are there; before, none was, or none could be read since the subscription began."""


@dataclass(frozen=True, slots=True)
class LocationChange:
    """The change at one location.

    ``keys`` names what changed. ``before`` and ``after`` are versions, where the backend has any.
    ``data`` holds all that was subscribed to, of one version; its values are not shown.
    """

    kind: ChangeKind
    keys: frozenset[str]
    before: str | None
    after: str | None
    data: ConfigData


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What changed of a config that is watched: by location, and which config keys use it."""

    locations: Mapping[Location, LocationChange]
    config_keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, plan: LookupPlan, locations: Mapping[Location, LocationChange]) -> ConfigChange:
        """Find the config keys of *plan* that are affected, in its order."""
        affected = {
            use.config_key: None
            for use in plan.uses()
            if use.location in locations and use.key in locations[use.location].keys
        }
        return cls(locations, tuple(affected))


@dataclass(frozen=True, slots=True)
class LocationHealth:
    """How it is with one location that is watched.

    ``error`` says why it cannot be read, ``failing_for`` since when. ``stale`` says that an earlier
    answer is served in the meantime. ``next_look`` is the time until it is asked for again.
    """

    error: str | None
    failing_for: timedelta | None
    stale: bool
    next_look: timedelta = field(compare=False)
