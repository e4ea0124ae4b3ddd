"""A crossing on loopback: it hands on each TCP connection to the server that its start asks for.

It knows nothing of what goes through it but its beginning, and can stop handing on, as a network
that has lost a party without a word.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

from servers.processes import LOOPBACK

_PIECE = 1 << 16


class Crossing(ThreadingTCPServer):
    """Where connections lead."""

    daemon_threads = True

    def __init__(self, ways: Mapping[str, str]) -> None:
        """Take addresses on loopback by how a connection begins that is for them."""
        self.ways = {start.encode(): urlsplit(address).port or 0 for start, address in ways.items()}
        self.flows = threading.Event()
        """While it is not set, nothing is handed on."""
        self.flows.set()
        self.taken = self.pieces = 0
        super().__init__((LOOPBACK, 0), _Traveller)
        self.address = f"http://{LOOPBACK}:{self.server_address[1]}"

    def way_of(self, connection: socket.socket) -> int:
        """Return the port that *connection* is for."""
        longest = max(map(len, self.ways))
        begins = connection.recv(longest, socket.MSG_PEEK | socket.MSG_WAITALL) if longest else b""
        return next(port for start, port in self.ways.items() if begins.startswith(start))

    def pass_on(self) -> None:
        """Wait until anything is handed on."""
        self.flows.wait()
        self.pieces += 1


@contextmanager
def crossing(ways: Mapping[str, str]) -> Iterator[Crossing]:
    """Hand on connections to the servers of *ways*, by their first bytes, in this order."""
    with Crossing(ways) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="crossing")
        thread.start()
        try:
            yield server
        finally:
            server.flows.set()
            server.shutdown()
            thread.join()


def hand_on(
    one: socket.socket, other: socket.socket, before: Callable[[], None] = lambda: None
) -> None:
    """Hand on what comes, both ways, to its end; call *before* for each piece of it."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE):
                before()
                target.sendall(piece)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    back = threading.Thread(target=copy, args=(other, one), name="crossing-back")
    back.start()
    copy(one, other)
    back.join()


class _Traveller(BaseRequestHandler):
    server: Crossing
    request: socket.socket

    def handle(self) -> None:
        """Hand on one connection."""
        with socket.create_connection((LOOPBACK, self.server.way_of(self.request))) as other:
            self.server.taken += 1
            hand_on(self.request, other, self.server.pass_on)
