"""Connectors that start, stop and end at moments that tests choose."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import ClassVar

from worker.odd_connectors import CheapConnector, Waiting

from configproviders.worker.connector import Task, TaskContext


class ExitingConnector(CheapConnector):
    """Its stop tries to end the process."""

    def stop(self) -> None:
        raise SystemExit(3)


class Unmade(Waiting):
    """Its constructor tries to end the process."""

    def __init__(self) -> None:
        raise SystemExit(3)


class UnmadeConnector(CheapConnector):
    """Has tasks that cannot be made."""

    task_class = Unmade


class SpeechlessError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class SpeechlessConnector(CheapConnector):
    """Its start raises an error that has no text."""

    def start(self, config: Mapping[str, str]) -> None:
        raise SpeechlessError


class Slow(Waiting):
    """Its start takes until it may go on, and says what was done to it in what order."""

    done: ClassVar[list[str]] = []
    begun = threading.Event()
    go_on = threading.Event()
    context: TaskContext

    def start(self, context: TaskContext) -> None:
        Slow.context = context
        self.begun.set()
        self.go_on.wait(60)
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")


class SlowConnector(CheapConnector):
    """Has tasks whose start takes a while."""

    task_class = Slow


class StubbornConnector(CheapConnector):
    """Says what was done to it; its start waits, if it is to, whatever else happens."""

    done: ClassVar[list[str]] = []
    begun = threading.Event()
    go_on = threading.Event()
    stopped = threading.Event()
    deaf = threading.Event()
    go_on.set()

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        self.begun.set()
        self.go_on.wait(60)
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")
        self.stopped.set()


class Deaf(Waiting):
    """Does not hear that it is to stop."""

    def run(self) -> None:
        StubbornConnector.deaf.wait(60)


class DeafConnector(CheapConnector):
    """Its tasks do not stop."""

    task_class: ClassVar[type[Task]] = Deaf
