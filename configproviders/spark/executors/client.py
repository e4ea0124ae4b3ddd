"""How an executor asks the driver: one connection for one question, and a cache before it."""

from __future__ import annotations

import hashlib
import socket
import ssl
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta

from ... import errors
from ...cache import CachingConfigProvider
from ...data import ConfigData
from ...errors import ConfigException, LookupFailed, ProviderUnavailable
from ...provider import ConfigProvider
from .secret import Resolved
from .tls import client_context
from .wire import Message, receive, send

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 120  # The driver may have to wait for the backend.
_ANSWER_LIMIT = 1 << 28
_MAX_STALE = timedelta(minutes=5)  # The driver may be busy.


@dataclass(frozen=True, slots=True)
class Driver:
    """Where the driver is, its certificate as PEM, and the key that it answers to."""

    host: str
    port: int
    certificate: str = field(repr=False)
    key: str = field(repr=False)

    def open(self) -> DriverResolver:
        """Return what asks it from this process."""
        return DriverResolver(self)


class DriverResolver:
    """Asks the driver, and keeps what it says until its TTL. Thread-safe."""

    def __init__(self, driver: Driver) -> None:
        """Ask *driver*, from the first text on."""
        self._provider = _DriverConfigProvider(driver)
        self._cache = CachingConfigProvider(self._provider, max_stale=_MAX_STALE)

    def resolve(self, text: str, together: Collection[str] = ()) -> Resolved:  # noqa: ARG002  The driver knows.
        """Return what the driver says of *text*, which knows by itself what goes *together*."""
        answer = self._cache.get(name_of(text))
        value, *secrets = answer.data.values()
        seconds = (answer.ttl or timedelta(0)).total_seconds()
        return Resolved(value, tuple(secrets), answer.version or "", seconds)

    def refuse(self, text: str, version: str) -> None:
        """Tell the driver that *version* was refused, and forget it here."""
        name = name_of(text)
        if self._provider.latest.get(name) == version:
            self._cache.invalidate(name)
        self._provider.ask({"text": name, "refused": version})


def name_of(text: str) -> str:
    """Return what *text* is called on the wire."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _DriverConfigProvider(ConfigProvider):
    """The driver as a provider, so that there can be a cache around it: each text is a path."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._tls = client_context(driver.certificate)
        self.latest: dict[str, str] = {}

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:  # noqa: ARG002  All.
        answer = self.ask({"text": path})
        values = [str(answer["value"]), *map(str, answer["secrets"])]
        self.latest[path] = version = str(answer["version"])
        ttl = timedelta(seconds=float(answer["seconds"]))
        return ConfigData({str(at): each for at, each in enumerate(values)}, ttl, version=version)

    def ask(self, question: Message) -> Message:
        at = self._driver.host, self._driver.port
        try:
            with (
                socket.create_connection(at, _CONNECT_SECONDS) as plain,
                self._wrapped(plain) as connection,
            ):
                send(connection, {"key": self._driver.key, **question})
                answer = receive(connection, limit=_ANSWER_LIMIT, seconds=_ANSWER_SECONDS)
        except (OSError, ValueError) as error:
            raise ProviderUnavailable(
                f"the driver does not answer at {at[0]}:{at[1]}: {error}; its DriverSecrets may be"
                " closed, or executors cannot reach it there (spark.driver.host, a firewall)"
            ) from error
        if "error" in answer:
            raise _error_class(str(answer["error"]))(str(answer["message"]))
        return answer

    def _wrapped(self, plain: socket.socket) -> ssl.SSLSocket:
        plain.settimeout(_ANSWER_SECONDS)  # Others may be served before.
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # Else it waits for more.
        return self._tls.wrap_socket(plain)


def _error_class(name: str) -> type[ConfigException]:
    found: object = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, ConfigException):
        return found
    return LookupFailed
