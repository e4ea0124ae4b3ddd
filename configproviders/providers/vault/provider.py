"""``${vault:secret/data/db:password}``: KV engines, dynamic and static credentials, and others."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ... import fields
from ...data import ConfigData
from ...errors import (
    ConfigException,
    LookupDenied,
    LookupFailed,
    PathNotFound,
    ProviderUnavailable,
    shorten,
)
from ...path_options import TTL, split_options, ttl_of, with_options
from ...provider import ConfigProvider
from . import auth, environment, policy
from . import settings as s
from .health import VaultHealth
from .lifetimes import whole
from .mounts import Mount, Mounts, is_kv2, may_be_api_path

if TYPE_CHECKING:
    from .client import Answer
    from .connection import Connection

_VERSION = "version"
_OPTIONS = (_VERSION, TTL)
_ROTATION_TRIES, _ROTATION_PAUSE, _AFTER_ROTATION = 10, 0.3, 1


class VaultConfigProvider(ConfigProvider):
    """Secrets of HashiCorp Vault and OpenBao, by the path that either's CLI or API has for them.

    Without settings it finds its server and its token as Vault's CLI does (``VAULT_ADDR``,
    ``VAULT_TOKEN``, …, or ``BAO_…``). A path may end in ``?version=2`` (KV version 2) and
    ``?ttl=60000`` (milliseconds). A key is a field, or a JSON pointer into it (``/primary/host``).
    Credentials of a dynamic engine are the same for all who ask until they are replaced, and are
    kept alive until :meth:`close`, which revokes them.

    Thread-safe. Nothing is connected before the first :meth:`get`.
    """

    config_def = s.VAULT_DEF

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Take what *environ*, by default that of the process, says of settings not given."""
        self._environ = dict(os.environ if environ is None else environ)
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._is_closed = False
        self._set_up(environment.complete({}, self._environ))

    @property
    def calls_made(self) -> int:  # type: ignore[override]  # It is counted below.
        """How many requests were sent since the provider was made."""
        return self._connection.calls_made if self._connection else 0

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        settings = environment.complete(configs, self._environ)
        auth.check(settings)
        self._set_up(settings)

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Return the path as Vault's API has it, as far as that is known, with all options in it.

        Raises :class:`PathNotFound` if there is no path.
        """
        path, options = split_options(path, _OPTIONS)
        key, more = _key_options(key)
        if not path:
            raise PathNotFound(
                f"a reference to Vault has a path and a key, not {shorten(key)!r} alone:"
                " ${vault:secret/db:password}"
            )
        whole = self._whole(path)
        mount = self._mounts.known(whole)
        at = mount.api_path(whole) if mount else whole
        if at.startswith(
            self._prefix
        ):  # Else data/ belongs into the prefix, and get puts it there.
            path = at.removeprefix(self._prefix)
        return with_options(path, options | more), key

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the fields *keys* of the secret at *path*; raise :class:`LookupFailed`.

        Its TTL is that of a lease or of a static role's password, or the one that *path* asks for.
        """
        path, options = split_options(path, _OPTIONS)
        whole = self._whole(path)
        connection = self._connected()
        with connection.deadline():
            at, mount, answer = self._read(connection, whole, options)
        found, version = _fields(answer, whole, mount)
        if _VERSION in options and version is None:
            raise LookupFailed(f"{shorten(whole)!r} has no versions: it is not in KV version 2")
        ttls = (connection.ttl(at), _rotation(answer), ttl_of(options))
        return ConfigData(
            fields.select(found, keys),
            min(filter(None, ttls), default=None),
            version=version,
            lease=str(answer.get("lease_id") or "") or None,
            available=found.keys(),
        )

    def invalidate(self, path: str | None = None) -> None:
        """Have the credentials leased for *path*, or all, issued anew by the next :meth:`get`."""
        if self._connection:
            whole = self._whole(split_options(path, _OPTIONS)[0]) if path else None
            self._connection.forget(whole)

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return the least policy in HCL; *online* asks for the version of KV mounts."""
        paths = []
        for located in lookups:
            path = self._whole(split_options(located, _OPTIONS)[0])
            mount = self._mounts.known(path)
            if online and not mount:
                mount = self._mounts.of(path)
            if mount:
                paths.append(mount.api_path(path))
            else:
                paths.append(path if may_be_api_path(path) else policy.unknown(path))
        return policy.policy(paths, s.NAMESPACE.read(self._settings))

    def health(self) -> VaultHealth:
        """Say how the session is, without asking Vault."""
        if self._is_closed:
            return VaultHealth("closed")
        return self._connection.health() if self._connection else VaultHealth("new")

    def close(self) -> None:
        """Stop renewing; revoke what was leased, unless the values outlive the provider."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._is_closed = True
        if connection:
            revoke = s.REVOKE.read(self._settings) and not self.values_outlive_it
            connection.close(revoke=revoke)

    def _set_up(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._prefix = re.sub("/+", "/", s.PREFIX.read(settings)).lstrip("/")
        self._mounts = Mounts(settings, lambda path: self._connected().read(path))

    def _connected(self) -> Connection:
        with self._lock:
            if self._is_closed:
                raise ProviderUnavailable("the Vault provider is closed")
            if self._connection is None:
                self._connection = self._connect()
            return self._connection

    def _connect(self) -> Connection:
        try:
            from .connection import Connection
        except ImportError:
            missing = "Vault needs the package hvac: pip install 'configproviders[vault]'"
        else:
            return Connection(self._settings, self._environ)
        raise ProviderUnavailable(missing)

    def _whole(self, path: str) -> str:
        """Return *path* with the prefix; refuse what would lead elsewhere."""
        parts = [part for part in f"{self._prefix}{path}".split("/") if part]
        if not parts or {".", ".."} & set(parts) or not path.isprintable():
            raise PathNotFound(f"no path of Vault: {shorten(path)!r}; write secret/db")
        return "/".join(parts)

    def _read(
        self, connection: Connection, path: str, options: Mapping[str, str]
    ) -> tuple[str, Mount | None, Answer]:
        params = {_VERSION: options[_VERSION]} if _VERSION in options else {}
        mount = self._mounts.known(path)
        if mount is None and may_be_api_path(path):
            try:
                answer = connection.read(path, params)
            except auth.LoginDenied:
                raise
            except (PathNotFound, LookupDenied):
                mount = self._mounts.of(path)
                if mount is None or mount.api_path(path) == path:
                    raise
            else:
                self._mounts.learn(path, answer)
                return path, None, answer
        mount = mount or self._mounts.of(path)
        at = mount.api_path(path) if mount else path
        return at, mount, _settled(lambda: connection.read(at, params))


def _key_options(key: str) -> tuple[str, dict[str, str]]:
    try:
        return split_options(key, _OPTIONS)
    except ConfigException:
        return key, {}  # A field may have a question mark in its name.


def _fields(answer: Answer, path: str, mount: Mount | None) -> tuple[Mapping[str, Any], str | None]:
    """Return the fields of a secret, and its version if it has one."""
    data = answer.get("data")
    if isinstance(data, Mapping) and is_kv2(answer) and (mount is None or mount.is_kv2):
        data, version = data["data"], str(data["metadata"]["version"])
    else:
        version = None
    if not isinstance(data, Mapping):
        raise PathNotFound(f"nothing with fields at {shorten(path)!r} in Vault")
    return data, version


def _settled(read: Callable[[], Answer]) -> Answer:
    """Read until no rotation is under way: a static role's TTL is 0 meanwhile."""
    answer = read()
    for _ in range(_ROTATION_TRIES):
        if _seconds_to_rotation(answer) != 0:
            break
        time.sleep(_ROTATION_PAUSE)
        answer = read()
    return answer


def _rotation(answer: Answer) -> timedelta | None:
    seconds = _seconds_to_rotation(answer)
    return None if seconds is None else timedelta(seconds=seconds + _AFTER_ROTATION)


def _seconds_to_rotation(answer: Answer) -> int | None:
    """Return when the password of a static role changes; ``None`` if this is none."""
    data = answer.get("data")
    if answer.get("lease_id") or not isinstance(data, Mapping) or "ttl" not in data:
        return None
    is_static = {"rotation_period", "rotation_schedule"} & data.keys()
    return whole(data["ttl"]) if is_static else None
