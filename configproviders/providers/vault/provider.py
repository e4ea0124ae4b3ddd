"""``${vault:secret/data/db:password}``: KV engines, dynamic and static credentials, and others."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import defaultdict
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
from ...path_options import TTL, merged, split_options, ttl_of, with_options
from ...provider import ConfigProvider
from ...single_flight import renew_in_children
from . import auth, environment, policy
from . import settings as s
from .health import VaultHealth
from .lifetimes import whole
from .mounts import Mount, Mounts, is_kv2, may_be_api_path

if TYPE_CHECKING:
    from ...provider import Changed
    from .client import Answer
    from .connection import Connection
    from .events import Events

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
        self._is_closed = False
        self._connection: Connection | None
        self._events: Events | None
        self._settings: Mapping[str, object] = environment.complete({}, self._environ)
        self.renew()
        renew_in_children(self)

    @property
    def calls_made(self) -> int:  # type: ignore[override]  # It is counted below.
        """How many requests were sent since the provider was made."""
        return self._connection.calls_made if self._connection else 0

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        settings = environment.complete(configs, self._environ)
        auth.check(settings)
        self._settings = settings
        self.renew()

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Return the path as Vault's API has it, as far as settings say it, with all options in it.

        Raises :class:`PathNotFound` if there is no path.
        """
        key, more = _key_options(key)
        if not path:
            raise PathNotFound(
                f"a reference to Vault has a path and a key, not {shorten(key)!r} alone:"
                " ${vault:secret/db:password}"
            )
        path, options = self._split(path, more)
        whole = self._whole(path)
        mount = self._mounts.said(whole)
        at = mount.api_path(whole) if mount else whole
        if at.startswith(self._prefix):  # Else data/ belongs within the prefix; get knows.
            path = at.removeprefix(self._prefix)
        return with_options(path, options), key

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the fields *keys* of the secret at *path*; raise :class:`LookupFailed`.

        Its TTL is that of a lease or of a static role's password, or the one that *path* asks for.
        """
        return self._look_up(path, keys, {})

    def batches(self, paths: Collection[str]) -> list[list[str]]:
        """Return each path alone, but what may be one secret in two spellings together."""
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            name, _, options = path.partition("?")
            version = [each for each in options.split("&") if each.startswith(_VERSION)]
            alike[f"{name.replace('/data/', '/', 1)}?{version}"].append(path)
        return list(alike.values())

    def get_many(
        self, lookups: Mapping[str, Collection[str] | None]
    ) -> dict[str, ConfigData | ConfigException]:
        """Return what :meth:`get` returns or raises for each; one secret is read once."""
        answers: dict[str, ConfigData | ConfigException] = {}
        read: dict[tuple[str, str], Answer] = {}
        for path, keys in lookups.items():
            try:
                answers[path] = self._look_up(path, keys, read)
            except ConfigException as error:
                answers[path] = error
        return answers

    def invalidate(self, path: str | None = None) -> None:
        """Have the credentials leased for *path*, or all, issued anew by the next :meth:`get`."""
        if self._connection:
            self._connection.forget(self._place(path) if path else None)

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return the least policy in HCL; *online* asks for the version of KV mounts."""
        paths = []
        for located in lookups:
            path = self._place(located)
            mount = self._mounts.known(path)
            if online and not mount:
                with self._connected().deadline():
                    mount = self._mounts.of(path)
            if mount:
                paths.append(mount.api_path(path))
            else:
                paths.append(path if may_be_api_path(path) else policy.unknown(path))
        return policy.policy(paths, s.NAMESPACE.read(self._settings))

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        """Have *changed* called on Vault's events, if ``vault.events`` is set; return what ends it.

        Nothing is connected here: a thread does that, and says in the log if there are none.
        """
        if not s.EVENTS.read(self._settings):
            return None
        from .events import Events

        with self._lock:
            if self._is_closed:
                return None
            if self._events is None:
                self._events = Events(lambda line: self._connected().events(line), self._place)
            return self._events.listen(changed)

    def health(self) -> VaultHealth:
        """Say how the session is, without asking Vault."""
        if self._is_closed:
            return VaultHealth("closed")
        return self._connection.health() if self._connection else VaultHealth("new")

    def renew(self) -> None:
        """Know only the settings again, as in a forked child, which shares its parent's sockets."""
        self._lock = threading.Lock()
        self._connection = self._events = None
        prefix = s.PREFIX.read(self._settings)
        self._prefix = re.sub("/+", "/", prefix).lstrip("/")
        self._mounts = Mounts(
            self._settings, lambda path: self._connected().read(path, counts=False)
        )

    def close(self) -> None:
        """Stop listening and renewing; revoke what was leased, unless the values outlive us."""
        super().close()
        with self._lock:
            connection, self._connection = self._connection, None
            events, self._events = self._events, None
            self._is_closed = True
        if events:
            events.close()
        if connection:
            in_use = self.values_outlive_it and connection.has_leases
            connection.close(revoke=s.REVOKE.read(self._settings) and not in_use)

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

    def _place(self, path: str) -> str:
        """Return where in Vault *path* is, whatever options it has."""
        return self._whole(self._split(path)[0])

    def _whole(self, path: str) -> str:
        """Return *path* with the prefix; refuse what would lead elsewhere."""
        parts = [part for part in f"{self._prefix}{path}".split("/") if part]
        if not parts or {".", ".."} & set(parts) or not path.isprintable():
            raise PathNotFound(f"no path of Vault: {shorten(path)!r}; write secret/db")
        return "/".join(parts)

    def _split(
        self, path: str, more: Mapping[str, str] | None = None
    ) -> tuple[str, dict[str, str]]:
        """Return *path* without its options, and these; *more* are those of the key."""
        path, options = split_options(path, _OPTIONS)
        options = merged(options, more or {}, path)
        version = options.get(_VERSION, "1")
        if not (version.isascii() and version.isdigit() and int(version[:9]) > 0):
            raise ConfigException(f"?version= of {shorten(path)!r} is no version: write 1 or more")
        return path, options

    def _look_up(
        self, path: str, keys: Collection[str] | None, read: dict[tuple[str, str], Answer]
    ) -> ConfigData:
        """Return what *keys* are at *path*; *read* holds what was read just before."""
        path, options = self._split(path)
        whole, version = self._whole(path), options.get(_VERSION, "")
        connection = self._connected()
        with connection.deadline():
            at, mount, answer = self._read(connection, whole, version, read)
        found, has = _fields(answer, whole, mount)
        if version and has is None:
            raise LookupFailed(f"{shorten(whole)!r} has no versions: it is not in KV version 2")
        ttls = [connection.ttl(at), _rotation(at, answer), ttl_of(options)]
        return ConfigData(
            fields.select(found, keys),
            min((each for each in ttls if each is not None), default=None),
            version=has,
            lease=str(answer.get("lease_id") or "") or None,
            available=found.keys(),
        )

    def _read(
        self,
        connection: Connection,
        path: str,
        version: str,
        read: dict[tuple[str, str], Answer],
    ) -> tuple[str, Mount | None, Answer]:
        """Return where *path* is in Vault's API, in which mount, and what is there."""

        def ask(at: str) -> Answer:
            if (at, version) not in read:
                params = {_VERSION: version} if version else {}
                read[at, version] = _settled(at, lambda: connection.read(at, params))
            return read[at, version]

        mount = self._mounts.known(path)
        if mount is None and may_be_api_path(path):
            try:
                answer = ask(path)
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
        return at, mount, ask(at)


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


def _settled(path: str, read: Callable[[], Answer]) -> Answer:
    """Read until no rotation is under way: a static role's TTL is 0 meanwhile."""
    answer = read()
    for _ in range(_ROTATION_TRIES):
        if _seconds_to_rotation(path, answer) != 0:
            break
        time.sleep(_ROTATION_PAUSE)
        answer = read()
    return answer


def _rotation(path: str, answer: Answer) -> timedelta | None:
    seconds = _seconds_to_rotation(path, answer)
    return None if seconds is None else timedelta(seconds=seconds + _AFTER_ROTATION)


def _seconds_to_rotation(path: str, answer: Answer) -> int | None:
    """Return when the password of a static role changes; ``None`` if this is none."""
    data = answer.get("data")
    is_static = not answer.get("lease_id") and "/static-cred" in path
    ttl = str(data.get("ttl", "")) if is_static and isinstance(data, Mapping) else ""
    return whole(ttl) if ttl.isascii() and ttl.isdigit() else None
