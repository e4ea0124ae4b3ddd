"""How far connectors have come: ``/connectors/{name}/offsets`` (KIP-875)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import BadRequest
from . import responses
from .bodies import read_object, refuse_unknown
from .paths import resource, text_of
from .responses import Json
from .waiting import in_thread

if TYPE_CHECKING:
    from ..worker import Worker


class Offsets:
    """Shows and resets offsets; they stand in Spark's checkpoints, where none can be set."""

    def __init__(self, worker: Worker) -> None:
        """Show those of the connectors of *worker*."""
        self._herder = worker.herder

    def routes(self) -> list[Route]:
        """Return the route."""
        path = "/connectors/{connector}/offsets"
        return [resource(path, get=self.get, patch=self.patch, delete=self.delete)]

    async def get(self, request: Request) -> Response:
        """Show the offsets, in any state."""
        name = text_of(request, "connector")
        found = await in_thread(self._herder.offsets, name)
        return Json({"offsets": responses.offsets(found)})

    async def patch(self, request: Request) -> Response:
        """Refuse to set offsets, as Kafka Connect does for a connector that cannot."""
        body = await read_object(request)
        refuse_unknown(body, ("offsets",))
        self._herder.info(text_of(request, "connector"))
        if not isinstance(body.get("offsets"), list) or not body["offsets"]:
            raise BadRequest("Partitions / offsets need to be provided to alter them")
        raise BadRequest(
            "the offsets of a connector on Spark cannot be set, since they stand in its"
            " checkpoint; DELETE on this path has it begin anew"
        )

    async def delete(self, request: Request) -> Response:
        """Have a stopped connector begin anew."""
        name = text_of(request, "connector")
        await in_thread(self._herder.reset_offsets, name)
        return Json({"message": "The offsets for this connector have been reset successfully"})
