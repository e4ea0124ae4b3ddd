"""What connectors there are, what they take, and what is wrong with a config."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..config_infos import definitions, with_framework
from ..connector_keys import CONNECTOR_CLASS, CONNECTOR_DEF
from ..errors import BadRequest, NotFound
from .bodies import read_object, read_patch
from .paths import resource, text_of
from .responses import Json
from .waiting import in_thread

if TYPE_CHECKING:
    from ..connector import Connector
    from ..worker import Worker


class ConnectorPlugins:
    """Shows the connectors that are installed. Finding one may import its module: in a thread."""

    def __init__(self, worker: Worker) -> None:
        """Show those of *worker*."""
        self._plugins, self._validation = worker.plugins, worker.validation

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/connector-plugins/{plugin}/config"
        return [
            resource("/connector-plugins", get=self.get_all),
            resource(one, get=self.get),
            resource(f"{one}/validate", put=self.validate),
        ]

    async def get_all(self, _: Request) -> Response:
        """List the connectors, sinks first; there are no plugins of other types."""
        return await in_thread(self._all)

    async def get(self, request: Request) -> Response:
        """Show the settings of a connector, its own first (KIP-769)."""
        return await in_thread(self._definitions, text_of(request, "plugin"))

    async def validate(self, request: Request) -> Response:
        """Say what is wrong with a config, with 200 whatever that is."""
        config = read_patch(await read_object(request))
        name = text_of(request, "plugin")
        return await in_thread(self._validated, name, config)

    def _all(self) -> Response:
        return Json(
            [
                {"class": each.class_name, "type": each.type, "version": each.version}
                for each in self._plugins.all()
            ]
        )

    def _definitions(self, name: str) -> Response:
        own = self._found(name).config_def
        found = definitions(with_framework(own, CONNECTOR_DEF))
        first = [found.pop(key.name) for key in own]
        return Json([*first, *found.values()])

    def _validated(self, name: str, config: dict[str, str | None]) -> Response:
        given = config.get(CONNECTOR_CLASS.name)
        if not given:
            raise BadRequest(f"the config has no {CONNECTOR_CLASS.name}: it is {name!r} here")
        if self._found(name) is not self._plugins.find(given):
            raise BadRequest(f"Included connector type {given} does not match request type {name}")
        return Json(self._validation.validate(config).to_json())

    def _found(self, name: str) -> type[Connector]:
        try:
            return self._plugins.find(name)
        except BadRequest as error:
            raise NotFound(str(error)) from error
