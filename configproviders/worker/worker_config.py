"""What a worker is told when it starts: ``worker.properties``, read and checked as a whole."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from ..config_def import ConfigKey
from ..config_file import read_configs
from ..errors import ConfigException, near, printable
from ..reference import find
from ..registry import SETTING, find_class, load_providers, split_settings
from ..spark.cleaning import remember_result
from ..transformer import ConfigTransformer
from . import worker_keys as keys
from .listener import Listener
from .response_header import ResponseHeader

ANY = "*"
"""Allows everything, where a list of what is allowed must be given."""

_SPARK = "spark."
_OWN = {key.name for key in keys.WORKER_KEYS}
_KNOWN = sorted({*_OWN, *keys.WITHOUT_EFFECT, SETTING})
_ALLOW_LISTS = {"allowed.paths", "allowlist.pattern"}


@dataclass(frozen=True, slots=True, repr=False)
class WorkerConfig:
    """The settings of a worker, as :mod:`~configproviders.worker.worker_keys` describes them.

    ``admin_listeners`` is ``None`` where admin endpoints are served with all others, and empty
    where they are not served. ``config_providers`` are the ``config.providers…`` entries that say
    which providers there are; with none there are no providers. ``spark`` are the entries for the
    session, with references. ``ignored`` are names of settings that have no effect here.
    ``repr`` shows nothing of it.
    """

    listeners: tuple[Listener, ...]
    admin_listeners: tuple[Listener, ...] | None
    rest_allowed_hosts: tuple[str, ...]
    rest_advertised_host_name: str | None
    rest_advertised_port: int | None
    access_control_allow_origin: tuple[str, ...]
    access_control_allow_methods: tuple[str, ...]
    response_http_headers_config: tuple[ResponseHeader, ...]
    plugin_allowed_modules: tuple[str, ...]
    config_storage_file_filename: str
    cluster_id: str
    reload_settle: timedelta
    launch_concurrency: int
    task_shutdown_graceful_timeout: timedelta
    retry_backoff: timedelta
    retry_backoff_max: timedelta
    config_providers: Mapping[str, str]
    spark: Mapping[str, str]
    ignored: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str) -> Self:
        """Read the file at *path*; raise :class:`ConfigException` as :meth:`of`, with the path."""
        entries = read_configs(path)
        try:
            return cls.of(entries)
        except ConfigException as error:
            raise ConfigException(f"{printable(path)}: {error}") from error

    @classmethod
    def of(cls, entries: Mapping[str, str]) -> Self:
        """Take *entries*; references in settings of the worker itself are resolved now.

        Raises :class:`ConfigException` that says all that is wrong.
        """
        providers, others = split_settings(entries)
        spark = {key: text for key, text in others.items() if key.startswith(_SPARK)}
        own = {key: text for key, text in others.items() if key in _OWN}
        more = sorted(others.keys() - spark.keys() - own.keys())
        problems = [
            *filter(None, map(_unknown, more)),
            *filter(None, map(_misplaced, spark)),
            *_unlimited(providers),
        ]
        limited = _without_any(providers)
        if not problems:
            own = _resolved(own, limited)
        problems += filter(None, (_problem(key, own) for key in keys.WORKER_KEYS))
        if problems:
            raise ConfigException("\n  ".join([*_count(problems), *problems]))
        return cls(
            listeners=keys.LISTENERS.read(own),
            admin_listeners=keys.ADMIN_LISTENERS.read(own),
            rest_allowed_hosts=keys.ALLOWED_HOSTS.read(own),
            rest_advertised_host_name=keys.ADVERTISED_HOST.read(own),
            rest_advertised_port=keys.ADVERTISED_PORT.read(own),
            access_control_allow_origin=keys.ALLOW_ORIGIN.read(own),
            access_control_allow_methods=keys.ALLOW_METHODS.read(own),
            response_http_headers_config=keys.RESPONSE_HEADERS.read(own),
            plugin_allowed_modules=keys.ALLOWED_MODULES.read(own),
            config_storage_file_filename=keys.STORAGE.read(own),
            cluster_id=keys.CLUSTER_ID.read(own),
            reload_settle=keys.SETTLE.read(own),
            launch_concurrency=keys.CONCURRENCY.read(own),
            task_shutdown_graceful_timeout=keys.SHUTDOWN.read(own),
            retry_backoff=keys.BACKOFF.read(own),
            retry_backoff_max=keys.MAX_BACKOFF.read(own),
            config_providers=limited,
            spark=spark,
            ignored=tuple(more),
        )

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The names that requests may have in their Host header, in lower case; ``*`` is any.

        Addresses without a name need no permission: nobody can make them mean something else.
        """
        hosts = [each.host for each in (*self.listeners, *(self.admin_listeners or ()))]
        machine = "" if self.is_local else socket.gethostname()
        own = ["localhost", machine, self.rest_advertised_host_name or "", *hosts]
        names = (name.lower() for name in (*own, *self.rest_allowed_hosts) if name)
        return tuple(dict.fromkeys(names))

    @property
    def is_local(self) -> bool:
        """Whether only programs of the same machine reach any listener."""
        return all(each.is_loopback for each in (*self.listeners, *(self.admin_listeners or ())))

    @property
    def warnings(self) -> list[str]:
        """What somebody should know who starts a worker with this."""
        found = []
        if not self.is_local:
            found.append(
                "the REST API has no authentication and listens beyond this machine: whoever"
                " reaches it may do everything; put a proxy in front that asks who it is"
            )
        if self.ignored:
            found.append(f"settings without effect here: {printable(', '.join(self.ignored))}")
        return found

    def worker_id(self, port: int) -> str:
        """Return the ``host:port`` by which others know the worker, which listens on *port*."""
        host = self.rest_advertised_host_name or self.listeners[0].host or socket.gethostname()
        return f"{host}:{self.rest_advertised_port or port}"


