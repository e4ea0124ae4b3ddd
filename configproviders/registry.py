"""From ``config.providers…`` settings to live providers, by the names that Kafka uses.

::

    config.providers=secrets,env
    config.providers.secrets.class=file
    config.providers.secrets.param.allowed.paths=/run/secrets
    config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import TypeVar

from .config_def import MILLISECONDS, SECONDS, Alias, ConfigKey, ConfigType
from .errors import ConfigException, there_is
from .provider import ConfigProvider

V = TypeVar("V")
W = TypeVar("W")

SETTING = "config.providers"
ENTRY_POINTS = "configproviders.providers"
_NEARLY_A_SETTING = "config.provider"
_DEFAULTS = ("file", "directory", "env")

SHORT_NAMES = {
    "file": "configproviders.providers.file:FileConfigProvider",
    "directory": "configproviders.providers.directory:DirectoryConfigProvider",
    "env": "configproviders.providers.env:EnvVarConfigProvider",
    "vault": "configproviders.providers.vault:VaultConfigProvider",
    "secretsmanager": "configproviders.providers.aws:SecretsManagerConfigProvider",
    "ssm": "configproviders.providers.aws:SsmConfigProvider",
}
JAVA_CLASSES = {
    "org.apache.kafka.common.config.provider.FileConfigProvider": "file",
    "org.apache.kafka.common.config.provider.DirectoryConfigProvider": "directory",
    "org.apache.kafka.common.config.provider.EnvVarConfigProvider": "env",
    "io.lenses.connect.secrets.providers.VaultSecretProvider": "vault",
    "io.confluent.csid.config.provider.vault.VaultConfigProvider": "vault",
    "com.github.jcustenborder.kafka.config.vault.VaultConfigProvider": "vault",
    "io.lenses.connect.secrets.providers.AWSSecretProvider": "secretsmanager",
    "io.confluent.csid.config.provider.aws.SecretsManagerConfigProvider": "secretsmanager",
    "com.github.jcustenborder.kafka.config.aws.SecretsManagerConfigProvider": "secretsmanager",
    "com.amazonaws.kafka.config.providers.SecretsManagerConfigProvider": "secretsmanager",
    "com.amazonaws.kafka.config.providers.SsmParamStoreConfigProvider": "ssm",
}


def _more_than_none(unit: ConfigType[timedelta]) -> ConfigType[timedelta]:
    def parse(text: str) -> timedelta:
        if time := unit.parse(text):
            return time
        raise ValueError("write 1 or more")

    return ConfigType(unit.name, parse)


POLL_INTERVAL = ConfigKey(
    "poll.interval.ms",
    _more_than_none(MILLISECONDS),
    None,
    "medium",
    "How often what somebody subscribes to is asked for again, to see whether it changed; else as"
    " often as the watcher does.",
    (Alias("polling.interval.seconds", "csid", _more_than_none(SECONDS)),),
)
"""A setting of any provider, of which the provider itself learns nothing."""


def split_settings(configs: Mapping[str, V]) -> tuple[dict[str, V], dict[str, V]]:
    """Return the ``config.providers…`` entries of *configs*, and all the others.

    A misspelt ``config.provider`` is among the first, and :func:`load_providers` refuses it.
    """
    settings: dict[str, V] = {}
    others: dict[str, V] = {}
    for key, value in configs.items():
        part = settings if key.startswith(_NEARLY_A_SETTING) else others
        part[key] = value
    return settings, others


def load_providers(configs: Mapping[str, object]) -> dict[str, ConfigProvider]:
    """Make and configure the providers that *configs* declares, by name.

    ``config.providers`` lists the names, separated by commas. ``config.providers.<name>.class`` is
    a short name (``file``), an entry point of the group ``configproviders.providers``,
    ``package.module:Class``, or the Java name of one of Kafka's providers. What stands under
    ``config.providers.<name>.param.`` is handed to :meth:`ConfigProvider.configure`, but for what
    asks for a cache around it (``secret.default.ttl.ms``, ``max.stale.ms``, ``negative.ttl.ms``)
    and for what a watcher reads: ``poll.interval.ms`` becomes the provider's ``poll_interval``.
    A provider that has one of these settings itself gets it. All other entries are left alone.

    Raises :class:`ConfigException`, after closing the providers already made, for a class that is
    missing or cannot be used, and for a ``config.provider…`` entry that belongs to none of the
    names: a provider whose settings were passed over would allow everything. The caller closes the
    ones returned.
    """
    names = _names(configs)
    _refuse_strays(configs, names)
    providers: dict[str, ConfigProvider] = {}
    with ExitStack() as made:
        for name in names:
            providers[name] = _load(name, configs, made)
        made.pop_all()
    return providers


@contextmanager
def open_providers(*sources: Mapping[str, object]) -> Iterator[dict[str, ConfigProvider]]:
    """Load the providers of all *sources*, and close them at the end, but not what they leased.

    If no source has any setting for providers, they are ``file``, ``directory`` and ``env``.
    Raises :class:`ConfigException` as :func:`load_providers`, and for a name in two sources.
    """
    with ExitStack() as opened:
        providers: dict[str, ConfigProvider] = {}
        for source in sources:
            loaded = load_providers(source)
            for provider in loaded.values():
                opened.callback(_close, provider)
                provider.values_outlive_it = True  # The config is used when this is left.
            if both := sorted(providers.keys() & loaded):
                raise ConfigException(f"provider {both[0]!r} is declared twice")
            providers.update(loaded)
        declared = any(split_settings(source)[0] for source in sources)
        yield providers if declared else {name: find_class(name)() for name in _DEFAULTS}


def find_class(name: str) -> type[ConfigProvider]:
    """Return the provider class that *name* stands for; raise :class:`ConfigException`."""
    short_name = JAVA_CLASSES.get(name, name)
    target = SHORT_NAMES.get(short_name, short_name)
    found = _imported(target) if ":" in target else _entry_point(target)
    if not (isinstance(found, type) and issubclass(found, ConfigProvider)):
        raise ConfigException(f"{name!r} is not a ConfigProvider class")
    return found


def _names(configs: Mapping[str, object]) -> list[str]:
    listed = configs.get(SETTING, "")
    if not isinstance(listed, str):
        kind = type(listed).__name__
        raise ConfigException(f"{SETTING} is text, names separated by commas, not {kind}")
    return list(dict.fromkeys(name for part in listed.split(",") if (name := part.strip())))


def _refuse_strays(configs: Mapping[str, object], names: Collection[str]) -> None:
    for key in split_settings(configs)[0]:
        classes = {f"{SETTING}.{name}.class" for name in names}
        params = tuple(f"{SETTING}.{name}.param." for name in names)
        if key == SETTING or key in classes or key.startswith(params):
            continue
        raise ConfigException(
            f"{key!r} sets up no provider: {SETTING} lists {', '.join(names) or 'none'}, and each"
            f" has {SETTING}.<name>.class and {SETTING}.<name>.param.<setting>"
        )


def _load(name: str, configs: Mapping[str, object], made: ExitStack) -> ConfigProvider:
    prefix = f"{SETTING}.{name}."
    class_name = configs.get(f"{prefix}class")
    if not class_name:
        raise ConfigException(
            f"{prefix}class is missing: write a short name ({', '.join(SHORT_NAMES)}) or"
            " package.module:Class"
        )
    settings = {
        key.removeprefix(f"{prefix}param."): value
        for key, value in configs.items()
        if key.startswith(f"{prefix}param.")
    }
    from .cache import with_cache

    try:
        provider = find_class(str(class_name).strip())()
        made.callback(_close, provider)
        interval = _poll_interval(settings, provider)
        provider = with_cache(provider, settings)
        if interval is not None:
            provider.poll_interval = interval
    except ConfigException as error:
        raise ConfigException(f"provider {name!r}: {error}") from error
    except Exception as error:  # The border around a plugin; its text may hold a setting.
        raise ConfigException(
            f"provider {name!r}: {class_name} cannot be set up: {type(error).__name__}"
        ) from error
    return provider


def _poll_interval(settings: dict[str, object], provider: ConfigProvider) -> timedelta | None:
    """Take the setting out of *settings* and read it, unless *provider* has it itself."""
    own = {name for key in provider.config_def for name in _spellings(key)}
    names = [name for name in _spellings(POLL_INTERVAL) if name in settings and name not in own]
    return POLL_INTERVAL.read({name: settings.pop(name) for name in names})


def _spellings(key: ConfigKey[V, W]) -> list[str]:
    return [key.name, *(alias.name for alias in key.aliases)]


def _close(provider: ConfigProvider) -> None:
    with suppress(Exception):  # What was asked for is done; a plugin's farewell cannot undo it.
        provider.close()


def _imported(target: str) -> object:
    import pkgutil

    try:
        return pkgutil.resolve_name(target)
    except (ImportError, AttributeError, ValueError) as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001  Any code may stand in a module.
        reason = type(error).__name__
    raise ConfigException(f"cannot import {target!r}: {reason}")


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
