"""What failed, as Kafka Connect says it for everything: ``{"error_code": 404, "message": "…"}``."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from ...errors import ConfigException, UnsupportedOperation
from ...spark.cleaning import clean, cleaned_error
from ..errors import ConnectException
from .responses import Json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger(__name__)


class Failures:
    """Answers what nobody else did: no exception comes through, nor does a value in its text.

    Starlette's own last handler raises again, and the server would log the exception as it is.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Take the app around which this stands."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, or answer that it failed."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  Around all that is ours and the plugins'.
            if scope["type"] != "http" or begun:
                raise cleaned_error(error) from None
            await failure(error, scope)(scope, receive, send)


async def answer_failure(request: Request, error: Exception) -> Response:
    """Answer an exception that an endpoint raised."""
    return failure(error, request.scope)


def failure(error: Exception, scope: Scope) -> Response:
    """Return what answers *error*; what nobody foresaw is logged with its traceback."""
    if isinstance(error, HTTPException):
        return _said(error.status_code, _as_jersey(error), dict(error.headers or {}))
    if isinstance(error, ConnectException) and error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _said(error.status, str(error))
    if isinstance(error, UnsupportedOperation):
        return _said(HTTPStatus.BAD_REQUEST, str(error))
    exc_info = cleaned_error(error)
    _log.error("%s %r failed", scope["method"], scope["path"], exc_info=exc_info)
    name = "" if isinstance(error, ConfigException) else f"{type(error).__name__}: "
    return _said(HTTPStatus.INTERNAL_SERVER_ERROR, f"{name}{error}")


def _said(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Json({"error_code": int(status), "message": clean(message)}, status, headers)


def _as_jersey(error: HTTPException) -> str:
    """Return the text that clients know from Kafka Connect's web framework."""
    phrase = HTTPStatus(error.status_code).phrase
    return error.detail if error.detail != phrase else f"HTTP {error.status_code} {phrase}"
