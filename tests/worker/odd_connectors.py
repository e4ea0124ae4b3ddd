"""Connectors that do what connectors sometimes do; those that are cheap never touch Spark."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from configproviders.config_def import NO_DEFAULT, PASSWORD, STRING, ConfigDef, ConfigKey
from configproviders.worker.connector import Connector, Progress, Task, TaskClass, TaskContext

PASSWORD_KEY = ConfigKey("password", PASSWORD, NO_DEFAULT, "high", "The secret that it uses.")
USER_KEY = ConfigKey("user", STRING, "nobody", "low", "Who it is.")


class Waiting(Task):
    """Runs until it is stopped, and keeps what it was started with for tests to see."""

    seen: ClassVar[dict[tuple[str, int], str]] = {}
    contexts: ClassVar[dict[tuple[str, int], TaskContext]] = {}

    def start(self, context: TaskContext) -> None:
        self.context = context
        self.seen[context.connector, context.task] = context.config.get("password", "")
        self.contexts[context.connector, context.task] = context

    def run(self) -> None:
        while not self.context.wait(60):
            pass

    def progress(self) -> Progress:
        return Progress(1, 0.5)


class CheapConnector(Connector):
    """Has as many tasks as it may, each with a copy of the secret in another text."""

    type = "source"
    task_class: ClassVar[TaskClass] = Waiting
    config_def = ConfigDef((PASSWORD_KEY, USER_KEY))

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        url = f"db://{self.config.get('user', 'nobody')}:{self.config['password']}@host"
        return [{**self.config, "url": url, "n": str(n)} for n in range(max_tasks)]

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        pass


class ResettingConnector(CheapConnector):
    """Takes its time to forget its offsets."""

    begun, go_on = threading.Event(), threading.Event()

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        self.begun.set()
        self.go_on.wait(60)


class RaisingConnector(CheapConnector):
    """Its constructor raises."""

    def __init__(self) -> None:
        raise RuntimeError("no way to make one")


class QuotingConnector(CheapConnector):
    """Its start raises with the password in the text."""

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        raise ValueError(f"cannot log in with {config['password']!s}")


class HangingConnector(CheapConnector):
    """Its start waits until somebody lets it go on."""

    go_on = threading.Event()

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        self.go_on.wait(60)


class Refusing(Waiting):
    """Fails while it runs, with the password in the text."""

    def run(self) -> None:
        raise RuntimeError(f"refused: {self.context.config['password']!s}")


class FailingConnector(CheapConnector):
    """Its tasks fail while they run."""

    task_class = Refusing


class Deaf(Waiting):
    """Does not hear that it is to stop."""

    go_on = threading.Event()

    def run(self) -> None:
        self.go_on.wait(60)


class DeafConnector(CheapConnector):
    """Its tasks do not stop."""

    task_class = Deaf


class Once(Waiting):
    """Is done at once."""

    def run(self) -> None:
        pass


class OnceConnector(CheapConnector):
    """Its tasks come to an end."""

    task_class = Once


class Counting(Waiting):
    """Counts rows in Spark again and again."""

    def start(self, context: TaskContext) -> None:
        super().start(context)
        context.spark.range(1000).createOrReplaceTempView("mine")
        self.rows = context.spark.table("mine").count()

    def progress(self) -> Progress:
        return Progress(self.rows)


class CountingConnector(CheapConnector):
    """Works in Spark."""

    task_class = Counting


def note_of(directory: str, connector: str, task: int) -> Path:
    return Path(directory) / f"{quote(connector, safe='')}-{task}"


class Noting(Waiting):
    """Writes down which password it was started with, as its digest."""

    def start(self, context: TaskContext) -> None:
        super().start(context)
        digest = hashlib.sha256(context.config["password"].encode()).hexdigest()
        note = note_of(context.config["notes"], context.connector, context.task)
        note.with_suffix(".new").write_text(digest)
        note.with_suffix(".new").replace(note)


class NotingConnector(CheapConnector):
    """Leaves a note of what its tasks were started with."""

    task_class = Noting


class KeepsCounting(Counting):
    """Counts until it is stopped."""

    def run(self) -> None:
        while not self.context.wait(0.05):
            self.context.spark.range(10).count()


class KeepsCountingConnector(CheapConnector):
    """Works in Spark all the time."""

    task_class = KeepsCounting
