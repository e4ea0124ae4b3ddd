"""Fixtures of a worker without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from worker.workers import Begun, RotatedSecret, WithoutSpark, worker_config

from configproviders.worker.runner.application import Application
from configproviders.worker.worker import Worker


@pytest.fixture
def secret(tmp_path: Path) -> RotatedSecret:
    return RotatedSecret(tmp_path)


@pytest.fixture
def begun(tmp_path: Path) -> Begun:
    """Open a worker, by default one without Spark; more entries of its config are keywords."""

    @contextmanager
    def begin(application: Application | None = None, **entries: str) -> Iterator[Worker]:
        with Worker(worker_config(tmp_path, **entries), application or WithoutSpark()) as worker:
            worker.begin()
            yield worker

    return begin
