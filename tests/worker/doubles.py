"""A runner that runs nothing, and does at once what it is asked for; or, if told to, later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from configproviders.worker.connector import Progress
from configproviders.worker.runner import (
    Halted,
    Launched,
    LaunchFailed,
    RunnerEvent,
    TaskFailed,
    TaskStarted,
    Tell,
)


class InstantRunner:
    """Launches each connector with ``tasks.max`` tasks, which run until they are halted.

    ``fails`` holds names whose launch fails, ``task_fails`` those whose task 0 does; a value that
    is true has it tried again, ``tries`` times. With ``by_hand`` nothing is told before
    :meth:`go_on`.
    """

    def __init__(self, *, by_hand: bool = False) -> None:
        self.fails: dict[str, bool] = {}
        self.task_fails: dict[str, bool] = {}
        self.tries = 9
        self.by_hand = by_hand
        self.asked: list[tuple[str, str]] = []
        self.launches: dict[str, int] = {}
        self.running: dict[str, int] = {}
        self.configs: dict[str, tuple[dict[str, str], ...]] = {}
        self.waiting: list[RunnerEvent] = []
        self.problem = ""

    def start(self, tell: Tell) -> None:
        self._send = tell

    def launch(self, name: str, config: Mapping[str, str], launch: int) -> None:
        self.asked.append(("launch", name))
        self.launches[name] = launch
        if name in self.fails:
            tries = self.tries * self.fails[name]
            self._tell(LaunchFailed(name, launch, "Traceback\nno luck", tries))
            return
        self.running[name] = launch
        self.configs[name] = (dict(config),) * int(config.get("tasks.max", "1"))
        self._tell(Launched(name, launch, "source", self.configs[name]))
        for task in range(len(self.configs[name])):
            self._start_task(name, launch, task)

    def restart(self, name: str, *, connector: bool, tasks: Collection[int]) -> None:
        launch = self.running[name]
        self.asked.append(("restart", name))
        if connector:
            self._tell(Launched(name, launch, "source", self.configs[name]))
        for task in tasks:
            self._start_task(name, launch, task)

    def halt(self, name: str) -> None:
        self.asked.append(("halt", name))
        launch = self.launches.pop(name)
        self.running.pop(name, None)
        self._tell(Halted(name, launch))

    def progress(self, name: str) -> Mapping[int, Progress]:
        return {0: Progress(10, 2.5)} if name in self.running else {}

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        return [({"table": "orders"}, {"row": 7})]

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        self.asked.append(("reset", config["name"]))

    def check(self) -> str:
        return self.problem

    def close(self) -> None:
        self.running.clear()

    def go_on(self) -> None:
        """Tell what was held back."""
        waiting, self.waiting = self.waiting, []
        for event in waiting:
            self._send(event)

    def _start_task(self, name: str, launch: int, task: int) -> None:
        if task == 0 and name in self.task_fails:
            tries = self.tries * self.task_fails[name]
            self._tell(TaskFailed(name, launch, task, "no luck", tries))
        else:
            self._tell(TaskStarted(name, launch, task))

    def _tell(self, event: RunnerEvent) -> None:
        if self.by_hand:
            self.waiting.append(event)
        else:
            self._send(event)
