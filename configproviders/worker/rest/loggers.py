"""Levels of loggers while the worker runs: ``/admin/loggers`` (KIP-495, KIP-976)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .. import logs
from ..errors import BadRequest
from .bodies import read_object
from .paths import resource, text_of
from .responses import Json, empty

if TYPE_CHECKING:
    from ..logs import LoggerLevel


def logger_routes() -> list[Route]:
    """Return the routes; where they are served, ``admin.listeners`` says."""
    return [
        resource("/admin/loggers", get=get_all),
        resource("/admin/loggers/{logger}", get=get, put=put),
    ]


async def get_all(_: Request) -> Response:
    """Show the loggers that have a level of their own."""
    return Json({name: _level(level) for name, level in sorted(logs.levels().items())})


async def get(request: Request) -> Response:
    """Show the level that a logger has."""
    return Json(_level(logs.level(text_of(request, "logger"))))


async def put(request: Request) -> Response:
    """Set the level of a logger and those below it; there is one worker, so it is the cluster."""
    level = (await read_object(request)).get("level")
    if not isinstance(level, str):
        raise BadRequest("Desired 'level' parameter was not specified in request.")
    affected = logs.set_level(text_of(request, "logger"), level)
    if request.query_params.get("scope", "").lower() == "cluster":
        return empty(204)
    return Json(sorted(affected))


def _level(level: LoggerLevel) -> dict[str, Any]:
    return {"level": level.level, "last_modified": level.last_modified}
