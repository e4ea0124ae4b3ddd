"""Where things are: resources with their methods, and paths as they were sent.

A connector's name may hold a slash, a percent sign or a space, which arrive percent-encoded. So
paths are matched encoded, and what a part of one means is decoded afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import BadRequest, ConnectException, NotFound

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]
TIMEOUT = 90.0
"""Seconds that a request may take, as in Kafka Connect."""

_JSON = {"application/json", "application/*", "*/*"}
_LONGEST_NUMBER = 9


class EncodedPaths:
    """Has the app match paths as they were sent; one more slash at the end means the same."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the app around which this stands."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its path encoded."""
        if scope["type"] == "http":
            scope = {**scope, "path": _encoded(scope)}
        await self._app(scope, receive, send)


def resource(  # noqa: PLR0913  As many as there are methods.
    path: str,
    *,
    get: Handler | None = None,
    post: Handler | None = None,
    put: Handler | None = None,
    patch: Handler | None = None,
    delete: Handler | None = None,
    is_json: bool = True,
    timeout: float = TIMEOUT,
) -> Route:
    """Return a route with the handlers of its methods; HEAD is GET, OPTIONS says what there is."""
    given = {"GET": get, "HEAD": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete}
    handlers = {method: handler for method, handler in given.items() if handler is not None}
    allow = ", ".join([*handlers, "OPTIONS"])

    async def handle(request: Request) -> Response:
        request.scope["resource"] = path
        if request.method == "OPTIONS":
            return Response(headers={"allow": allow})
        if request.method not in handlers:
            raise HTTPException(405, headers={"allow": allow})
        if is_json and not _accepts_json(request):
            raise HTTPException(406)
        return await _in_time(handlers[request.method](request), timeout)

    return Route(path, _Endpoint(handle))


def text_of(request: Request, part: str) -> str:
    """Return a part of the path, a connector's name for one, as it is meant."""
    try:
        return unquote(request.path_params[part], errors="strict")
    except UnicodeDecodeError as error:
        raise BadRequest("the path is not UTF-8 when its percent signs are decoded") from error


def number_of(request: Request, part: str) -> int:
    """Return a part of the path that is a number; raise :class:`NotFound` for another."""
    text = request.path_params[part]
    if not (text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        raise NotFound("HTTP 404 Not Found")
    return int(text)


def path_to(*parts: str) -> str:
    """Return the path of a resource, its parts percent-encoded."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def flag(request: Request, name: str) -> bool:
    """Return a flag of the query: "true" in any case, anything else is not."""
    given = request.query_params.getlist(name)
    return bool(given) and given[0].lower() == "true"


class _Endpoint:
    """A handler that Starlette hands all methods to, so that we name those that are allowed."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handle(Request(scope, receive, send))
        await response(scope, receive, send)


def _encoded(scope: Scope) -> str:
    raw = scope.get("raw_path")
    path: str = quote(scope["path"]) if raw is None else raw.decode("latin-1")
    return path if path == "/" else path.removesuffix("/")


def _accepts_json(request: Request) -> bool:
    """Tell whether the client takes JSON; without a word of it, it takes anything."""
    accepted = ",".join(request.headers.getlist("accept"))
    if not accepted.strip():
        return True
    return any(_is_json(each) for each in accepted.split(","))


def _is_json(media_range: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in media_range.split(";"))
    return kind in _JSON and not any(_is_zero(each) for each in parameters)


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and bool(value) and not value.strip("0.")


async def _in_time(answer: Awaitable[Response], seconds: float) -> Response:
    timeout = asyncio.timeout(seconds)
    try:
        async with timeout:
            return await answer
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise ConnectException(
            f"the request timed out after {seconds:g} s; the worker is still busy with it"
        ) from error
