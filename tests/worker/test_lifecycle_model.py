"""Random sequences of commands, failures, rotations and crashes against the table of states."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from worker.doubles import InstantRunner

from configproviders.testing import FakeClock
from configproviders.worker.commands import Commands
from configproviders.worker.errors import AlreadyExists, Conflict, NotFound
from configproviders.worker.lifecycle import Lifecycle
from configproviders.worker.status import CONNECTOR, TASK, Event, State, TargetState
from configproviders.worker.stores.memory import MemoryStore

NAMES = st.sampled_from(["a", "b", "c"])
LEGAL = {(before, after) for (before, _), after in CONNECTOR.items()}
LEGAL_OF_TASKS = {(before, after) for (before, _), after in TASK.items()}
MOVES = {
    Event.PAUSE: TargetState.PAUSED,
    Event.RESUME: TargetState.STARTED,
    Event.STOP: TargetState.STOPPED,
}


class Resolving(InstantRunner):
    """Holds, for what it launches, the secret of that moment."""

    secret = 0

    def __init__(self) -> None:
        super().__init__(by_hand=True)
        self.held: dict[str, int] = {}

    def launch(self, name: str, config: Mapping[str, str], launch: int) -> None:
        self.held[name] = self.secret
        super().launch(name, config, launch)


class Connectors(RuleBasedStateMachine):
    """What may be asked of a herder, and may happen to it, in any order."""

    @initialize()
    def begin(self) -> None:
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.runner = Resolving()
        self.start()

    def start(self) -> None:
        self.lifecycle = Lifecycle(
            self.store,
            self.runner,
            told=self.told,
            concurrency=2,
            clock=self.clock,
            jitter=lambda: 0.5,
        )
        self.commands = Commands(self.lifecycle, self.store)
        self.runner.start(self.lifecycle.happened)
        self.lifecycle.begin()

    def told(self, name: str, task: int | None, before: State, after: State, _: str) -> None:
        assert (before, after) in (LEGAL if task is None else LEGAL_OF_TASKS)

    @rule(name=NAMES, wanted=st.sampled_from(TargetState), tasks=st.integers(1, 3))
    def create(self, name: str, wanted: TargetState, tasks: int) -> None:
        there = name in self.lifecycle.views
        try:
            self.commands.create(name, {"name": name, "tasks.max": str(tasks)}, wanted)
            assert not there
        except AlreadyExists:
            assert there

    @rule(name=NAMES, tasks=st.integers(1, 3))
    def configure(self, name: str, tasks: int) -> None:
        there = name in self.lifecycle.views
        _, created = self.commands.put_config(name, {"name": name, "tasks.max": str(tasks)}, None)
        assert created is not there

    @rule(name=NAMES, event=st.sampled_from(list(MOVES)))
    def aim(self, name: str, event: Event) -> None:
        try:
            self.commands.aim(name, MOVES[event], event)
        except NotFound:
            assert name not in self.lifecycle.views

    @rule(name=NAMES, include_tasks=st.booleans(), only_failed=st.booleans())
    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> None:
        view = self.lifecycle.views.get(name)
        try:
            self.commands.restart(name, include_tasks=include_tasks, only_failed=only_failed)
        except NotFound:
            assert view is None
        except Conflict:
            assert view is not None
            assert view.status.state in {State.RESTARTING, State.STOPPED}
            assert self.lifecycle.views[name] == view

    @rule(name=NAMES, task=st.integers(0, 2))
    def restart_task(self, name: str, task: int) -> None:
        view = self.lifecycle.views.get(name)
        try:
            self.commands.restart_task(name, task)
        except NotFound:
            assert view is None or task not in view.info.tasks
        except Conflict:
            assert self.lifecycle.views[name] == view

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        with suppress(NotFound):
            self.commands.delete(name)
        assert name not in self.lifecycle.views

    @rule()
    def rotate(self) -> None:
        Resolving.secret += 1
        for name in self.runner.held:
            self.lifecycle.secret_changed(name)

    @rule(name=NAMES, retry=st.booleans(), of_task=st.booleans())
    def begin_to_fail(self, name: str, *, retry: bool, of_task: bool) -> None:
        (self.runner.task_fails if of_task else self.runner.fails)[name] = retry

    @rule(name=NAMES)
    def cease_to_fail(self, name: str) -> None:
        self.runner.fails.pop(name, None)
        self.runner.task_fails.pop(name, None)

    @precondition(lambda self: self.runner.waiting)
    @rule()
    def tell_one(self) -> None:
        self.lifecycle.happened(self.runner.waiting.pop(0))

    @rule(seconds=st.sampled_from([0.1, 1.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.lifecycle.agenda.run(blocking=False)

    @rule()
    def crash_and_start_again(self) -> None:
        self.runner = Resolving()
        self.start()

    @invariant()
    def store_and_views_agree(self) -> None:
        if hasattr(self, "store"):
            stored = {each.name: (each.config, each.target) for each in self.store.connectors()}
            infos = [view.info for view in self.lifecycle.views.values()]
            assert stored == {each.name: (each.config, each.target) for each in infos}

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        self.runner.fails.clear()
        self.runner.task_fails.clear()
        for _ in range(20):
            while self.runner.waiting:
                self.lifecycle.happened(self.runner.waiting.pop(0))
            self.clock.advance(100)
            self.lifecycle.agenda.run(blocking=False)
        for name, view in self.lifecycle.views.items():
            self.check_end(name, view.info.target, view.status.state)

    def check_end(self, name: str, target: TargetState, state: State) -> None:
        wanted = {
            TargetState.STARTED: {State.RUNNING, State.FAILED},
            TargetState.PAUSED: {State.PAUSED, State.FAILED},
            TargetState.STOPPED: {State.STOPPED},
        }
        assert state in wanted[target]
        assert (name in self.runner.running) is (state is State.RUNNING)
        if state is State.RUNNING:
            assert self.runner.held[name] == Resolving.secret
            tasks = {each.state for each in self.lifecycle.views[name].status.tasks}
            assert tasks <= {State.RUNNING, State.FAILED}


long = bool(os.environ.get("SOAK"))
Connectors.TestCase.settings = settings(
    max_examples=5000 if long else 500,
    stateful_step_count=80 if long else 40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestConnectors = Connectors.TestCase
