"""Things that happen at the same time, or in an order that nobody expects; none needs Spark."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from worker.doubles import InstantRunner

from configproviders.testing import FakeClock
from configproviders.worker.commands import Commands
from configproviders.worker.herder import Herder
from configproviders.worker.lifecycle import Lifecycle
from configproviders.worker.runner import TaskEnded, TaskFailed
from configproviders.worker.status import Event, State, TargetState
from configproviders.worker.stores.memory import MemoryStore

STARTED, PAUSED = TargetState.STARTED, TargetState.PAUSED


class Crowd:
    """A lifecycle, its commands and its runner, which tells nothing before it is let go on."""

    def __init__(self, runner: InstantRunner | None = None, concurrency: int = 8) -> None:
        self.runner = runner or InstantRunner(by_hand=True)
        self.store, self.clock = MemoryStore(), FakeClock()
        self.lifecycle = Lifecycle(
            self.store,
            self.runner,
            concurrency=concurrency,
            clock=self.clock,
            jitter=lambda: 0.5,
        )
        self.commands = Commands(self.lifecycle, self.store)
        self.runner.start(self.lifecycle.happened)
        self.lifecycle.begin()

    def create(self, *names: str, tasks: int = 1, target: TargetState = STARTED) -> None:
        for name in names:
            self.commands.create(name, {"name": name, "tasks.max": str(tasks)}, target)
        self.settle()

    def settle(self) -> None:
        while self.runner.waiting:
            self.runner.go_on()

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.lifecycle.agenda.run(blocking=False)

    def asked(self, name: str) -> list[str]:
        asked = [what for what, who in self.runner.asked if who == name]
        self.runner.asked.clear()
        return asked

    def state(self, name: str) -> State:
        return self.lifecycle.views[name].status.state

    def task_states(self, name: str) -> list[State]:
        return [each.state for each in self.lifecycle.views[name].status.tasks]


def test_one_that_waits_in_line_with_a_changed_secret_keeps_its_place() -> None:
    crowd = Crowd(concurrency=1)
    crowd.create("a", "b")
    crowd.lifecycle.secret_changed("a")
    crowd.lifecycle.secret_changed("b")
    crowd.wait(1)
    crowd.asked("b")

    crowd.commands.aim("b", STARTED, Event.RESUME)  # Says what is so already.
    crowd.settle()

    assert crowd.asked("b") == ["halt", "launch"]


def test_a_connector_that_is_deleted_while_it_rests_is_forgotten() -> None:
    crowd = Crowd()
    crowd.create("a", target=PAUSED)

    crowd.commands.delete("a")

    assert crowd.lifecycle.entries == {}


@pytest.mark.parametrize("command", ["delete", "stop"])
def test_the_runner_lets_go_of_a_connector_that_has_failed(command: str) -> None:
    crowd = Crowd()
    crowd.runner.fails["a"] = False
    crowd.create("a")
    crowd.asked("a")

    if command == "delete":
        crowd.commands.delete("a")
    else:
        crowd.commands.stop("a", Future())
    crowd.settle()

    assert crowd.asked("a") == ["halt"]


def test_a_failed_connector_that_is_paused_when_it_would_be_tried_again_is_when_resumed() -> None:
    crowd = Crowd()
    crowd.runner.fails["a"] = True
    crowd.create("a")
    crowd.commands.aim("a", PAUSED, Event.PAUSE)
    crowd.runner.fails.clear()
    crowd.wait(60)
    crowd.settle()

    crowd.commands.aim("a", STARTED, Event.RESUME)
    crowd.settle()

    assert crowd.state("a") is State.RUNNING


def test_a_secret_that_is_mended_while_a_failed_connector_is_paused_is_not_forgotten() -> None:
    crowd = Crowd()
    crowd.runner.fails["a"] = False
    crowd.create("a")
    crowd.commands.aim("a", PAUSED, Event.PAUSE)
    crowd.runner.fails.clear()
    crowd.lifecycle.secret_changed("a")
    crowd.wait(60)
    crowd.settle()

    crowd.commands.aim("a", STARTED, Event.RESUME)
    crowd.settle()

    assert crowd.state("a") is State.RUNNING


def test_a_failed_connector_for_which_nothing_has_changed_stays_so_when_resumed() -> None:
    crowd = Crowd()
    crowd.runner.fails["a"] = False
    crowd.create("a")
    crowd.commands.aim("a", PAUSED, Event.PAUSE)
    crowd.settle()

    crowd.commands.aim("a", STARTED, Event.RESUME)
    crowd.settle()

    assert crowd.state("a") is State.FAILED


def test_a_failed_connector_that_is_configured_while_paused_rests() -> None:
    crowd = Crowd()
    crowd.runner.fails["a"] = False
    crowd.create("a")
    crowd.commands.aim("a", PAUSED, Event.PAUSE)

    crowd.commands.put_config("a", {"name": "a"}, None)
    crowd.settle()

    assert crowd.state("a") is State.PAUSED


class AllTasksFail(InstantRunner):
    """Each task fails at its first start, for a reason that is worth three tries."""

    def __init__(self) -> None:
        super().__init__(by_hand=True)
        self.has_failed: set[int] = set()

    def _start_task(self, name: str, launch: int, task: int) -> None:
        if task in self.has_failed:
            super()._start_task(name, launch, task)
        else:
            self.has_failed.add(task)
            self._tell(TaskFailed(name, launch, task, "no luck", 3))


def test_many_tasks_that_fail_at_once_are_all_tried_again_at_once() -> None:
    crowd = Crowd(AllTasksFail())
    crowd.create("a", tasks=10)

    crowd.wait(1)
    crowd.settle()

    assert crowd.task_states("a") == [State.RUNNING] * 10


def test_a_task_that_fails_while_it_is_restarted_is_what_its_new_start_says() -> None:
    crowd = Crowd()
    crowd.create("a")
    crowd.commands.restart_task("a", 0)
    of_before = TaskFailed("a", crowd.runner.launches["a"], 0, "no luck", 0)

    crowd.lifecycle.happened(of_before)
    crowd.settle()

    assert crowd.task_states("a") == [State.RUNNING]


def test_a_task_that_ends_while_it_is_restarted_does_not_end_the_connector() -> None:
    crowd = Crowd()
    crowd.create("a")
    crowd.commands.restart_task("a", 0)
    of_before = TaskEnded("a", crowd.runner.launches["a"], 0)

    crowd.lifecycle.happened(of_before)
    crowd.settle()

    assert crowd.task_states("a") == [State.RUNNING]
    assert crowd.lifecycle.views["a"].info.target is STARTED


def test_a_task_that_has_ended_and_is_restarted_keeps_the_connector_running() -> None:
    crowd = Crowd()
    crowd.create("a", tasks=2)
    launch = crowd.runner.launches["a"]
    crowd.lifecycle.happened(TaskEnded("a", launch, 0))
    crowd.commands.restart_task("a", 0)

    crowd.lifecycle.happened(TaskEnded("a", launch, 1))
    crowd.settle()

    assert crowd.state("a") is State.RUNNING


def test_a_task_that_has_ended_holds_up_no_other_connector() -> None:
    crowd = Crowd(concurrency=1)
    crowd.commands.create("a", {"name": "a", "tasks.max": "2"}, STARTED)
    *_, second = crowd.runner.waiting
    for event in crowd.runner.waiting[:-1]:
        crowd.lifecycle.happened(event)
    crowd.lifecycle.happened(TaskEnded("a", crowd.runner.launches["a"], 0))
    crowd.lifecycle.happened(second)
    crowd.runner.waiting.clear()

    crowd.create("b")

    assert crowd.state("b") is State.RUNNING


def test_who_waits_no_longer_for_a_stop_holds_up_nothing() -> None:
    crowd = Crowd()
    crowd.create("a")
    halted: Future[None] = Future()
    crowd.commands.stop("a", halted)
    halted.cancel()

    crowd.settle()

    assert crowd.state("a") is State.STOPPED


def test_a_stop_that_is_under_way_when_the_worker_is_closed_has_an_end() -> None:
    store, runner = MemoryStore(), InstantRunner(by_hand=True)
    herder = Herder(Lifecycle(store, runner), store, runner)
    herder.start()
    herder.begin()
    herder.create("a", {"name": "a"}).result()
    halted = herder.stop("a")
    herder.pause("a").exception()  # Comes after it.

    herder.close()

    assert halted.result(timeout=10) is None