def _count(problems: list[str]) -> list[str]:
    return [f"{len(problems)} settings are wrong"] if len(problems) > 1 else []


def _unknown(name: str) -> str:
    """Return what is wrong with a setting that is not ours; nothing if Kafka Connect has it."""
    if name in keys.REFUSED:
        return f"{name}: {keys.REFUSED[name]}"
    known = name in keys.WITHOUT_EFFECT or name.startswith(keys.PREFIXES_WITHOUT_EFFECT)
    if known and not name.startswith(keys.OURS):
        return ""
    return f"no setting named {printable(name)!r}; {near(name, _KNOWN)}".removesuffix("; ")


def _misplaced(name: str) -> str:
    """Return what is wrong with an entry for the session."""
    if name.startswith(f"{_SPARK}{SETTING}"):
        return f"{printable(name)}: write it without {_SPARK!r}"
    return ""


def _unlimited(providers: Mapping[str, str]) -> Iterator[str]:
    """Yield which allow-lists are missing: over REST, anybody may write any reference."""
    listed = [name for part in providers.get(SETTING, "").split(",") if (name := part.strip())]
    for name in listed:
        key, prefix = f"{SETTING}.{name}.class", f"{SETTING}.{name}.param."
        class_name = providers.get(key, "")
        if not class_name:
            continue  # Loading it says so.
        try:
            settings = {each.name for each in find_class(class_name.strip()).config_def}
        except ConfigException as error:
            yield f"{printable(key)}: {error}"
            continue
        for setting in sorted(settings & _ALLOW_LISTS):
            if not providers.get(prefix + setting, "").strip():
                yield f"{printable(prefix + setting)} is missing: say what, or {ANY} for all"


def _without_any(providers: Mapping[str, str]) -> dict[str, str]:
    """Return *providers* without the lists that allow everything, which is what no list means."""
    lists = tuple(f".param.{name}" for name in _ALLOW_LISTS)
    return {
        key: text
        for key, text in providers.items()
        if not (key.endswith(lists) and text.strip() == ANY)
    }


def _resolved(own: Mapping[str, str], providers: Mapping[str, str]) -> dict[str, str]:
    """Return *own* with values in the place of references; all of them must have one."""
    if not any(True for text in own.values() for _ in find(text)):
        return dict(own)
    with ExitStack() as opened:
        loaded = load_providers(providers)
        for provider in loaded.values():
            opened.callback(provider.close)
            provider.values_outlive_it = True
        result = ConfigTransformer(loaded).transform(own, strict=True)
    remember_result(result)
    return result.data


def _problem(key: ConfigKey[object, object], own: Mapping[str, str]) -> str:
    try:
        key.read(own)
    except ConfigException as error:
        return str(error)
    return ""
