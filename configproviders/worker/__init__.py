"""A worker that runs connectors as Spark jobs, by Kafka Connect's REST API.

``python -m configproviders.worker worker.properties`` runs one. What authors of connectors need is
named here, and imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connector import Connector as Connector
    from .connector import Progress as Progress
    from .connector import Task as Task
    from .connector import TaskContext as TaskContext
    from .errors import ConnectException as ConnectException
    from .worker import Worker as Worker
    from .worker_config import WorkerConfig as WorkerConfig

_MODULES = {
    "ConnectException": ".errors",
    "Connector": ".connector",
    "Progress": ".connector",
    "Task": ".connector",
    "TaskContext": ".connector",
    "Worker": ".worker",
    "WorkerConfig": ".worker_config",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_MODULES)
