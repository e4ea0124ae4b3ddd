"""One connector as the herder knows it: :class:`Entry`, and :class:`View`, what is shown of it."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum

from .errors import Conflict
from .logs import connector_logger
from .status import (
    CONNECTOR,
    TASK,
    ConnectorInfo,
    ConnectorStatus,
    Event,
    State,
    TargetState,
    TaskStatus,
)

AT_FIRST = {
    TargetState.STARTED: State.UNASSIGNED,
    TargetState.PAUSED: State.PAUSED,
    TargetState.STOPPED: State.STOPPED,
}
"""The state in which a connector begins, by what is wanted of it."""

UNKNOWN = "unknown"
_RELOADS = 30  # In a minute: a secret that is another each time it is asked for has no end.
_SETTLING = {State.UNASSIGNED, State.RESTARTING}

Transition = Callable[[str, int | None, State, State, str], None]
"""Takes the name, the task if it is one, the states before and after, and a trace."""


class Phase(Enum):
    """What the runner is doing for a connector."""

    IDLE = "idle"
    LAUNCHING = "launching"
    LIVE = "live"
    HALTING = "halting"


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a connector, made anew with each change."""

    info: ConnectorInfo
    status: ConnectorStatus
    task_configs: tuple[Mapping[str, str], ...] = field(repr=False)


@dataclass(slots=True, eq=False)
class Entry:
    """One connector: what is stored of it, its states, and what the runner does for it."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    target: TargetState
    type: str
    told: Transition
    state: State = State.UNASSIGNED
    trace: str = ""
    tasks: dict[int, TaskStatus] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    task_configs: tuple[Mapping[str, str], ...] = field(default=(), repr=False)
    phase: Phase = Phase.IDLE
    launch: int = 0
    deleted: bool = False
    held: bool = False
    reload: bool = False
    reloaded: deque[float] = field(default_factory=lambda: deque(maxlen=_RELOADS))
    failures: int = 0
    failed_at: float = 0.0
    again: set[int | None] = field(default_factory=set)
    halted: list[Future[None]] = field(default_factory=list)

    def view(self) -> View:
        """Return what is shown of it now."""
        tasks = tuple(self.tasks[each] for each in sorted(self.tasks))
        info = ConnectorInfo(
            self.name, self.config, tuple(each.id for each in tasks), self.type, self.target
        )
        status = ConnectorStatus(self.name, self.state, tasks, self.type, self.trace)
        return View(info, status, self.task_configs)

    @property
    def waits_for_launch(self) -> bool:
        """Whether the runner has to be asked to launch it."""
        wanted = not self.deleted and self.target is TargetState.STARTED
        return wanted and self.phase is Phase.IDLE and self.state in _SETTLING

    @property
    def is_settling(self) -> bool:
        """Whether it, or one of its tasks, is on the way to run."""
        if self.phase is Phase.LIVE:
            tasks = (task for number, task in self.tasks.items() if number not in self.ended)
            return any(each.state in _SETTLING for each in tasks)
        return self.phase is not Phase.IDLE and not self.deleted

    def is_running(self, task: int) -> bool:
        """Whether *task* is there, and runs."""
        return task in self.tasks and self.tasks[task].state is State.RUNNING

    def check(self, event: Event) -> None:
        """Raise :class:`Conflict` if *event* is illegal now."""
        if (self.state, event) not in CONNECTOR:
            raise Conflict(_illegal(self.name, self.state, event))

    def move(self, event: Event, trace: str = "") -> None:
        """Go to the state after *event*; an illegal one changes nothing."""
        before, after = self.state, CONNECTOR.get((self.state, event))
        if after is None:
            return
        if after is not before:
            self.state, self.trace = after, trace
            self.told(self.name, None, before, after, trace)

    def move_task(self, task: int, event: Event, trace: str = "") -> None:
        """Have *task* go to the state after *event*; an illegal one changes nothing."""
        before = self.tasks.get(task)
        after = TASK.get((before.state, event)) if before else None
        if before is None or after is None:
            return
        if after is not before.state:
            self.tasks[task] = TaskStatus(task, after, trace)
            self.told(self.name, task, before.state, after, trace)

    def move_tasks(self, tasks: Iterable[int], event: Event) -> None:
        """Have each of *tasks* go to the state after *event*."""
        for task in list(tasks):
            self.move_task(task, event)

    def take_tasks(self, configs: Sequence[Mapping[str, str]]) -> None:
        """Have new tasks with *configs*, which have not begun; none if they are the same."""
        if tuple(configs) != self.task_configs or len(configs) != len(self.tasks):
            self.task_configs = tuple(configs)
            self.tasks = {each: TaskStatus(each, State.UNASSIGNED) for each in range(len(configs))}
            self.ended.clear()

    def drop_tasks(self) -> None:
        """Have no tasks."""
        self.tasks, self.task_configs = {}, ()

    def end_waiting(self) -> None:
        """Tell those who wait for it to be halted."""
        for each in self.halted:
            if each.set_running_or_notify_cancel():
                each.set_result(None)
        self.halted.clear()


def log_transition(name: str, task: int | None, before: State, after: State, trace: str) -> None:
    """Log one line for a transition, under the name of the connector."""
    logger = connector_logger(name)
    what = name if task is None else f"{name}, task {task}"
    extra = {"connector": name, "task": task, "from": before.value, "to": after.value}
    level = logging.ERROR if after is State.FAILED else logging.INFO
    why = f": {trace}".partition("\n")[0] if trace else ""
    logger.log(level, "%s: %s to %s%s", what, before, after, why, extra=extra)


def _illegal(name: str, state: State, event: Event) -> str:
    if state is State.RESTARTING:
        return f"connector {name!r} is restarting: {event} it when that is done"
    if state is State.STOPPED:
        return f"connector {name!r} is stopped: resume it instead of a {event}"
    return f"connector {name!r} is {state}: no {event} now"
