"""A WebSocket that one thread reads and another can cut, whatever the first one waits for.

The protocol is the library's. Reading and writing are done here, in one thread: the library's own
client does them in two, which TLS in Python does not stand (it hangs, once in hundreds of times).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from websockets.http11 import Response
    from websockets.protocol import Event

_PIECE = 1 << 16
# The library logs all headers, and so the token; nobody can turn this one on.
_SILENT = logging.Logger("websockets", logging.CRITICAL + 1)  # noqa: LOG001  As just said.


class NoWebSocketError(ConnectionError):
    """The server answered, but not with a WebSocket."""

    def __init__(self, answer: Response) -> None:
        """Take the answer."""
        super().__init__(f"answered with {answer.status_code}")
        self.status = answer.status_code
        self.location = answer.headers.get("Location", "")


class Line:
    """The socket in use, so that another thread can cut it. Thread-safe."""

    def __init__(self) -> None:
        """Start without a socket."""
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._handle: int | None = None
        self._is_cut = False

    def hold(self, connected: socket.socket) -> None:
        """Take *connected* for the one in use; raise ``OSError`` if the line was cut before."""
        with self._lock:
            if self._is_cut:
                raise ConnectionAbortedError
            self._let_go()
            self._socket = connected
            self._handle = os.dup(connected.fileno())  # TLS makes another socket of this one.

    def cut(self) -> None:
        """Have whoever uses it find its end, at once, and so from now on."""
        with self._lock:
            self._is_cut = True
            if self._handle is not None:
                with socket.socket(fileno=os.dup(self._handle)) as handle, suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)
            self._let_go()

    def release(self) -> None:
        """Let go of the socket, which is in use no longer: who closed it meant the connection."""
        with self._lock:
            self._let_go()
            self._socket = None

    def abandon(self) -> None:
        """Close a forked child's share in it: the connection is its parent's, and stays."""
        self._lock = threading.Lock()
        self._is_cut = True
        with suppress(OSError):
            self._let_go()
        if self._socket is not None:
            self._socket.close()

    def _let_go(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


class WebSocket:
    """One end of a WebSocket, for one thread. A context manager that closes it.

    Each method raises ``OSError`` when the connection is lost, ``TimeoutError`` among them.
    """

    def __init__(self, connected: socket.socket) -> None:
        """Take a socket that is connected, with TLS if there is any."""
        self._socket = connected
        self._events: list[Event] = []

    def open(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        """Ask for *url*, ``ws:`` or ``wss:``; raise :class:`NoWebSocketError` if it is none."""
        from websockets.client import ClientProtocol
        from websockets.http11 import Response
        from websockets.uri import parse_uri

        self._protocol = ClientProtocol(parse_uri(url), logger=_SILENT)
        request = self._protocol.connect()
        request.headers.update(headers)
        self._protocol.send_request(request)
        self._send(seconds)
        end = time.monotonic() + seconds
        while not self._events:
            self._events = self._receive(end - time.monotonic())
        answer = self._events.pop(0)
        if self._protocol.handshake_exc is not None and isinstance(answer, Response):
            raise NoWebSocketError(answer)

    def messages(self, silence: float) -> Iterator[bytes]:
        """Yield what comes, without an end; ask after *silence* seconds whether anybody is there.

        Who does not answer that within as many seconds again is lost.
        """
        from websockets.frames import DATA_OPCODES, Frame

        parts: list[bytes] = []
        is_asked = False
        while True:
            for each in self._events:
                if isinstance(each, Frame) and each.opcode in DATA_OPCODES:
                    parts.append(bytes(each.data))
                    if each.fin:
                        yield b"".join(parts)
                        parts = []
            try:
                self._events, is_asked = self._receive(silence), False
            except TimeoutError:
                if is_asked:
                    raise
                self._events, is_asked = [], True
                self._protocol.send_ping(b"")
                self._send(silence)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _receive(self, seconds: float) -> list[Event]:
        if self._protocol.close_expected():
            raise ConnectionResetError("closed by the server")
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)
        if data := self._socket.recv(_PIECE):
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._send(seconds)
        events = self._protocol.events_received()
        if not data and not events:
            raise ConnectionResetError("the connection broke off")
        return events

    def _send(self, seconds: float) -> None:
        self._socket.settimeout(seconds)
        for data in filter(None, self._protocol.data_to_send()):
            self._socket.sendall(data)
