"""How soon 200 connectors run with a secret that has changed: against what the settings allow.

The watcher waits until a file has been still, restarts are dealt over ``reload.settle.ms``, and so
many run at a time as ``launch.concurrency`` has it. That and the logins of the connectors are the
ideal; what is above it is the work of the worker.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar, NamedTuple

from worker.odd_connectors import CheapConnector, Waiting
from worker.workers import RotatedSecret, WithoutSpark, runs, until, worker_config

from configproviders.worker.connector import TaskContext
from configproviders.worker.worker import Worker

from .bench import spread

CONNECTORS, CONCURRENCY, ROUNDS = 200, 8, 12
WATCHER_SETTLE = 0.1


class LoggingIn(Waiting):
    """Takes a while to start, as what logs in does, and tells when it has."""

    started: ClassVar[SimpleQueue[tuple[float, str]]] = SimpleQueue()

    def start(self, context: TaskContext) -> None:
        """Start, and tell with which secret."""
        self.context = context
        context.wait(float(context.config["login.ms"]) / 1e3)
        self.started.put((time.perf_counter(), str(context.config["password"])))


class LoggingInConnector(CheapConnector):
    """Has one task, which logs in."""

    task_class = LoggingIn


class Setting(NamedTuple):
    """Milliseconds that restarts are dealt over, and that a login takes."""

    settle: float
    login: float

    @property
    def ideal(self) -> float:
        """The least that the worker may take, in milliseconds."""
        logins = self.login * CONNECTORS / CONCURRENCY
        return WATCHER_SETTLE * 1e3 + max(self.settle + self.login, logins)


def bench_rotation() -> None:
    """Print the time from a rotation until all have started with the new secret."""
    for setting in (Setting(1_000, 0), Setting(50, 20), Setting(50, 0)):
        with tempfile.TemporaryDirectory() as directory:
            secret = RotatedSecret(Path(directory))
            with running(Path(directory), secret, setting) as worker:
                show(setting, [measure(worker, secret) for _ in range(ROUNDS)][1:])


@contextmanager
def running(place: Path, secret: RotatedSecret, setting: Setting) -> Iterator[Worker]:
    """Run a worker with the connectors."""
    config = worker_config(
        place,
        reload__settle__ms=str(setting.settle),
        launch__concurrency=str(CONCURRENCY),
        plugin__allowed__modules=__name__,
    )
    with Worker(config, WithoutSpark()) as worker:
        worker.begin()
        for name in names():
            connector = {
                "name": name,
                "connector.class": f"{__name__}:LoggingInConnector",
                "password": secret.reference,
                "login.ms": str(setting.login),
            }
            worker.herder.create(name, connector).result()
        last_start(secret.value)
        yield worker


def names() -> list[str]:
    """Return the names of the connectors."""
    return [f"connector-{number}" for number in range(CONNECTORS)]


def last_start(secret: str) -> float:
    """Wait until all have started with *secret*; return when the last one did."""
    left, moment = CONNECTORS, 0.0
    while left:
        moment, used = LoggingIn.started.get(timeout=60)
        left -= used == secret
    return moment


def measure(worker: Worker, secret: RotatedSecret) -> float:
    """Return the milliseconds from a rotation until all have started with the new secret."""
    for name in names():
        until(worker, name, runs)
    begin = time.perf_counter()
    secret.rotate()
    return (last_start(secret.value) - begin) * 1e3


def show(setting: Setting, rounds: list[float]) -> None:
    """Print the ratio to the ideal, both sides, and what the rest comes to for a connector."""
    each = (statistics.median(rounds) - setting.ideal) / CONNECTORS
    print(
        f"{spread([one / setting.ideal for one in rounds], '.2f')} x  rotation until"
        f" {CONNECTORS} connectors run with it, reload.settle.ms {setting.settle:,},"
        f" {setting.login} ms to log in, {CONCURRENCY} at a time: {spread(rounds, ',.0f')} ms"
        f" against {setting.ideal:,.0f} ms that the settings ask for; {each:.2f} ms more each",
        flush=True,
    )
