"""A proxy on loopback between a client and its server that makes things go wrong on demand.

All connections are served by one event loop, in one thread of its own: the proxy has to wait for
many clients at a time while their threads are blocked in ours.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from servers.faults import Exchange, Fault
from servers.http_connection import LIMIT, Connection, Message

VAULT_ERRORS = '{"errors": []}'
AWS_ERRORS = '{"__type": "ThrottlingException"}'

_LOOPBACK = "127.0.0.1"
_BACKLOG = 512


class FaultProxy:
    """Forwards requests to *upstream* (``http://127.0.0.1:port``), or strikes with a fault.

    A context manager; ``url`` is known inside. What goes wrong may be changed at any time, from any
    thread: ``latency`` (seconds before each answer), ``script`` (for the next requests, first come
    first served; None lets one pass), and after it ``faults`` with their probabilities, drawn in
    the same order for the same *seed*. ``requests`` has the method and the path of each request, in
    the order in which they came, struck or not.

    As without a proxy, a request fails with a reset if the server is not there. ``Host`` is that of
    the proxy. *errors* is the body of status faults.
    """

    def __init__(
        self,
        upstream: str,
        *,
        latency: float = 0.0,
        faults: Mapping[Fault, float] | None = None,
        seed: int = 0,
        errors: str = VAULT_ERRORS,
    ) -> None:
        """Keep the settings; listen once it is entered."""
        self.url = ""
        self.latency = latency
        self.faults: Mapping[Fault, float] = faults or {}
        self.script: list[Fault | None] = []
        self.requests: list[tuple[str, str]] = []
        self._upstream = upstream
        self._random = random.Random(seed)
        self._errors = errors
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        """Listen on a free port of loopback."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy")
        listening = asyncio.start_server(self._accept, _LOOPBACK, 0, limit=LIMIT, backlog=_BACKLOG)
        self._server = self._loop.run_until_complete(listening)
        self.url = f"http://{_LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close all connections, whatever they wait for, and end the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._shut())
        self._loop.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._serve(Connection(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _shut(self) -> None:
        self._server.close()
        await asyncio.sleep(0.02)  # Some turns: who was let in at the last moment has a task then.
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._loop.shutdown_default_executor()  # It resolves names, if there are any.
        await asyncio.sleep(0.02)  # The loop closes what was aborted on its next turns.

    async def _serve(self, client: Connection) -> None:
        server = _Upstream(self._upstream)
        try:
            while client.is_open and (request := await client.read_request()):
                await self._exchange(request, client, server)
                if request.is_last:
                    await client.close()
        except (OSError, EOFError):  # One of them went away, which the other one may know.
            client.reset()
        finally:
            server.abort()
            client.abort()

    async def _exchange(self, request: Message, client: Connection, server: _Upstream) -> None:
        self.requests.append((request.method, request.target))
        fault = self._next_fault()
        await asyncio.sleep(self.latency)
        exchange = Exchange(request, client, lambda: server.ask(request), self._errors)
        if fault is None:
            await exchange.answer(await exchange.forward())
        else:
            await fault.strike(exchange)

    def _next_fault(self) -> Fault | None:
        if self.script:
            return self.script.pop(0)
        left = self._random.random()
        for fault, probability in self.faults.items():
            left -= probability
            if left < 0:
                return fault
        return None


class _Upstream:
    """The server, over one connection that is opened anew when the server has closed it."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._connection: Connection | None = None

    async def ask(self, request: Message) -> Message:
        """Forward the *request*; return the answer."""
        connection = await self._open()
        message = request.end_to_end()
        await connection.send(message.head(), message.body)
        answer = await connection.read_answer(request.method)
        if answer.is_last:
            await connection.close()
        return answer.end_to_end()

    def abort(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.abort()

    async def _open(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            self.abort()
            host, port = self._address.hostname, self._address.port
            self._connection = Connection(*await asyncio.open_connection(host, port, limit=LIMIT))
        return self._connection
