"""Launches whose parts start, end and hang at the wrong moments; none needs Spark."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from worker.racing_connectors import Slow, StubbornConnector
from worker.test_worker import config
from worker.workers import Begun, RotatedSecret, WithoutSpark, runs, until

from configproviders.providers.env import EnvVarConfigProvider
from configproviders.spark import cleaning
from configproviders.testing import CANARY
from configproviders.transformer import ConfigTransformer
from configproviders.worker.plugins import Plugins
from configproviders.worker.runner import RunnerEvent, failures
from configproviders.worker.runner.spark import SparkRunner
from configproviders.worker.status import State

RACING = "worker.odd_connectors,worker.racing_connectors"


def test_a_connector_that_ends_the_process_when_it_stops_is_stopped(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun(plugin__allowed__modules=RACING) as worker:
        exiting = {"connector.class": "worker.racing_connectors:ExitingConnector"}
        worker.herder.create("a", {**config("a", "", secret), **exiting}).result()
        until(worker, "a", runs)

        worker.herder.stop("a").result(timeout=30)

        assert worker.herder.status("a").state is State.STOPPED


def test_a_task_that_cannot_be_made_has_failed(begun: Begun, secret: RotatedSecret) -> None:
    with begun(plugin__allowed__modules=RACING) as worker:
        unmade = {"connector.class": "worker.racing_connectors:UnmadeConnector"}
        worker.herder.create("a", {**config("a", "", secret), **unmade}).result()

        status = until(worker, "a", lambda each: bool(each.tasks) and bool(each.tasks[0].trace))

        assert status.tasks[0].state is State.FAILED
        assert "SystemExit" in status.tasks[0].trace


def test_a_connector_whose_error_has_no_text_has_failed(
    begun: Begun, secret: RotatedSecret
) -> None:
    with begun(plugin__allowed__modules=RACING) as worker:
        speechless = {"connector.class": "worker.racing_connectors:SpeechlessConnector"}
        worker.herder.create("a", {**config("a", "", secret), **speechless}).result()

        status = until(worker, "a", lambda each: each.state is State.FAILED)

        assert "Speechless" in status.trace


def test_no_line_of_a_value_of_several_lines_is_in_a_trace() -> None:
    lines = [f"{CANARY}-{name}" for name in ("begin", "middle", "end")]
    cleaning.remember(["\n".join(lines)])

    trace = failures.trace(ValueError("not a key: " + "\n".join(lines)))

    assert CANARY not in trace


def test_a_task_that_is_stopped_while_it_starts_is_stopped_after_its_start(
    begun: Begun, secret: RotatedSecret
) -> None:
    Slow.done.clear()
    Slow.begun.clear()
    Slow.go_on.clear()
    with begun(plugin__allowed__modules=RACING) as worker:
        slow = {"connector.class": "worker.racing_connectors:SlowConnector"}
        worker.herder.create("a", {**config("a", "", secret), **slow}).result()
        Slow.begun.wait(30)
        halted = worker.herder.stop("a")
        Slow.context.wait(30)

        Slow.go_on.set()
        halted.result(timeout=30)

        assert Slow.done == ["start", "stop"]


class Recorder:
    """A runner alone, and what it says."""

    def __init__(self, connector: str, grace: float = 5.0, tasks: int = 1) -> None:
        self.events: list[RunnerEvent] = []
        self.follows: list[int] = []
        self.changed = threading.Condition()
        self.config = {
            "name": "a",
            "connector.class": f"worker.racing_connectors:{connector}",
            "password": "none",
            "tasks.max": str(tasks),
        }
        transformer = ConfigTransformer({"env": EnvVarConfigProvider()})
        self.runner = SparkRunner(
            Plugins(["worker.racing_connectors"]),
            transformer,
            WithoutSpark(),
            follow=self.follow,
            forget=lambda *_: None,
            grace=timedelta(seconds=grace),
        )
        self.runner.start(self.tell)

    def tell(self, event: RunnerEvent) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def follow(self, _: str, launch: int, *__: Mapping[Any, Any]) -> None:
        with self.changed:
            self.follows.append(launch)
            self.changed.notify_all()

    def until(self, *names: str) -> None:
        def are_there() -> bool:
            said: Collection[str] = [type(each).__name__ for each in self.events]
            return list(names) == list(said)

        with self.changed:
            assert self.changed.wait_for(are_there, 30), self.events


def test_tasks_that_are_not_restarted_with_their_connector_are_watched_from_their_own_start() -> (
    None
):
    recorder = Recorder("StubbornConnector")
    recorder.runner.launch("a", recorder.config, 1)
    recorder.until("Launched", "TaskStarted")
    with recorder.changed:
        recorder.changed.wait_for(lambda: recorder.follows, 30)

    recorder.runner.restart("a", connector=True, tasks=[])
    recorder.until("Launched", "TaskStarted", "Launched")
    recorder.runner.halt("a")
    recorder.until("Launched", "TaskStarted", "Launched", "Halted")

    assert recorder.follows == [1]


def test_a_connector_that_is_restarted_is_stopped_before() -> None:
    StubbornConnector.done.clear()
    recorder = Recorder("StubbornConnector")
    recorder.runner.launch("a", recorder.config, 1)
    recorder.until("Launched", "TaskStarted")

    recorder.runner.restart("a", connector=True, tasks=[])
    recorder.until("Launched", "TaskStarted", "Launched")
    recorder.runner.halt("a")
    recorder.until("Launched", "TaskStarted", "Launched", "Halted")

    assert StubbornConnector.done == ["start", "stop", "start", "stop"]


def test_a_connector_whose_restart_takes_longer_than_its_stop_is_stopped_in_the_end() -> None:
    StubbornConnector.done.clear()
    recorder = Recorder("StubbornConnector", grace=0.1)
    recorder.runner.launch("a", recorder.config, 1)
    recorder.until("Launched", "TaskStarted")
    StubbornConnector.go_on.clear()
    StubbornConnector.begun.clear()
    recorder.runner.restart("a", connector=True, tasks=[])
    StubbornConnector.begun.wait(30)
    recorder.runner.halt("a")
    recorder.until("Launched", "TaskStarted", "Halted")
    StubbornConnector.stopped.clear()

    StubbornConnector.go_on.set()

    assert StubbornConnector.stopped.wait(30)
    assert StubbornConnector.done == ["start", "stop", "start", "stop"]


def test_many_tasks_that_do_not_stop_are_given_up_at_the_same_time() -> None:
    StubbornConnector.deaf.clear()
    recorder = Recorder("DeafConnector", grace=0.1, tasks=20)
    recorder.runner.launch("a", recorder.config, 1)
    recorder.until("Launched", *["TaskStarted"] * 20)

    recorder.runner.halt("a")
    recorder.until("Launched", *["TaskStarted"] * 20, "Halted")  # It would take 40 seconds.

    StubbornConnector.deaf.set()


def test_a_connector_for_which_there_is_no_thread_is_tried_again_and_can_be_stopped() -> None:
    recorder = Recorder("StubbornConnector")
    recorder.runner.launch("b", recorder.config, 1)
    recorder.until("Launched", "TaskStarted")
    before = threading.stack_size(1 << 46)  # More than there is.
    try:
        recorder.runner.launch("a", recorder.config, 2)
        recorder.runner.halt("a")
        recorder.runner.halt("b")
    finally:
        threading.stack_size(before)

    recorder.until("Launched", "TaskStarted", "LaunchFailed", "Halted", "Halted")
