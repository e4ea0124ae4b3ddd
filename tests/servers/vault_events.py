"""A WebSocket server of ours on loopback that stands in for the events of Vault Enterprise.

Nobody can run that without a licence. It knows one call, ``GET /v1/sys/events/subscribe/<type>``,
and wants what Vault wants for it: a token, the namespace, ``json=true``. What it sends is up to the
test. All other calls go on to a real Vault, if there is one behind it.
https://developer.hashicorp.com/vault/docs/concepts/events
"""

from __future__ import annotations

import json
import logging
import socket
import ssl
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import requests
from servers.certificates import Certificates
from servers.crossing import crossing
from servers.processes import LOOPBACK
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

_SUBSCRIBE = "/v1/sys/events/subscribe/"
_SILENT = logging.Logger("server", logging.CRITICAL + 1)  # noqa: LOG001  Not to be turned on.


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asked for; *status* is the answer to it."""

    type: str
    namespace: str | None
    token: str = field(repr=False)
    status: int


class VaultEvents:
    """Who may listen, who does, and what they are told. Thread-safe."""

    def __init__(
        self, *tokens: str, namespace: str | None = None, vault: str | None = None
    ) -> None:
        """Let in who has one of *tokens*, or one that *vault* knows, in *namespace*."""
        self.address = ""
        self.tokens = set(tokens)
        self.refusal = 0
        """The status to answer with instead of letting anybody in."""
        self.moved_to = ""
        """Where to send all who ask, as a standby does."""
        self.asked: list[Asked] = []
        self._namespace = namespace
        self._vault = vault
        self._connections: set[ServerConnection] = set()
        self._changed = threading.Condition()

    @property
    def connections(self) -> list[ServerConnection]:
        """Those who listen."""
        with self._changed:
            return list(self._connections)

    @property
    def statuses(self) -> list[int]:
        """What was answered so far."""
        return [each.status for each in self.asked]

    def wait_for(self, listeners: int, seconds: float = 20) -> None:
        """Wait until so many listen."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._connections) == listeners, seconds)

    def send(self, *messages: object) -> None:
        """Send *messages* to all who listen: text as it is, else as JSON."""
        for connection in self.connections:
            for each in messages:
                connection.send(each if isinstance(each, str | bytes) else json.dumps(each))

    def drop(self) -> None:
        """Break all connections, as a server that dies."""
        for connection in self.connections:
            connection.socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Close all connections in order, as Vault does with those of a token that has ended."""
        for connection in self.connections:
            connection.close()

    def let_in(self, connection: ServerConnection, request: Request) -> Response | None:
        """Decide on *request*: ``None`` lets it in."""
        url = urlsplit(request.path)
        token = request.headers.get("X-Vault-Token", "")
        namespace = request.headers.get("X-Vault-Namespace")
        status = self._status(url.path, url.query, token, namespace)
        asked = Asked(url.path.removeprefix(_SUBSCRIBE), namespace, token, status)
        self.asked.append(asked)
        if status == HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        answer = connection.respond(HTTPStatus(status), '{"errors":[]}')
        if status == HTTPStatus.TEMPORARY_REDIRECT:
            answer.headers["Location"] = f"{self.moved_to}{request.path}"
        return answer

    def serve(self, connection: ServerConnection) -> None:
        """Keep *connection* until it ends."""
        self._set(self._connections | {connection})
        try:
            with suppress(ConnectionClosed):
                connection.recv()  # Nobody sends anything.
        finally:
            self._set(self._connections - {connection})

    def _status(self, path: str, query: str, token: str, namespace: str | None) -> int:
        if self.refusal:
            return self.refusal
        if not path.startswith(_SUBSCRIBE) or query != "json=true":
            return HTTPStatus.BAD_REQUEST
        if self.moved_to:
            return HTTPStatus.TEMPORARY_REDIRECT
        is_allowed = namespace == self._namespace and self._knows(token)
        return HTTPStatus.SWITCHING_PROTOCOLS if is_allowed else HTTPStatus.FORBIDDEN

    def _knows(self, token: str) -> bool:
        if self._vault is None:
            return token in self.tokens
        url, headers = f"{self._vault}/v1/auth/token/lookup-self", {"X-Vault-Token": token}
        return requests.get(url, headers=headers, timeout=20).ok

    def _set(self, connections: set[ServerConnection]) -> None:
        with self._changed:
            self._connections = connections
            self._changed.notify_all()


def event(kind: str, mount: str, **metadata: object) -> dict[str, object]:
    """Return an event as Vault sends it, from a mount."""
    number = str(uuid.uuid4())
    return {
        "id": number,
        "source": "https://vaultproject.io/",
        "specversion": "1.0",
        "type": "*",
        "data": {
            "event": {"id": number, "metadata": metadata},
            "event_type": kind,
            "plugin_info": {"mount_class": "secret", "mount_path": mount},
        },
        "datacontentype": "application/cloudevents",
        "time": "2026-01-01T12:00:00.000000Z",
    }


@contextmanager
def vault_events(
    *tokens: str,
    namespace: str | None = None,
    tls: Certificates | None = None,
    vault: str | None = None,
) -> Iterator[VaultEvents]:
    """Serve on a free port: with *tls*, or before the real Vault at the address *vault*.

    With TLS it wants a certificate of the client's, too.
    """
    events = VaultEvents(*tokens, namespace=namespace, vault=vault)
    context = None if tls is None else _context(tls)
    with serve(
        events.serve,
        LOOPBACK,
        0,
        ssl=context,
        process_request=events.let_in,
        close_timeout=1,
        logger=_SILENT,
    ) as server:
        port = server.socket.getsockname()[1]
        events.address = f"{'https' if tls else 'http'}://{LOOPBACK}:{port}"
        thread = threading.Thread(target=server.serve_forever, name="vault-events-server")
        thread.start()
        try:
            if vault is None:
                yield events
                return
            with crossing({f"GET {_SUBSCRIBE}": events.address, "": vault}) as before:
                events.address = before.address
                yield events
        finally:
            server.shutdown()
            thread.join()


def _context(tls: Certificates) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.server, tls.server_key)
    context.load_verify_locations(tls.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    return context
