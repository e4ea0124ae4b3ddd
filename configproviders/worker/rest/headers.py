"""Headers that each answer gets: ours, and those of ``response.http.headers.config`` (KIP-577)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from email.utils import formatdate
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from ..response_header import ResponseHeader

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_OURS = {"x-content-type-options": "nosniff", "cache-control": "no-store"}


class ResponseHeaders:
    """Gives each answer the headers that the worker's config asks for."""

    def __init__(self, app: ASGIApp, *, headers: Iterable[ResponseHeader] = ()) -> None:
        """Give *headers*, in their order."""
        self._app, self._headers = app, tuple(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add to the headers of the answer when they are sent."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in _OURS.items():
                    headers.setdefault(name, value)
                for each in self._headers:
                    _apply(each, headers)
            await send(message)

        await self._app(scope, receive, sending)


def _apply(header: ResponseHeader, headers: MutableHeaders) -> None:
    value = header.value
    if header.action.endswith("Date"):
        value = formatdate(time.time() + int(value) / 1000, usegmt=True)
    if header.action.startswith("set"):
        headers[header.name] = value
    else:
        headers.append(header.name, value)
