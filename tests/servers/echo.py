"""A server on loopback for the tests of the proxy, and a plain client."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from servers.fault_proxy import FaultProxy

CONTENT = b'{"data": {"password": "correct horse"}}'
TOGETHER = 20


class Upstream(BaseHTTPRequestHandler):
    """Says what it was asked; its methods say in which form."""

    protocol_version = "HTTP/1.1"
    timeout = 20
    disable_nagle_algorithm = True
    everybody_is_here = threading.Barrier(TOGETHER, timeout=20)

    def do_GET(self) -> None:
        if self.path == "/together":
            self.everybody_is_here.wait()
        self.answer(CONTENT)

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def do_LIST(self) -> None:
        self.answer(json.dumps(self.headers.items()).encode())

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def do_chunks(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        first, second = CONTENT[:5], CONTENT[5:]
        self.wfile.write(b"5;note=x\r\n%b\r\n%x\r\n%b\r\n" % (first, len(second), second))
        self.wfile.write(b"0\r\nTrailer: x\r\n\r\n")

    def do_old(self) -> None:
        self.protocol_version = "HTTP/1.0"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(CONTENT)
        self.close_connection = True

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("X-Odd-CASE", "kept")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  The name is not ours.
        pass


class UpstreamServer(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = False  # It waits for them, and so for the end of all connections.
    accepted = 0

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        self.accepted += 1
        return super().get_request()


@contextmanager
def running_upstream() -> Iterator[UpstreamServer]:
    with UpstreamServer(("127.0.0.1", 0), Upstream) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def client(proxy: FaultProxy, timeout: float = 20) -> Iterator[http.client.HTTPConnection]:
    address = urlsplit(proxy.url)
    assert address.hostname
    with closing(
        http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)
    ) as connection:
        yield connection


def ask(proxy: FaultProxy, method: str = "GET", path: str = "/x") -> tuple[int, bytes]:
    with client(proxy) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
