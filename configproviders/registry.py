"""From ``config.providers…`` settings to live providers, by the names that Kafka uses.

::

    config.providers=secrets,env
    config.providers.secrets.class=file
    config.providers.secrets.param.allowed.paths=/run/secrets
    config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TypeVar

from .errors import ConfigException, there_is
from .provider import ConfigProvider

V = TypeVar("V")

SETTING = "config.providers"
ENTRY_POINTS = "configproviders.providers"

SHORT_NAMES = {
    "file": "configproviders.providers.file:FileConfigProvider",
    "directory": "configproviders.providers.directory:DirectoryConfigProvider",
    "env": "configproviders.providers.env:EnvVarConfigProvider",
}
JAVA_CLASSES = {
    "org.apache.kafka.common.config.provider.FileConfigProvider": "file",
    "org.apache.kafka.common.config.provider.DirectoryConfigProvider": "directory",
    "org.apache.kafka.common.config.provider.EnvVarConfigProvider": "env",
}


def split_settings(configs: Mapping[str, V]) -> tuple[dict[str, V], dict[str, V]]:
    """Return the ``config.providers…`` entries of *configs*, and all the others."""
    settings: dict[str, V] = {}
    others: dict[str, V] = {}
    for key, value in configs.items():
        part = settings if key == SETTING or key.startswith(f"{SETTING}.") else others
        part[key] = value
    return settings, others


def load_providers(configs: Mapping[str, object]) -> dict[str, ConfigProvider]:
    """Make and configure the providers that *configs* declares, by name.

    ``config.providers`` lists the names, separated by commas. ``config.providers.<name>.class`` is
    a short name (``file``), an entry point of the group ``configproviders.providers``,
    ``package.module:Class``, or the Java name of one of Kafka's providers. What stands under
    ``config.providers.<name>.param.`` is handed to :meth:`ConfigProvider.configure`. All other
    entries are left alone.

    Raises :class:`ConfigException` for a class that is missing or cannot be used, after closing
    the providers already made. The caller closes the ones returned.
    """
    providers: dict[str, ConfigProvider] = {}
    with ExitStack() as made:
        for name in _names(configs):
            providers[name] = made.enter_context(_load(name, configs))
        made.pop_all()
    return providers


def default_providers() -> dict[str, ConfigProvider]:
    """Return ``file``, ``directory`` and ``env`` as they are without settings."""
    return {name: find_class(name)() for name in ("file", "directory", "env")}


def find_class(name: str) -> type[ConfigProvider]:
    """Return the provider class that *name* stands for; raise :class:`ConfigException`."""
    short_name = JAVA_CLASSES.get(name, name)
    target = SHORT_NAMES.get(short_name, short_name)
    found = _imported(target) if ":" in target else _entry_point(target)
    if not (isinstance(found, type) and issubclass(found, ConfigProvider)):
        raise ConfigException(f"{name!r} is not a ConfigProvider class")
    return found


def _names(configs: Mapping[str, object]) -> list[str]:
    listed = configs.get(SETTING)
    if listed is None:
        return []
    if not isinstance(listed, str):
        raise ConfigException(
            f"{SETTING} is text, names separated by commas, not {type(listed).__name__}"
        )
    return list(dict.fromkeys(name for part in listed.split(",") if (name := part.strip())))


def _load(name: str, configs: Mapping[str, object]) -> ConfigProvider:
    prefix = f"{SETTING}.{name}."
    class_name = configs.get(f"{prefix}class")
    if not class_name:
        given = sorted(key for key in configs if key.startswith(f"{SETTING}."))
        raise ConfigException(
            f"{prefix}class is missing: {SETTING} lists {name!r};"
            f" {there_is(f'{prefix}class', given)}"
        )
    settings = {
        key.removeprefix(f"{prefix}param."): value
        for key, value in configs.items()
        if key.startswith(f"{prefix}param.")
    }
    try:
        provider = find_class(str(class_name).strip())()
        provider.configure(settings)
    except ConfigException as error:
        raise ConfigException(f"provider {name!r}: {error}") from error
    except Exception as error:
        raise ConfigException(
            f"provider {name!r}: {class_name} cannot be set up: {type(error).__name__}"
        ) from error
    return provider


def _imported(target: str) -> object:
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise ConfigException(
            f"cannot import {target!r}: {type(error).__name__}: {error}"
        ) from error


def _entry_point(name: str) -> object:
    from importlib.metadata import entry_points

    installed = entry_points(group=ENTRY_POINTS)
    for entry_point in installed.select(name=name):
        return _imported(entry_point.value)
    names = {*SHORT_NAMES, *installed.names}
    raise ConfigException(
        f"no provider class named {name!r}; {there_is(name, names)};"
        " a class of your own is written package.module:Class"
    )
