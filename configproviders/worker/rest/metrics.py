"""What is measured: ``/metrics``, for Prometheus. There are names of states, and no connector's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.routing import Route

from ..status import State
from .paths import resource

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..herder import Herder
    from ..worker import Worker

_OTHER = "other"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Metrics:
    """Measures one app; two workers in a process do not mix."""

    def __init__(self, worker: Worker) -> None:
        """Measure the connectors of *worker*."""
        self._registry = CollectorRegistry()
        self._registry.register(_Connectors(worker.herder))
        self.durations = Histogram(
            "connect_worker_request_duration_seconds",
            "How long requests took, by method, resource and status.",
            ("method", "resource", "status"),
            registry=self._registry,
        )

    def routes(self) -> list[Route]:
        """Return the route."""
        return [resource("/metrics", get=self.get, is_json=False)]

    async def get(self, request: Request) -> Response:
        """Show all in the format that the client prefers."""
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(self._registry), headers={"content-type": content_type})


class MeasuredRequests:
    """Measures how long requests take."""

    def __init__(self, app: ASGIApp, *, durations: Histogram) -> None:
        """Take the app around which this stands."""
        self._app, self._durations = app, durations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, and look at the clock."""
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        begin = time.monotonic()
        try:
            await self._app(scope, receive, sending)
        finally:
            if scope["type"] == "http":
                method = scope["method"] if scope["method"] in _METHODS else _OTHER
                labels = (method, scope.get("resource", _OTHER), str(status))
                self._durations.labels(*labels).observe(time.monotonic() - begin)


class _Connectors(Collector):
    """Counts connectors and tasks when somebody asks."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        statuses = [view.status for view in self._herder.views().values()]
        tasks = [task for status in statuses for task in status.tasks]
        yield _by_state("connectors", Counter(status.state for status in statuses))
        yield _by_state("tasks", Counter(task.state for task in tasks))
        yield CounterMetricFamily(
            "connect_worker_restarts",
            "Restarts of connectors and tasks, whoever asked for them.",
            value=self._herder.restarts,
        )
        yield CounterMetricFamily(
            "connect_worker_secret_reloads",
            "Restarts of connectors because a secret of theirs has changed.",
            value=self._herder.reloads,
        )


def _by_state(what: str, counts: Counter[State]) -> Metric:
    family = GaugeMetricFamily(f"connect_worker_{what}", f"The {what}, by state.", labels=["state"])
    for state in State:
        family.add_metric([state.value], counts[state])
    return family
