"""What is said of a connector's config, in Kafka Connect's JSON: :class:`ConfigInfos`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ..config_def import ConfigDef, ConfigKey
from ..data import Password

_Key = ConfigKey[object, object]


@dataclass(frozen=True, slots=True)
class ConfigInfo:
    """One setting: its definition as JSON, if it has one, its value as typed, what is wrong."""

    name: str
    definition: dict[str, Any] | None
    value: str | None = field(repr=False)
    recommended: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as Kafka Connect does."""
        value = {
            "name": self.name,
            "value": self.value,
            "recommended_values": list(self.recommended),
            "errors": list(self.errors),
            "visible": True,
        }
        return {"definition": self.definition, "value": value}


@dataclass(frozen=True, slots=True)
class ConfigInfos:
    """All settings of a connector's config; *name* is the class as typed."""

    name: str
    configs: tuple[ConfigInfo, ...]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """All that is wrong, pairs of key and message."""
        return [(each.name, message) for each in self.configs for message in each.errors]

    @property
    def error_count(self) -> int:
        """How much is wrong."""
        return len(self.errors)

    @property
    def groups(self) -> list[str]:
        """The groups of the settings, in the order in which they come first."""
        groups = [each.definition["group"] for each in self.configs if each.definition]
        return [group for group in dict.fromkeys(groups) if group is not None]

    def to_json(self) -> dict[str, Any]:
        """Return it as Kafka Connect does."""
        return {
            "name": self.name,
            "error_count": self.error_count,
            "groups": self.groups,
            "configs": [each.to_json() for each in self.configs],
        }


def definitions(keys: Iterable[_Key]) -> dict[str, dict[str, Any]]:
    """Return the definitions of *keys* by name, in Kafka Connect's JSON.

    ``order`` counts within the group, from 1; -1 is that of a setting without a group.
    """
    last: Counter[str] = Counter()
    found: dict[str, dict[str, Any]] = {}
    for key in keys:
        if key.group is not None:
            last[key.group] += 1
        found[key.name] = {
            "name": key.name,
            "type": key.type.kind,
            "required": key.is_required,
            "default_value": written(key.default) if not key.is_required else None,
            "importance": key.importance.upper(),
            "documentation": key.doc,
            "group": key.group,
            "order": -1 if key.group is None else last[key.group],
            "width": key.width,
            "display_name": key.display_name or key.name,
            "dependents": list(key.dependents),
        }
    return found


def with_framework(own: ConfigDef, framework: ConfigDef) -> ConfigDef:
    """Return the settings of *framework*, then *own*; one that both have is that of *own*."""
    keys = {key.name: key for key in (*framework, *own)}
    return ConfigDef(tuple(keys.values()))


def written(value: object) -> str | None:
    """Return *value* as a config has it; a password as ``[hidden]``."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return str(value // timedelta(milliseconds=1))
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return Password.HIDDEN if isinstance(value, Password) else str(value)
