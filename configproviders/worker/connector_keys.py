"""The settings that every connector has, spelt as Kafka Connect spells them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sized

from ..config_def import (
    BOOLEAN,
    CLASS,
    INT,
    LIST,
    NO_DEFAULT,
    STRING,
    Alias,
    ConfigDef,
    ConfigKey,
    ConfigType,
    at_least,
    not_empty,
    one_of,
)
from ..reference import find
from ..registry import split_settings

FUNCTION = ConfigType("function", str, "CLASS")
"""The type of a setting that names ``package.module:function``, code that the worker allows."""

_COMMON, _ERRORS = "Common", "Error Handling"
_SPARK, _SQL, _REDACTION = "spark.", "spark.sql.", "spark.sql.redaction."


def check_name(name: str) -> None:
    """Raise ``ValueError`` if *name* is none for a connector (KIP-212)."""
    if not name:
        raise ValueError("a connector's name is not empty")
    if name in {".", ".."}:
        raise ValueError("clients take '.' and '..' for steps of a path: choose another name")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise ValueError("a connector's name has no control characters")


def _nothing(names: Sized) -> None:
    if names:
        raise ValueError("records are not changed on the way here: leave it out")


def _without_effect(name: str, doc: str, group: str = _COMMON) -> ConfigKey[str, None]:
    doc = f"{doc} Accepted as Kafka Connect has it; it has no effect on Spark."
    return ConfigKey(name, STRING, None, "low", doc, group=group)


NAME = ConfigKey(
    "name",
    STRING,
    NO_DEFAULT,
    "high",
    "The name of the connector, unique in the worker.",
    validator=check_name,
    group=_COMMON,
    width="MEDIUM",
    display_name="Connector name",
)
CONNECTOR_CLASS = ConfigKey(
    "connector.class",
    CLASS,
    NO_DEFAULT,
    "high",
    "The connector's class: a name that GET /connector-plugins lists, with or without its package"
    " and the ending Connector, or package.module:Class of a module that the worker allows.",
    validator=not_empty,
    group=_COMMON,
    width="LONG",
    display_name="Connector class",
)
TASKS_MAX = ConfigKey(
    "tasks.max",
    INT,
    1,
    "high",
    "How many tasks the connector may split its work into.",
    validator=at_least(1),
    group=_COMMON,
    width="SHORT",
    display_name="Tasks max",
)
TASKS_MAX_ENFORCE = ConfigKey(
    "tasks.max.enforce",
    BOOLEAN,
    True,  # noqa: FBT003  A default may be a boolean.
    "low",
    "Whether a connector that makes more tasks than tasks.max fails.",
    group=_COMMON,
    width="SHORT",
    display_name="Enforce tasks max",
)
RELOAD_ACTION = ConfigKey(
    "config.action.reload",
    one_of("restart", "none"),
    "restart",
    "low",
    "What happens when a secret of the connector changes: restart restarts what uses it, none"
    " leaves that to whoever asks for it.",
    (Alias("config.reload.action", "KIP-297"),),
    group=_COMMON,
    width="MEDIUM",
    display_name="Reload action",
)
_TRANSFORMS = ConfigKey(
    "transforms",
    LIST,
    (),
    "low",
    "Must be empty: single message transforms of Kafka Connect do not run on Spark.",
    validator=_nothing,
    group="Transforms",
    width="LONG",
    display_name="Transforms",
)
_PREDICATES = ConfigKey(
    "predicates",
    LIST,
    (),
    "low",
    "Must be empty, as transforms.",
    validator=_nothing,
    group="Predicates",
    width="LONG",
    display_name="Predicates",
)

CONNECTOR_DEF = ConfigDef(
    (
        NAME,
        CONNECTOR_CLASS,
        TASKS_MAX,
        TASKS_MAX_ENFORCE,
        _without_effect("key.converter", "How keys are converted."),
        _without_effect("value.converter", "How values are converted."),
        _without_effect("header.converter", "How headers are converted."),
        RELOAD_ACTION,
        _TRANSFORMS,
        _PREDICATES,
        _without_effect("errors.<name>", "What is done with records that fail.", _ERRORS),
    )
)
"""The settings of any connector."""

_READ_AS_TYPED = (*NAME.names, *CONNECTOR_CLASS.names, *RELOAD_ACTION.names)


def reload_action(config: Mapping[str, str]) -> str:
    """Return ``"restart"`` or ``"none"``; raise :class:`~configproviders.ConfigException`.

    As in Kafka Connect, the config is one whose references are not resolved.
    """
    return RELOAD_ACTION.read(config)


def tasks_max(config: Mapping[str, str]) -> int:
    """Return how many tasks there may be; raise :class:`~configproviders.ConfigException`."""
    return TASKS_MAX.read(config)


def refused(config: Mapping[str, str | None]) -> dict[str, str]:
    """Return what may not stand in a connector's config, messages by key.

    *config* is as it was typed. Who may change a connector may not choose the code that runs for
    it, nor what the whole application does.
    """
    found = {key: message for key, text in config.items() if (message := _refused(key, text or ""))}
    for key in split_settings(config)[0]:
        found[key] = "config providers are set up in the worker's config, not in a connector's"
    return found


def _refused(key: str, text: str) -> str:
    if key.startswith(_SPARK) and not key.startswith(_SQL):
        return f"{key} is for the whole application: set it in the worker's config"
    if key.startswith(_REDACTION):
        return f"{key} decides what Spark hides: set it in the worker's config"
    if key.startswith(_SPARK) and find(text):
        return f"{key}: no reference may stand in a conf of Spark, which shows its confs"
    if key in _READ_AS_TYPED and find(text):
        return f"{key}: no reference may stand there, since it is read before they are resolved"
    return ""
