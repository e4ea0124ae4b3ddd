"""The REST API of a worker: :func:`create_app`. It is Kafka Connect's, and some more.

A request goes through these, the outermost first::

    ResponseHeaders   what each answer has in its head
    Failures          no exception comes through
    Guard             no other people's web pages
    CORSMiddleware    but for those that the config lets in
    EncodedPaths      paths as they were sent
    MeasuredRequests  how long it took
    Router            resources, which await the herder or read what it published
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from ...errors import ConfigException
from .configs import Configs
from .connectors import Connectors
from .failures import Failures, answer_failure
from .guard import Guard
from .headers import ResponseHeaders
from .health import Health
from .loggers import logger_routes
from .metrics import MeasuredRequests, Metrics
from .offsets import Offsets
from .openapi import description
from .pages import Pages
from .paths import EncodedPaths, resource
from .plugins import ConnectorPlugins
from .responses import Json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ..worker import Worker
    from ..worker_config import WorkerConfig

_METHODS = ("GET", "POST", "HEAD")
_HEADERS = ("X-Requested-With", "Origin")


def create_app(worker: Worker, *, port: int | None = None) -> Starlette:
    """Return the API of *worker*, which listens on *port*, by default that of its config.

    ``/admin`` is part of it unless the config gives that listeners of its own.
    """
    config, metrics = worker.config, Metrics(worker)
    connectors = Connectors(worker, config.worker_id(port or config.listeners[0].port))
    routes = [
        *Health(worker).routes(),
        *Configs(worker, connectors).routes(),
        *connectors.routes(),
        *Offsets(worker).routes(),
        *ConnectorPlugins(worker).routes(),
        *(logger_routes() if config.admin_listeners is None else ()),
        *metrics.routes(),
        *Pages().routes(),
        resource("/openapi.json", get=_describe),
    ]
    return _app(config, routes, Middleware(MeasuredRequests, durations=metrics.durations))


def create_admin_app(worker: Worker) -> Starlette:
    """Return what ``admin.listeners`` serve, and nothing else."""
    return _app(worker.config, logger_routes())


def _app(config: WorkerConfig, routes: list[Route], *more: Middleware) -> Starlette:
    origins = _pattern(config.access_control_allow_origin)
    middleware = [
        Middleware(ResponseHeaders, headers=config.response_http_headers_config),
        Middleware(Failures),
        Middleware(Guard, hosts=config.allowed_hosts, origins=origins),
        Middleware(
            CORSMiddleware,
            allow_origin_regex=origins,
            allow_methods=config.access_control_allow_methods or _METHODS,
            allow_headers=_HEADERS,
        ),
        Middleware(EncodedPaths),
        *more,
    ]
    handlers = {HTTPException: answer_failure, ConfigException: answer_failure}
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)


def _pattern(origins: tuple[str, ...]) -> str:
    """Return the pattern of *origins*, in which an asterisk stands for any part of a name.

    Browsers write origins in lower case.
    """
    return "|".join(re.escape(each.rstrip("/").lower()).replace(r"\*", ".*") for each in origins)


async def _describe(_: Request) -> Response:
    return Json(description())
