"""A worker as a process of its own, whose connectors never ask for Spark: it starts at once."""

from __future__ import annotations

import sys

from worker.workers import WithoutSpark

from configproviders.worker.__main__ import main
from configproviders.worker.rest.app import create_admin_app, create_app
from configproviders.worker.server import App
from configproviders.worker.worker import Worker
from configproviders.worker.worker_config import WorkerConfig


def assemble(config: WorkerConfig, port: int) -> tuple[Worker, App, App]:
    worker = Worker(config, WithoutSpark())
    return worker, create_app(worker, port=port), create_admin_app(worker)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], assemble))
