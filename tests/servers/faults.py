"""What can go wrong between a client and its server, as values.

A :class:`FaultProxy` strikes with them. Their docstrings say whether the server sees the request.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from servers.http_connection import Connection, Message


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that waits for its answer."""

    request: Message
    client: Connection
    forward: Callable[[], Awaitable[Message]]  # Asks the server, when awaited.
    errors: str  # The body of an error, as the server would write it.

    async def answer(self, message: Message) -> None:
        """Send *message* to the client."""
        await self.client.send(message.head(), b"" if self._is_head else message.body)

    async def answer_half(self) -> None:
        """Forward the request; send the answer to the middle of its body, nothing without one."""
        message = await self.forward()
        if message.body:
            await self.client.send(message.head(), message.body[: len(message.body) // 2])

    @property
    def _is_head(self) -> bool:
        return self.request.method == "HEAD"


class Fault(ABC):
    """One thing that goes wrong; hashable, so that it may be given a probability."""

    @abstractmethod
    async def strike(self, exchange: Exchange) -> None:
        """Do to the *exchange* what this fault is."""


@dataclass(frozen=True, slots=True)
class Status(Fault):
    """An error instead of the server's answer; the server does not see the request."""

    code: int
    retry_after: int | None = None  # Seconds.

    async def strike(self, exchange: Exchange) -> None:
        """Answer with the body that the proxy has for errors."""
        headers = [("Content-Type", "application/json")]
        if self.retry_after is not None:
            headers.append(("Retry-After", str(self.retry_after)))
        start = f"HTTP/1.1 {self.code} {HTTPStatus(self.code).phrase}"
        message = Message(start, tuple(headers)).with_body(exchange.errors.encode())
        await exchange.answer(message)


@dataclass(frozen=True, slots=True)
class Reset(Fault):
    """The connection is reset instead of an answer; the server does not see the request."""

    async def strike(self, exchange: Exchange) -> None:
        """Reset the client's connection."""
        exchange.client.reset()


@dataclass(frozen=True, slots=True)
class ResetInBody(Fault):
    """The connection is reset in the middle of the server's answer."""

    async def strike(self, exchange: Exchange) -> None:
        """Send half of it, and reset the client's connection."""
        await exchange.answer_half()
        exchange.client.reset()


@dataclass(frozen=True, slots=True)
class HalfAnswer(Fault):
    """The connection is closed, in good order, in the middle of the server's answer."""

    async def strike(self, exchange: Exchange) -> None:
        """Send half of it, and close the client's connection."""
        await exchange.answer_half()
        await exchange.client.close()


@dataclass(frozen=True, slots=True)
class SlowBody(Fault):
    """The body of the server's answer drips in, in *pieces* that take *seconds* together."""

    seconds: float = 1.0
    pieces: int = 10

    async def strike(self, exchange: Exchange) -> None:
        """Send the head at once, and each piece after a pause."""
        message = await exchange.forward()
        await exchange.client.send(message.head())
        for number in range(self.pieces):
            await asyncio.sleep(self.seconds / self.pieces)
            first, end = (len(message.body) * n // self.pieces for n in (number, number + 1))
            await exchange.client.send(message.body[first:end])


@dataclass(frozen=True, slots=True)
class WrongJson(Fault):
    """The server's answer with status 200 and half its body: a message that is whole, but no JSON.

    What is left may still hold a secret, or a part of one.
    """

    async def strike(self, exchange: Exchange) -> None:
        """Send it with the length of what is left."""
        message = await exchange.forward()
        half = message.body[: len(message.body) // 2] or b"{"
        await exchange.answer(Message("HTTP/1.1 200 OK", message.headers).with_body(half))


@dataclass(frozen=True, slots=True)
class Silence(Fault):
    """No answer until the client goes away; the server does not see the request."""

    async def strike(self, exchange: Exchange) -> None:
        """Wait for the client's patience to end."""
        await exchange.client.wait_for_the_end()


@dataclass(frozen=True, slots=True)
class Delay(Fault):
    """The right answer, but later, on top of the proxy's latency."""

    seconds: float

    async def strike(self, exchange: Exchange) -> None:
        """Wait, and answer as if nothing had been."""
        await asyncio.sleep(self.seconds)
        await exchange.answer(await exchange.forward())
