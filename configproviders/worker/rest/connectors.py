"""What is done with connectors and their tasks: ``/connectors``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import NotFound
from . import responses
from .paths import flag, number_of, resource, text_of
from .responses import Json, empty
from .waiting import done, in_thread

if TYPE_CHECKING:
    from ..entry import View
    from ..status import TaskStatus
    from ..worker import Worker

_EXPANDABLE = ("status", "info", "secrets", "progress")


class Connectors:
    """Shows connectors and their tasks, and changes their states; configs are elsewhere."""

    def __init__(self, worker: Worker, worker_id: str) -> None:
        """Show those of *worker*, under its id."""
        self._herder, self._secrets = worker.herder, worker.secrets
        self._worker_id = worker_id
        self._texts: dict[tuple[str, ...], dict[str, tuple[View, str]]] = {}

    def routes(self) -> list[Route]:
        """Return the routes that stand below one connector."""
        one, task = "/connectors/{connector}", "/connectors/{connector}/tasks/{task}"
        return [
            resource(f"{one}/status", get=self.status),
            resource(f"{one}/restart", post=self.restart),
            resource(f"{one}/pause", put=self.pause),
            resource(f"{one}/resume", put=self.resume),
            resource(f"{one}/stop", put=self.stop),
            resource(f"{one}/secrets", get=self.secrets),
            resource(f"{one}/topics", get=self.topics),
            resource(f"{one}/topics/reset", put=self.topics),
            resource(f"{one}/tasks", get=self.tasks),
            resource(f"{task}/status", get=self.task_status),
            resource(f"{task}/restart", post=self.restart_task),
        ]

    async def get_all(self, request: Request) -> Response:
        """List the names; with ``expand``, each name with what is asked for."""
        asked = request.query_params.getlist("expand")
        if not asked:
            return Json(self._herder.names())
        parts = [part for part in _EXPANDABLE if part in asked]
        if "progress" in parts or "secrets" in parts:  # They ask Spark, and parse configs.
            return await in_thread(self._expanded, parts)
        return self._published(tuple(parts))

    async def get(self, request: Request) -> Response:
        """Show what is stored of a connector."""
        return Json(responses.info(self._herder.info(_name(request))))

    async def delete(self, request: Request) -> Response:
        """Stop a connector and forget it."""
        await done(self._herder.delete(_name(request)))
        return empty(204)

    async def status(self, request: Request) -> Response:
        """Show the states of a connector and its tasks."""
        return Json(responses.status(self._herder.status(_name(request)), self._worker_id))

    async def restart(self, request: Request) -> Response:
        """Restart a connector's own object, its tasks too, or what has failed (KIP-745)."""
        include_tasks, only_failed = flag(request, "includeTasks"), flag(request, "onlyFailed")
        status = await done(
            self._herder.restart(
                _name(request), include_tasks=include_tasks, only_failed=only_failed
            )
        )
        if not (include_tasks or only_failed):
            return empty(204)
        return Json(responses.status(status, self._worker_id), 202)

    async def pause(self, request: Request) -> Response:
        """Have a connector rest."""
        await done(self._herder.pause(_name(request)))
        return empty(202)

    async def resume(self, request: Request) -> Response:
        """Have a paused or stopped connector run."""
        await done(self._herder.resume(_name(request)))
        return empty(202)

    async def stop(self, request: Request) -> Response:
        """Stop a connector; it has no tasks then (KIP-875)."""
        await done(self._herder.stop(_name(request)))
        return empty(204)

    async def secrets(self, request: Request) -> Response:
        """Show what a connector refers to."""
        uses = await in_thread(self._secrets, _name(request))
        return Json(responses.secrets(uses))

    async def topics(self, _: Request) -> Response:
        """Say that topics are not tracked, as Kafka Connect does where that is turned off.

        As there, the answer is the same for a connector that is not known.
        """
        raise HTTPException(403, "Topic tracking is disabled.")

    async def tasks(self, request: Request) -> Response:
        """Show the configs of a connector's tasks, with references."""
        name = _name(request)
        configs = self._herder.task_configs(name)
        return Json(
            [
                {"id": {"connector": name, "task": task}, "config": dict(config)}
                for task, config in enumerate(configs)
            ]
        )

    async def task_status(self, request: Request) -> Response:
        """Show the state of a task."""
        return Json(responses.task_status(self._task(request), self._worker_id))

    async def restart_task(self, request: Request) -> Response:
        """Restart a task."""
        await done(self._herder.restart_task(_name(request), number_of(request, "task")))
        return empty(204)

    def _task(self, request: Request) -> TaskStatus:
        name, number = _name(request), number_of(request, "task")
        for task in self._herder.status(name).tasks:
            if task.id == number:
                return task
        raise NotFound(f"No status found for task {name}-{number}")

    def _published(self, parts: tuple[str, ...]) -> Response:
        """Show what the herder has published; a view never changes, so its text is kept."""
        before = self._texts.get(parts, {})
        now: dict[str, tuple[View, str]] = {}
        for name, view in self._herder.views().items():
            kept = before.get(name)
            now[name] = kept if kept and kept[0] is view else (view, self._text(name, view, parts))
        self._texts[parts] = now
        return responses.written(f"{{{','.join(text for _, text in now.values())}}}")

    def _text(self, name: str, view: View, parts: tuple[str, ...]) -> str:
        """Write one field of the answer."""
        content = {
            "status": responses.status(view.status, self._worker_id),
            "info": responses.info(view.info),
        }
        return responses.text({name: {part: content[part] for part in parts}})[1:-1]

    def _expanded(self, parts: list[str]) -> Response:
        readers: dict[str, Callable[[str], Any]] = {
            "status": lambda name: responses.status(self._herder.status(name), self._worker_id),
            "info": lambda name: responses.info(self._herder.info(name)),
            "secrets": lambda name: responses.secrets(self._secrets(name)),
            "progress": lambda name: responses.progress(self._herder.progress(name)),
        }
        found = {}
        for name in self._herder.names():
            try:
                found[name] = {part: readers[part](name) for part in parts}
            except NotFound:
                continue  # Deleted meanwhile.
        return Json(found)


def _name(request: Request) -> str:
    return text_of(request, "connector")
