"""How connectors come to be, and their configs: validated first, stored with their references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import AlreadyExists, BadRequest, Conflict, NotFound
from ..status import ConnectorInfo, TargetState
from . import responses
from .bodies import read_config, read_object, read_patch, refuse_unknown
from .connectors import Connectors
from .paths import flag, path_to, resource, text_of
from .previews import preview
from .responses import Json
from .waiting import done, in_thread

if TYPE_CHECKING:
    from ..worker import Worker

_TARGETS = {
    "RUNNING": TargetState.STARTED,
    "PAUSED": TargetState.PAUSED,
    "STOPPED": TargetState.STOPPED,
}
_FIELDS = ("name", "config", "initial_state")
_TRIES = 5


class Configs:
    """Creates connectors and changes their configs.

    A config that is invalid is answered with 400, and so is one whose class is unknown, for which
    Kafka Connect answers 500: it is the caller's mistake.
    """

    def __init__(self, worker: Worker, connectors: Connectors) -> None:
        """Change those of *worker*; *connectors* answers the other methods of the same paths."""
        self._herder, self._validation = worker.herder, worker.validation
        self._connectors = connectors

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/connectors/{connector}"
        return [
            resource("/connectors", get=self._connectors.get_all, post=self.create),
            resource(one, get=self._connectors.get, delete=self._connectors.delete),
            resource(f"{one}/config", get=self.get, put=self.put, patch=self.patch),
        ]

    async def create(self, request: Request) -> Response:
        """Create a connector, in the state that is asked for (KIP-980)."""
        body = await read_object(request)
        refuse_unknown(body, _FIELDS)
        name, target = _new_name(body), _target(body.get("initial_state"))
        config = _named(read_config(_object(body.get("config"))), name)
        if flag(request, "dryRun"):
            if self._config(name) is not None:
                raise AlreadyExists(f"Connector {name} already exists")
            return await self._preview(name, None, config)
        await self._check(config)
        return _created(await done(self._herder.create(name, config, target)))

    async def get(self, request: Request) -> Response:
        """Show a config as it was given, with its references."""
        return Json(dict(self._herder.info(_name(request)).config))

    async def put(self, request: Request) -> Response:
        """Give a connector another config, or create it."""
        name = _name(request)
        config = _named(read_config(await read_object(request)), name)
        if flag(request, "dryRun"):
            return await self._preview(name, self._config(name), config)
        await self._check(config)
        info, is_new = await done(self._herder.put_config(name, config))
        return _created(info) if is_new else Json(responses.info(info))

    async def patch(self, request: Request) -> Response:
        """Change some settings; null removes one (KIP-477).

        When somebody else changes the config meanwhile, the changes are made to theirs.
        """
        name, patch = _name(request), read_patch(await read_object(request))
        if flag(request, "dryRun"):
            before = self._herder.info(name).config
            return await self._preview(name, before, _merged(name, before, patch))
        return Json(responses.info(await self._patched(name, patch, tries=_TRIES)))

    async def _patched(
        self, name: str, patch: Mapping[str, str | None], *, tries: int
    ) -> ConnectorInfo:
        before = self._herder.info(name).config
        config = _merged(name, before, patch)
        await self._check(config)
        try:
            info, _ = await done(self._herder.put_config(name, config, expected=before))
        except Conflict:
            if tries == 1:
                raise
            return await self._patched(name, patch, tries=tries - 1)
        return info

    def _config(self, name: str) -> Mapping[str, str] | None:
        try:
            return self._herder.info(name).config
        except NotFound:
            return None

    async def _check(self, config: Mapping[str, str]) -> None:
        found = await in_thread(self._validation.validate, config)
        if found.errors:
            raise BadRequest(_invalid(found.errors))

    async def _preview(
        self, name: str, before: Mapping[str, str] | None, after: Mapping[str, str]
    ) -> Response:
        validated = await in_thread(self._validation.validate, after)
        return Json(preview(name, before, after, validated))


def _name(request: Request) -> str:
    return text_of(request, "connector")


def _new_name(body: Mapping[str, Any]) -> str:
    name = body.get("name")
    if not isinstance(name, str | None):
        raise BadRequest("name is not text")
    return (name or "").strip()


def _object(config: Any) -> dict[str, Any]:
    if not isinstance(config, dict):
        raise BadRequest("config is missing, or not an object")
    return config


def _target(state: Any) -> TargetState:
    if state is None:
        return TargetState.STARTED
    if not isinstance(state, str) or state.upper() not in _TARGETS:
        raise BadRequest(f"initial_state is none of {', '.join(_TARGETS)}")
    return _TARGETS[state.upper()]


def _named(config: dict[str, str], name: str) -> dict[str, str]:
    """Return *config* with the name in it; another one than *name* is an error."""
    given = config.get("name", name)
    if given != name:
        raise BadRequest(
            f"Connector name configuration ({given}) doesn't match connector name in the"
            f" URL ({name})"
        )
    return {**config, "name": name}


def _merged(
    name: str, config: Mapping[str, str], patch: Mapping[str, str | None]
) -> dict[str, str]:
    merged = {**config, **patch}
    return _named({key: value for key, value in merged.items() if value is not None}, name)


def _invalid(errors: list[tuple[str, str]]) -> str:
    """Return Kafka Connect's text; a message that does not name its key gets it in front."""
    lines = [message if key in message else f"{key}: {message}" for key, message in errors]
    first = "Connector configuration is invalid and contains the following {} error(s):"
    last = "You can also find the above list of errors at the endpoint `{}`"
    validate = "/connector-plugins/{connectorType}/config/validate"  # As it is, braces and all.
    return "\n".join([first.format(len(lines)), *lines, last.format(validate)])


def _created(info: ConnectorInfo) -> Response:
    location = path_to("connectors", info.name)
    return Json(responses.info(info), 201, {"location": location})
