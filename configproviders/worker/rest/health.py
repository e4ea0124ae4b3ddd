"""Whether the worker works: ``GET /`` and ``GET /health`` (KIP-1017)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from starlette.routing import Route

from ... import __version__
from ...spark.cleaning import clean
from .paths import resource
from .responses import Json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ..worker import Worker

PATIENCE = 10.0
"""Seconds in which the worker has to answer that it works, as in Kafka Connect."""

_READY = "Worker has completed startup and is ready to handle requests."
_KAFKA_VERSION = "3.9.0"  # Whose API this is; kcctl, for one, reads there what it may ask for.


class Health:
    """Answers how the worker does."""

    def __init__(self, worker: Worker, patience: float = PATIENCE) -> None:
        """Ask *worker*, for *patience* seconds."""
        self._worker, self._patience = worker, patience
        self._one = CapacityLimiter(1)  # A worker that hangs holds one thread, not all.

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [resource("/", get=self.root), resource("/health", get=self.health)]

    async def root(self, _: Request) -> Response:
        """Tell which API this is, of which build, and the id of the cluster."""
        return Json(
            {
                "version": _KAFKA_VERSION,
                "commit": f"configproviders-{__version__}",
                "kafka_cluster_id": self._worker.config.cluster_id,
            }
        )

    async def health(self, _: Request) -> Response:
        """Tell whether the worker starts, works, or does not."""
        herder = self._worker.herder
        if not herder.is_ready:
            return _health(503, "starting", "Worker is still starting up.")
        try:
            async with asyncio.timeout(self._patience):
                problem = await to_thread.run_sync(
                    herder.check, abandon_on_cancel=True, limiter=self._one
                )
        except TimeoutError:
            problem = f"Worker did not answer within {self._patience:g} s."
        if problem:
            return _health(500, "unhealthy", clean(problem))
        return _health(200, "healthy", _READY)


def _health(status_code: int, status: str, message: str) -> Response:
    return Json({"status": status, "message": message}, status_code)
