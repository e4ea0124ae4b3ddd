"""What a herder decides, one event at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from worker.doubles import InstantRunner

from configproviders.testing import FakeClock
from configproviders.worker.commands import Commands
from configproviders.worker.errors import Conflict, ConnectException
from configproviders.worker.lifecycle import Lifecycle
from configproviders.worker.runner import TaskFailed
from configproviders.worker.status import Event, State, TargetState
from configproviders.worker.stores import StoredConnector
from configproviders.worker.stores.memory import MemoryStore


class FullStore(MemoryStore):
    """Has no room when it is told so."""

    full = False

    def put(self, connector: StoredConnector) -> None:
        if self.full:
            raise ConnectException("the disk is full")
        super().put(connector)


class World:
    """A lifecycle, and what it works with."""

    def __init__(self, *, by_hand: bool = False, concurrency: int = 8) -> None:
        self.clock, self.store = FakeClock(), FullStore()
        self.runner = InstantRunner(by_hand=by_hand)
        self.lifecycle = Lifecycle(
            self.store,
            self.runner,
            concurrency=concurrency,
            clock=self.clock,
            jitter=lambda: 0.0,
        )
        self.commands = Commands(self.lifecycle, self.store)
        self.runner.start(self.lifecycle.happened)
        self.lifecycle.begin()

    def create(self, name: str = "a", **more: str) -> None:
        config: Mapping[str, str] = {"name": name, **more}
        self.commands.create(name, dict(config), TargetState.STARTED)

    def state(self, name: str = "a") -> State:
        return self.lifecycle.views[name].status.state

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.lifecycle.agenda.run(blocking=False)

    def launches(self) -> int:
        return sum(what == "launch" for what, _ in self.runner.asked)


def test_a_launch_that_a_backend_failed_is_tried_again_with_growing_pauses() -> None:
    world = World()
    world.runner.fails["a"] = True
    world.create()

    launches = []
    for _ in range(8):
        launches.append(world.launches())
        world.wait(1)

    assert launches == [1, 2, 2, 3, 3, 3, 3, 4]


def test_a_launch_that_the_user_has_to_mend_is_not_tried_again() -> None:
    world = World()
    world.runner.fails["a"] = False
    world.create()

    world.wait(1000)

    assert world.launches() == 1
    assert world.state() is State.FAILED


def test_what_is_worth_few_tries_is_given_up_after_them() -> None:
    world = World()
    world.runner.fails["a"], world.runner.tries = True, 3
    world.create()

    for _ in range(5):
        world.wait(60)

    assert world.launches() == 4
    assert world.state() is State.FAILED


def test_one_that_has_run_for_long_is_tried_as_if_it_had_never_failed() -> None:
    world = World()
    world.create()
    launch = world.lifecycle.entries["a"].launch
    for _ in range(3):
        world.lifecycle.happened(TaskFailed("a", launch, 0, "refused", 3))
        world.wait(60)

    world.wait(1000)
    world.lifecycle.happened(TaskFailed("a", launch, 0, "refused", 3))
    world.wait(1)

    assert world.lifecycle.views["a"].status.tasks[0].state is State.RUNNING


def test_so_many_are_launched_at_the_same_time() -> None:
    world = World(by_hand=True, concurrency=3)
    for number in range(10):
        world.create(f"c{number}")
    assert world.launches() == 3

    world.runner.go_on()

    assert world.launches() == 6


def test_one_that_takes_long_to_launch_holds_up_nobody() -> None:
    world = World(by_hand=True, concurrency=1)
    world.create("slow")
    world.create("next")
    assert world.launches() == 1

    for _ in range(31):
        world.wait(1)

    assert world.launches() == 2


def test_a_store_that_is_full_changes_nothing() -> None:
    world = World()
    world.create()
    view = world.lifecycle.views["a"]
    world.store.full = True

    for command in (
        lambda: world.commands.aim("a", TargetState.PAUSED, Event.PAUSE),
        lambda: world.commands.put_config("a", {"name": "a", "x": "1"}, None),
        lambda: world.create("b"),
    ):
        with pytest.raises(ConnectException, match="full"):
            command()

    assert world.lifecycle.views == {"a": view}


def test_a_connector_that_restarts_is_not_restarted_again() -> None:
    world = World()
    world.create()
    world.runner.by_hand = True
    world.commands.restart("a", include_tasks=True, only_failed=False)

    with pytest.raises(Conflict, match="is restarting"):
        world.commands.restart("a", include_tasks=True, only_failed=False)

    assert world.state() is State.RESTARTING


def test_a_pause_in_the_middle_of_a_restart_wins() -> None:
    world = World()
    world.create()
    world.runner.by_hand = True
    world.commands.restart("a", include_tasks=True, only_failed=False)

    world.commands.aim("a", TargetState.PAUSED, Event.PAUSE)
    world.runner.go_on()

    assert world.state() is State.PAUSED
    assert world.runner.running == {}


def test_a_restart_of_the_connector_alone_leaves_its_tasks() -> None:
    world = World()
    world.create(**{"tasks.max": "2"})
    world.runner.by_hand = True

    status = world.commands.restart("a", include_tasks=False, only_failed=False)
    world.runner.go_on()

    assert status.state is State.RESTARTING
    assert [task.state for task in status.tasks] == [State.RUNNING] * 2
    assert world.state() is State.RUNNING
    assert world.runner.asked[-1] == ("restart", "a")


def test_a_restart_of_what_has_failed_restarts_only_that() -> None:
    world = World()
    world.runner.task_fails["a"] = False
    world.create(**{"tasks.max": "2"})

    world.runner.task_fails.clear()
    status = world.commands.restart("a", include_tasks=True, only_failed=True)

    assert status.state is State.RUNNING
    assert world.launches() == 1
    states = [task.state for task in world.lifecycle.views["a"].status.tasks]
    assert states == [State.RUNNING] * 2


def test_a_connector_that_is_made_again_while_it_ends_begins_when_it_has_ended() -> None:
    world = World()
    world.create()
    world.runner.by_hand = True
    world.commands.delete("a")

    world.create()
    assert world.launches() == 1
    world.runner.go_on()
    world.runner.go_on()

    assert world.launches() == 2
    assert world.state() is State.RUNNING
