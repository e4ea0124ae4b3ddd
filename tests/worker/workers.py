"""A worker whose connectors do not touch Spark, and a secret that can be rotated."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from configproviders.testing import CANARY
from configproviders.worker.runner.application import Application
from configproviders.worker.status import ConnectorStatus, State
from configproviders.worker.worker import Worker
from configproviders.worker.worker_config import WorkerConfig

Begun = Callable[..., AbstractContextManager[Worker]]


class WithoutSpark(Application):
    """An application that is always there, for connectors that never ask for a session."""

    def __init__(self) -> None:
        super().__init__({}, {})

    def start(self) -> None:
        pass

    def check(self) -> str:
        return ""


class RotatedSecret:
    """A file with a password, which is another after each rotation."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "db.properties"
        self.count = 0
        self.rotate()

    @property
    def value(self) -> str:
        return f"{CANARY}-{self.count}"

    @property
    def reference(self) -> str:
        return f"${{file:{self.file}:password}}"

    def rotate(self) -> None:
        self.count += 1
        new = self.file.with_suffix(".new")
        new.write_text(f"password={self.value}\n")
        os.replace(new, self.file)


def worker_config(directory: Path, **more: str) -> WorkerConfig:
    return WorkerConfig.of(entries(directory, **more))


def entries(directory: Path, **more: str) -> dict[str, str]:
    """Return the settings of a worker; more of them are keywords, with ``__`` for dots."""
    provider = "config.providers.file"
    given = {key.replace("__", "."): text for key, text in more.items()}
    return {
        "config.providers": "file",
        f"{provider}.class": "file",
        f"{provider}.param.allowed.paths": str(directory),
        "plugin.allowed.modules": "worker.odd_connectors",
        "config.storage.file.filename": str(directory / "connectors.db"),
        "reload.settle.ms": "50",
        "retry.backoff.ms": "50",
        "task.shutdown.graceful.timeout.ms": "5000",
        "listeners": "http://127.0.0.1:0",
        **given,
    }


def until(
    worker: Worker,
    name: str,
    is_there: Callable[[ConnectorStatus], bool],
    *,
    said: Callable[[], object] = str,
) -> ConnectorStatus:
    """Wait until the status of a connector is as wanted; return it. *said* is told if it is not."""
    end = time.monotonic() + 60
    while not is_there(status := worker.herder.status(name)):
        assert time.monotonic() < end, (status, said())
        time.sleep(0.01)
    return status


def runs(status: ConnectorStatus) -> bool:
    """Whether a connector runs, and all of its tasks do."""
    states = {status.state, *(task.state for task in status.tasks)}
    return states == {State.RUNNING} and bool(status.tasks)
