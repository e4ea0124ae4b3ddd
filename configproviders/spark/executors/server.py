"""The driver's side: a server that answers executors, and nobody else.

Who does not speak TLS 1.3, does not have the key or is slow gets nothing and is logged once for
each reason. A caller can only name a text that the driver made a handle for.
"""

from __future__ import annotations

import hmac
import logging
import socket
import socketserver
import ssl
import sys
import threading
from collections.abc import Callable
from typing import Any

from .wire import Message, receive, send

_log = logging.getLogger(__name__)

CONNECTIONS = 64
"""How many are spoken to at the same time; others wait."""

_SECONDS = 5.0  # For a handshake, a question, and a place among the connections.
_SEND_SECONDS = 30.0
_QUESTION_LIMIT = 4096
_LOOK_SECONDS = 0.2


class Server(socketserver.ThreadingTCPServer):
    """Answers questions over TLS, each on a connection and in a thread of its own.

    One more thread accepts: an executor asks when it likes, and the driver's own code must not
    wait for it. It ends when *is_wanted* says no, or :meth:`close` is called.
    """

    request_queue_size = 1024
    allow_reuse_address = False

    def __init__(  # noqa: PLR0913  Where, how, to whom, what, how long.
        self,
        address: tuple[str, int],
        context: ssl.SSLContext,
        key: str,
        answer: Callable[[Message], Message],
        *,
        is_wanted: Callable[[], bool] = lambda: True,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Listen at *address*; *answer* is asked for those who have *key*, *ended* called last."""
        self.address_family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        super().__init__(address, socketserver.BaseRequestHandler)
        self.timeout = _LOOK_SECONDS
        self._context, self._key, self._answer = context, key.encode(), answer
        self._is_wanted, self._ended = is_wanted, ended
        self._closing = threading.Event()
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._connections: set[socket.socket] = set()
        self._logged: set[str] = set()
        self._thread = threading.Thread(target=self._accept, name="driver-secrets", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def close(self) -> None:
        """End all connections, and wait until nobody is spoken to any more."""
        self._closing.set()
        self._thread.join()

    def _accept(self) -> None:
        try:
            while not self._closing.is_set() and self._is_wanted():
                self.handle_request()
        finally:
            for connection in list(self._connections):
                self._hang_up(connection)
            self.server_close()
            self._ended()

    def verify_request(self, _request: Any, _client_address: Any) -> bool:
        """Wait for a place among the connections; say whether there is one."""
        while not self._closing.is_set() and self._is_wanted():
            if self._free.acquire(timeout=_LOOK_SECONDS):
                return True
        return False

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Speak to one caller."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer one question, if it is one."""
        request.settimeout(_SECONDS)
        wrapped = self._context.wrap_socket(
            request, server_side=True, do_handshake_on_connect=False
        )
        with wrapped as connection:
            self._connections.add(connection)
            try:
                self._converse(connection, client_address)
            except (OSError, ValueError) as error:
                self._log_once(f"{type(error).__name__} in TLS or in the question", client_address)
            finally:
                self._connections.discard(connection)

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """Log what went wrong here, instead of printing it."""
        error = sys.exception()
        _log.error("a question of an executor was not answered: %s", type(error).__name__)

    def _converse(self, connection: ssl.SSLSocket, client_address: Any) -> None:
        connection.do_handshake()
        question = receive(connection, limit=_QUESTION_LIMIT, seconds=_SECONDS)
        if not self._knows(str(question.pop("key", ""))):
            self._log_once("wrong key", client_address)
            return
        answer = self._answer(question)
        connection.settimeout(_SEND_SECONDS)
        send(connection, answer)

    def _knows(self, key: str) -> bool:
        return hmac.compare_digest(key.encode("utf-8", "surrogatepass"), self._key)

    def _log_once(self, reason: str, client_address: Any) -> None:
        if reason not in self._logged and not self._closing.is_set():
            self._logged.add(reason)
            _log.warning("a caller from %s got no secrets: %s", client_address[0], reason)

    def _hang_up(self, connection: socket.socket) -> None:
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            _log.debug("a connection was closed already")
