"""One HTTP request of the SDK: counted, within its time, ended on demand, and out of the logs.

The SDK's own timeouts are per operation of a socket, so that an answer which drips goes on for as
long as it likes. Therefore requests are sent from here, by a handler of the event ``before-send``,
which may answer in the place of the SDK. The body ends with its attempt; what drips in before it,
the headers, may take longer.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .failures import TIMED_OUT, ServiceError

if TYPE_CHECKING:
    import logging

    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.client import BaseClient
    from botocore.config import Config
    from botocore.httpsession import URLLib3Session

    from .settings import Settings

_CONNECTIONS = 32
_PIECE = 1 << 16

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class Transport:
    """Sends the requests of the clients that it is given. Thread-safe."""

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        """Take timeout and retries from *settings*; *clock* tells monotonic seconds."""
        self._timeout = settings.timeout.total_seconds()
        self._attempts = settings.retries + 1
        self._clock = clock
        self._counting = threading.Lock()
        self._connections: WeakSet[Any] = WeakSet()
        self.calls_made = 0

    @contextmanager
    def deadline(self, seconds: float | None = None) -> Iterator[None]:
        """Give all requests of this thread together *seconds*, or the time that one may take."""
        token = _deadline.set(self._clock() + (self._timeout if seconds is None else seconds))
        try:
            yield
        finally:
            _deadline.reset(token)

    def config(self) -> Config:
        """Return what clients are made with."""
        from botocore.config import Config

        share = self._timeout / self._attempts
        return Config(
            retries={"mode": "standard", "total_max_attempts": self._attempts},
            connect_timeout=share,
            read_timeout=share,
            max_pool_connections=_CONNECTIONS,
        )

    def carry(self, client: BaseClient) -> None:
        """Send what *client* sends."""
        http = client._endpoint.http_session  # type: ignore[attr-defined]  # noqa: SLF001  It has no other way.
        pools = getattr(http, "_pool_classes_by_scheme", {})
        pools.update({scheme: self._remembering(pool) for scheme, pool in pools.items()})
        send: Any = partial(self._send, http)  # The stubs do not know that what it returns counts.
        client.meta.events.register("before-send", send)

    def interrupt(self) -> None:
        """Have the requests that wait for an answer fail now, as if the server had hung up."""
        with self._counting:
            connections = list(self._connections)
        for connection in connections:
            _hang_up(connection.sock)

    def _remembering(self, pool: Any) -> type:
        """Return a class of pools like *pool*, but of connections that can be interrupted."""
        remember = self._remember

        class Connection(pool.ConnectionCls):  # type: ignore[misc]  # It is known when it runs.
            def __init__(self, *args: Any, **named: Any) -> None:
                super().__init__(*args, **named)
                remember(self)

        return type(pool.__name__, (pool,), {"ConnectionCls": Connection})

    def _remember(self, connection: object) -> None:
        with self._counting:
            self._connections.add(connection)

    def _send(self, http: URLLib3Session, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        """Return the whole answer; raise the errors of the SDK, which it tries again after."""
        from botocore.exceptions import BotoCoreError

        start, deadline = self._clock(), _deadline.get()
        if deadline is None:
            deadline = start + self._timeout
        if start > deadline:
            raise ServiceError(TIMED_OUT)
        with self._counting:
            self.calls_made += 1
        end = min(deadline, start + self._timeout / self._attempts)
        request.stream_output = True
        context: dict[str, object] | None = getattr(request, "context", None)
        if context is not None:  # As newer versions of the SDK have it.
            context["read_timeout"] = max(end - start, 0.001)
        try:
            response = http.send(request)
            self._read_body(response, end)
        except BotoCoreError:
            if self._clock() < deadline:
                raise
        else:
            return response
        raise ServiceError(TIMED_OUT)

    def _read_body(self, response: AWSResponse, end: float) -> None:
        from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
        from urllib3.exceptions import HTTPError
        from urllib3.exceptions import ReadTimeoutError as SocketTimeoutError

        try:
            response._content = b"".join(self._pieces(response.raw, end))  # type: ignore[attr-defined]  # noqa: SLF001  Where the SDK keeps it.
        except (TimeoutError, SocketTimeoutError) as error:
            raise ReadTimeoutError(endpoint_url=response.url, error=error) from None
        except (HTTPError, OSError, ValueError) as error:
            raise ConnectionClosedError(endpoint_url=response.url, error=error) from None

    def _pieces(self, raw: Any, end: float) -> Iterator[bytes]:
        while True:
            left = end - self._clock()
            if left <= 0:
                raw.close()
                raise TimeoutError
            socket = getattr(getattr(raw, "connection", None), "sock", None)
            if socket is not None:
                socket.settimeout(left)
            piece = raw.read1(_PIECE)
            if not piece:
                return
            yield piece


def _hang_up(sock: Any) -> None:
    """End both directions of *sock*, which another thread may be reading.

    Through a copy of the descriptor: that of TLS would first go back to sending in clear.
    """
    with suppress(OSError, AttributeError), socket.socket(fileno=os.dup(sock.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def silence_sdk() -> None:
    """Have the SDK log no secret while a lookup of ours is under way in the thread.

    It logs requests, which are signed, and answers for debugging, and errors with their text.
    """
    import logging

    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"boto3", "botocore"}:
            logging.getLogger(name).addFilter(_without_secrets)


def _without_secrets(record: logging.LogRecord) -> bool:
    """Pass what others do as it is; of ours no debugging, and no text of an error."""
    if _deadline.get() is None:
        return True
    record.exc_info = record.exc_text = None
    return record.levelno > 10  # noqa: PLR2004  logging.DEBUG.
