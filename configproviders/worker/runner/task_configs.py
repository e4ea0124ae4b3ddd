"""The configs that a connector makes for its tasks: checked, and without a ``repr`` of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...config_def import ConfigDef
from ...data import SecretText
from ..connector_keys import tasks_max
from ..errors import ConnectException
from ..tracking import Tracked


def hidden(tracked: Tracked, values: Mapping[str, str]) -> dict[str, str]:
    """Return *values*, those that came out of references without a ``repr``."""
    return {
        key: text if tracked.shown[key] == text else SecretText(text)
        for key, text in values.items()
    }


def passwords(config_def: ConfigDef, values: Mapping[str, str]) -> Iterator[str]:
    """Yield what is written out under a key that is for a password."""
    for key in config_def.expanded(values):
        if key.type.kind == "PASSWORD":
            yield from (values[name] for name in key.names if name in values)


def checked(
    configs: Sequence[Mapping[str, str]], values: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the configs that a connector made for its tasks; raise :class:`ConnectException`."""
    most = tasks_max(values)
    enforced = values.get("tasks.max.enforce", "true").strip().lower() != "false"
    if enforced and len(configs) > most:
        raise ConnectException(f"the connector makes {len(configs)} tasks: tasks.max is {most}")
    for each in configs:
        for key, text in each.items():
            if not (isinstance(key, str) and isinstance(text, str)):
                raise ConnectException(f"the connector gives a task {key!r}, which is not text")
    return [dict(each) for each in configs]
