"""How what the herder tells reads as JSON: Kafka Connect's entities, and ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from ..status import ConnectorInfo, ConnectorStatus, TaskStatus

if TYPE_CHECKING:
    from ..connector import Progress
    from ..reload import SecretUse


class Json(JSONResponse):
    """An answer of JSON."""

    def render(self, content: Any) -> bytes:
        """Write *content*."""
        return _encoded(text(content))


def text(content: Any) -> str:
    """Return *content* as JSON. What plugins tell may hold what JSON has not; it is text there."""
    return json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )


def written(content: str) -> Response:
    """Return an answer of JSON that is written already."""
    return Response(_encoded(content), media_type=Json.media_type)


def empty(status_code: int) -> Response:
    """Return an answer without a body."""
    return Response(status_code=status_code)


def info(connector: ConnectorInfo) -> dict[str, Any]:
    """Return a ``ConnectorInfo``."""
    tasks = [{"connector": connector.name, "task": task} for task in connector.tasks]
    return {
        "name": connector.name,
        "config": dict(connector.config),
        "tasks": tasks,
        "type": connector.type,
    }


def status(connector: ConnectorStatus, worker_id: str) -> dict[str, Any]:
    """Return a ``ConnectorStateInfo``; a trace is there only if there is something to tell."""
    return {
        "name": connector.name,
        "connector": {
            "state": connector.state,
            "worker_id": worker_id,
            **_trace(connector.trace),
        },
        "tasks": [task_status(task, worker_id) for task in connector.tasks],
        "type": connector.type,
    }


def task_status(task: TaskStatus, worker_id: str) -> dict[str, Any]:
    """Return a ``TaskState``."""
    return {"id": task.id, "state": task.state, "worker_id": worker_id, **_trace(task.trace)}


def offsets(pairs: Iterable[tuple[Mapping[str, Any], Any]]) -> list[dict[str, Any]]:
    """Return ``ConnectorOffset`` entities."""
    return [{"partition": dict(partition), "offset": offset} for partition, offset in pairs]


def progress(tasks: Mapping[int, Progress]) -> dict[str, Any]:
    """Return what tasks have done so far, by number of the task."""
    return {
        str(task): {
            "rows": each.rows,
            "rows_per_second": _finite(each.rows_per_second),
            "offsets": offsets(each.offsets),
        }
        for task, each in sorted(tasks.items())
    }


def secrets(uses: Iterable[SecretUse]) -> list[dict[str, Any]]:
    """Return the references of a connector, with the times of their values in ISO 8601."""
    return [
        {
            "reference": use.reference,
            "config_keys": list(use.config_keys),
            "resolved_at": _moment(use.resolved_at),
            "changed_at": _moment(use.changed_at),
        }
        for use in uses
    ]


def _encoded(content: str) -> bytes:
    """Encode JSON; half of a surrogate pair, which is no Unicode, is escaped."""
    return content.encode(errors="backslashreplace")


def _finite(rate: float | None) -> float | None:
    """Return *rate*, if it is a number in JSON: Spark also knows infinity, at the beginning."""
    return rate if rate is not None and isfinite(rate) else None


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _trace(trace: str) -> dict[str, str]:
    return {"trace": trace} if trace else {}
