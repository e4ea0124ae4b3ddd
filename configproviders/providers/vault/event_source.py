"""Where Vault's events come from: a WebSocket, opened under the settings of all other requests.

Two rules of a policy let somebody listen: ``read`` on ``sys/events/subscribe/<type>``, and on the
secrets ``subscribe``, with ``subscribe_event_types``. Without the second Vault is silent.
https://developer.hashicorp.com/vault/api-docs/system/events
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from contextlib import ExitStack
from http import HTTPStatus
from http.client import HTTPConnection
from urllib.parse import quote, urljoin, urlsplit

from requests.utils import check_header_validity

from ...errors import LookupDenied, LookupFailed, PathNotFound, ProviderUnavailable
from . import settings as s
from .transport import Transport, proxy_of
from .websocket import Line, NoWebSocketError, WebSocket

_OPEN_SECONDS = 10.0
_NO_EVENTS = (400, 404, 405, 501)
_MOVED = (301, 302, 303, 307, 308)


class EventSource:
    """Opens WebSockets for the events of one Vault server. Thread-safe; it keeps no token."""

    def __init__(self, settings: Mapping[str, object], transport: Transport) -> None:
        """Take *settings*, and from *transport* what it has made of them."""
        self._transport = transport
        self._address = s.ADDR.read(settings).rstrip("/")
        self._namespace = s.NAMESPACE.read(settings)
        self._server_name = s.SERVER_NAME.read(settings)
        self._proxy = proxy_of(settings)
        self._seconds = min(s.TIMEOUT.read(settings).total_seconds(), _OPEN_SECONDS)
        self.path = f"sys/events/subscribe/{s.EVENT_TYPES.read(settings)}"

    def open(self, token: str, line: Line) -> WebSocket:
        """Return a WebSocket, with its socket on *line*.

        Raises :class:`PathNotFound` if the server has no events, :class:`LookupDenied` if it
        refuses them, and else :class:`ProviderUnavailable`.
        """
        url = f"{self._address}/v1/{quote(self.path, safe='/*')}?json=true"
        for _ in range(2):  # A standby sends us on to the active server.
            try:
                return self._open(url, token, line)
            except Exception as error:  # noqa: BLE001  Of a library, and of a server that may be any.
                failure, url = self._failure(error), _target(error, url)
            if not url:
                break
        raise failure  # Outside, or what the library raised would hang on it.

    def _open(self, url: str, token: str, line: Line) -> WebSocket:
        parts = urlsplit(url)
        host, is_https = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if is_https else 80)
        self._transport.count()
        with ExitStack() as opened:  # It closes them if the next step fails.
            connected = opened.enter_context(self._dial(host, port))
            line.hold(connected)
            if is_https:
                tls = self._transport.tls() or ssl.create_default_context()
                secured = tls.wrap_socket(connected, server_hostname=self._server_name or host)
                connected = opened.enter_context(secured)
                line.hold(connected)
            websocket = WebSocket(connected)
            websocket.open(f"ws{url.removeprefix('http')}", self._headers(token), self._seconds)
            opened.pop_all()
        return websocket

    def _dial(self, host: str, port: int) -> socket.socket:
        if not self._proxy:
            return socket.create_connection((host, port), self._seconds)
        proxy = urlsplit(self._proxy)
        if proxy.scheme != "http":
            raise ProviderUnavailable(f"Vault's events pass no proxy with {proxy.scheme}: use http")
        way = HTTPConnection(proxy.hostname or "", proxy.port, timeout=self._seconds)
        way.set_tunnel(host, port, self._transport.proxy_headers(self._proxy))
        try:
            way.connect()
        except BaseException:
            way.close()
            raise
        connected: socket.socket = way.sock
        return connected

    def _headers(self, token: str) -> dict[str, str]:
        headers = {"X-Vault-Token": token, "X-Vault-Request": "true"}
        if self._namespace:
            headers["X-Vault-Namespace"] = self._namespace
        for header in headers.items():
            check_header_validity(header)
        return headers

    def _failure(self, error: Exception) -> LookupFailed:
        if isinstance(error, LookupFailed):
            return error
        host = urlsplit(self._address).netloc
        status = error.status if isinstance(error, NoWebSocketError) else 0
        if status == HTTPStatus.FORBIDDEN:
            return LookupDenied(f"{self.path!r} is refused by Vault (403): a policy must allow it")
        if status in _NO_EVENTS:
            return PathNotFound(
                f"Vault at {host} has no events ({status}): Vault Enterprise has, from 1.16 on"
            )
        reason = f"it answers with {status}" if status else _reason(error)
        return ProviderUnavailable(f"Vault at {host} does not send its events: {reason}")


def _target(error: Exception, url: str) -> str:
    """Return where the server sends who asked for *url*; empty if nowhere, or out of TLS."""
    if not isinstance(error, NoWebSocketError) or error.status not in _MOVED:
        return ""
    target = urljoin(url, error.location)
    target = f"http{target.removeprefix('ws')}" if target.startswith("ws") else target
    allowed = ("https://", "http://") if url.startswith("http://") else ("https://",)
    return target if target.startswith(allowed) else ""


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "the package websockets is missing: pip install 'configproviders[vault]'"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not accepted: see vault.ssl.ca"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return getattr(error, "strerror", None) or type(error).__name__
