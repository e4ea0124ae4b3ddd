"""HTTP/1.1 over asyncio's streams: as much as a proxy between two good parties needs.

A message is read whole. Its body is handed on with a ``Content-Length``, whether it came with one,
in chunks, or ended where the connection did; so each side keeps its connection for as long as it
wants, whatever the other one does. Names of headers stay as they were written.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass, field, replace

LIMIT = 1 << 20  # Of a head, in bytes.

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "trailer", "expect"}
_BODILESS = {204, 304}
_OLD_VERSION = re.compile(r"^HTTP/1\.0(?= )|(?<= )HTTP/1\.0$")


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer; headers and body may hold secrets."""

    start: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    @classmethod
    def parse(cls, head: bytes) -> Message:
        """Read what stands before the body."""
        start, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return cls(start, tuple((name, value.strip()) for name, _, value in pairs))

    def header(self, name: str) -> str:
        """Return the value of a header, empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def method(self) -> str:
        """The method of a request."""
        return self.start.split(" ")[0]

    @property
    def target(self) -> str:
        """The path of a request, with its query."""
        return self.start.split(" ")[1]

    @property
    def status(self) -> int:
        """The number of an answer."""
        return int(self.start.split(" ")[1])

    @property
    def is_last(self) -> bool:
        """Whether its sender closes the connection after it."""
        connection = self.header("connection").lower()
        if _OLD_VERSION.search(self.start):
            return "keep-alive" not in connection
        return "close" in connection

    def with_body(self, body: bytes) -> Message:
        """Return it with another body, and the length of that."""
        kept = tuple(pair for pair in self.headers if pair[0].lower() != "content-length")
        return replace(self, headers=(*kept, ("Content-Length", str(len(body)))), body=body)

    def end_to_end(self) -> Message:
        """Return it without what speaks of the connection that it came through."""
        kept = (pair for pair in self.headers if pair[0].lower() not in _OF_THE_CONNECTION)
        return replace(self, start=_OLD_VERSION.sub("HTTP/1.1", self.start), headers=tuple(kept))

    def head(self) -> bytes:
        """Return what is sent before the body."""
        lines = [self.start, *(f"{name}: {value}" for name, value in self.headers), "", ""]
        return "\r\n".join(lines).encode("latin-1")


class Connection:
    """One end of a connection, for use in one task."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take both directions."""
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=0)  # `drain` waits until all is sent.

    @property
    def is_open(self) -> bool:
        """Whether neither side has closed it, as far as is known here."""
        return not self._writer.is_closing() and not self._reader.at_eof()

    async def read_request(self) -> Message | None:
        """Return the next request, None if the client went away."""
        try:
            head = Message.parse(await self._reader.readuntil(b"\r\n\r\n"))
        except asyncio.IncompleteReadError:
            return None
        if head.header("expect"):
            await self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return await self._with_its_body(head)

    async def read_answer(self, method: str) -> Message:
        """Return the answer to a request with *method*, without those that only announce it."""
        while (head := Message.parse(await self._reader.readuntil(b"\r\n\r\n"))).status < 200:
            pass
        if method == "HEAD" or head.status in _BODILESS:
            return head
        if not head.header("content-length") and not head.header("transfer-encoding"):
            return head.with_body(await self._reader.read())
        return await self._with_its_body(head)

    async def send(self, *parts: bytes) -> None:
        """Send it all, and wait until the system has taken it."""
        self._writer.write(b"".join(parts))
        await self._writer.drain()

    async def wait_for_the_end(self) -> None:
        """Wait until the other side goes away, whatever it still says."""
        while await self._reader.read(LIMIT):
            pass

    async def close(self) -> None:
        """Close it in order."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    def abort(self) -> None:
        """Close it at once, without what is still to be sent."""
        self._writer.transport.abort()

    def reset(self) -> None:
        """Close it so that the other side gets an error (RST)."""
        if not self._writer.is_closing():
            taken: socket.socket = self._writer.get_extra_info("socket")
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.abort()

    async def _with_its_body(self, head: Message) -> Message:
        if "chunked" in head.header("transfer-encoding").lower():
            return head.with_body(await self._read_chunks())
        if length := head.header("content-length"):
            return replace(head, body=await self._reader.readexactly(int(length)))
        return head

    async def _read_chunks(self) -> bytes:
        chunks = []
        while size := int((await self._reader.readuntil(b"\n")).split(b";")[0], 16):
            chunks.append(await self._reader.readexactly(size))
            await self._reader.readuntil(b"\n")
        while (await self._reader.readuntil(b"\n")).strip():
            pass
        return b"".join(chunks)
