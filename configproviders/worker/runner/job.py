"""One launch of a connector: its own object, its session and its tasks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...data import Answer, SecretText
from ...plan import Location
from ...spark import cleaning, redaction
from ...spark.options import covered_options
from ...transformer import ConfigTransformer
from ..connector import Connector, Progress
from ..connector_keys import tasks_max
from ..errors import ConnectException
from ..logs import connector_logger
from ..plugins import Plugins
from ..tracking import Tracked, turn_back
from . import (
    Halted,
    Launched,
    LaunchFailed,
    RunnerEvent,
    TaskEnded,
    TaskFailed,
    TaskStarted,
    Tell,
    failures,
)
from .application import Application
from .failures import ApplicationLost
from .task import RunningTask
from .task_configs import checked, hidden, passwords

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)
_CANCEL_SECONDS = 2.0

Follow = Callable[[str, int, Mapping[str, str], Mapping[Location, Answer]], None]
"""Takes name, launch and config of a connector, and what there was at each of its locations."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What all jobs of a runner share."""

    plugins: Plugins
    transformer: ConfigTransformer
    application: Application
    follow: Follow
    forget: Callable[[str, int], None]
    tell: Tell
    grace: float


class Job:
    """One launch of a connector. What it is asked for it does in a thread of its own."""

    def __init__(self, name: str, config: Mapping[str, str], launch: int, parts: Parts) -> None:
        """Take the config, with references; nothing runs yet."""
        self.name, self._config, self._launch, self._parts = name, config, launch, parts
        self.logger = connector_logger(name)
        self._halting, self._halted = threading.Event(), threading.Event()
        self._doing = threading.Lock()  # One thing after the other.
        self._making = threading.Lock()
        self._session: SparkSession | None = None
        self._connector: Connector | None = None
        self._answers: Mapping[Location, Answer] = {}
        self._tracked: list[Tracked] = []
        self._given: list[dict[str, str]] = []  # What they were made of, while tasks are started.
        self._tasks: dict[int, RunningTask] = {}
        self._begin(self._start, "launch")

    def restart(self, *, connector: bool, tasks: Collection[int]) -> None:
        """Restart parts of it."""
        self._begin(lambda: self._restart(tasks, connector=connector), "restart")

    def halt(self) -> None:
        """End all of it, and tell ``Halted``."""
        self._halting.set()
        if not self._has_begun(self._halt, "halt"):
            self._halt()

    @property
    def has_ended(self) -> bool:
        """Whether it is halted."""
        return self._halted.is_set()

    def await_end(self) -> None:
        """Wait until it is halted, for a little longer than that may take."""
        self._halted.wait(self._parts.grace + 2 * _CANCEL_SECONDS)

    def progress(self) -> dict[int, Progress]:
        """Return what its tasks have done so far."""
        said = {number: task.progress() for number, task in list(self._tasks.items())}
        return {number: progress for number, progress in said.items() if progress}

    def session(self) -> SparkSession:
        """Return the session of the connector, which is made when it is first asked for.

        If the application has ended since, it is another one. There is none for what comes too
        late.
        """
        with self._making:
            session, application = self._session, self._parts.application
            if not self._halting.is_set() and (session is None or not application.has(session)):
                confs = {key: self._config[key] for key in self._config if key.startswith("spark.")}
                session = self._session = application.new_session(confs)
            if session is None:
                raise ConnectException("the connector is being stopped")
            return session

    def resolved(self, tracked: Tracked) -> dict[str, str]:
        """Return a task's config with the values of now; raise :class:`UnresolvedError`."""
        return hidden(tracked, tracked.resolve(self._parts.transformer))

    def options(
        self,
        tracked: Tracked,
        prefix: str,
        *,
        stream_format: str | None,
        more: Mapping[str, str] | None,
    ) -> dict[str, str]:
        """Return what stands under *prefix* as options for Spark; see :class:`TaskContext`."""
        values = self.resolved(tracked)
        options = {
            key.removeprefix(prefix): text for key, text in values.items() if key.startswith(prefix)
        }
        options.update(more or {})
        shown = set(tracked.shown.values())  # By chance a value may stand in what was typed.
        secret = [
            key
            for key, text in options.items()
            if isinstance(text, SecretText) or (text not in shown and cleaning.clean(text) != text)
        ]
        options.update({key: SecretText(options[key]) for key in secret})
        delivered = covered_options(options, secret, stream_format=stream_format)
        redaction.extend_options(self.session())
        return delivered

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of a module that the worker allows."""
        return self._parts.plugins.function(name)

    def task_started(self, task: int) -> None:
        """Tell that a task runs."""
        self._tell(TaskStarted(self.name, self._launch, task))

    def task_ended(self, task: int) -> None:
        """Tell that a task has done its work."""
        self._tell(TaskEnded(self.name, self._launch, task))

    def task_failed(self, task: int, error: BaseException) -> None:
        """Tell why a task does not run any more."""
        if lost := self._parts.application.check():
            error = ApplicationLost(lost)
        told = TaskFailed(
            self.name, self._launch, task, failures.trace(error), failures.tries(error)
        )
        self._tell(told)

    def _begin(self, function: Callable[[], None], what: str) -> None:
        if not self._has_begun(function, what):
            why = f"there is no thread to {what} the connector in"
            self._tell(LaunchFailed(self.name, self._launch, why, failures.ALWAYS))

    def _has_begun(self, function: Callable[[], None], what: str) -> bool:
        thread = threading.Thread(target=function, name=f"{what}-{self.name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # There is none to be had.
            return False
        return True

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Wait for what is being done; tell whether more is wanted, and leave nothing if not."""
        with self._doing:
            yield not self._halting.is_set()
            self._given = []
            if self._halting.is_set():
                self._let_go(self._parts.grace)

    def _start(self) -> None:
        with self._turn() as is_wanted:
            if is_wanted and self._has_started_connector():
                self._start_tasks(range(len(self._tracked)))
            answers, self._answers = self._answers, {}
        self._follow(answers)

    def _has_started_connector(self) -> bool:
        """Start the connector's own object and tell ``Launched``, or why not."""
        told: Launched | LaunchFailed
        try:
            told = self._start_connector()
        except BaseException as error:  # noqa: BLE001  The border around a plugin.
            self._let_go(self._parts.grace)
            why, tries = failures.trace(error), failures.tries(error)
            told = LaunchFailed(self.name, self._launch, why, tries)
        self._tell(told)
        return isinstance(told, Launched)

    def _start_connector(self) -> Launched:
        transformer = self._parts.transformer
        plan = transformer.plan(self._config)
        self._answers = transformer.fetch(plan)
        result = transformer.transform_with(self._answers, plan, self._config, strict=True)
        cleaning.remember_result(result)
        values = {
            key: SecretText(text) if key in plan.references else text
            for key, text in result.data.items()
        }
        class_ = self._parts.plugins.find(values["connector.class"])
        cleaning.remember(passwords(class_.config_def, values))
        connector = class_()
        connector.start(values)
        self._connector = connector
        self._given = checked(connector.task_configs(tasks_max(values)), values)
        self._tracked = [turn_back(each, self._config, result) for each in self._given]
        shown = tuple(each.shown for each in self._tracked)
        return Launched(self.name, self._launch, class_.type, shown)

    def _follow(self, answers: Mapping[Location, Answer]) -> None:
        if not self._halting.is_set():
            self._parts.follow(self.name, self._launch, self._config, answers)
        if self._halting.is_set():
            self._parts.forget(self.name, self._launch)

    def _start_tasks(self, numbers: Collection[int]) -> None:
        for number in numbers:
            if self._halting.is_set() or self._connector is None:
                return
            try:
                task, tracked = self._connector.task_class(), self._tracked[number]
                given = hidden(tracked, self._given[number]) if self._given else None
                self._tasks[number] = RunningTask(self, number, task, tracked, given)
                self._tasks[number].begin()
            except BaseException as error:  # noqa: BLE001  The border around a plugin.
                self.task_failed(number, error)

    def _restart(self, numbers: Collection[int], *, connector: bool) -> None:
        with self._turn() as is_wanted:
            if not is_wanted:
                return
            if connector:
                numbers = self._restarted_connector(numbers)
            self._end_tasks(numbers, self._parts.grace)
            self._start_tasks(numbers)
            has_failed = self._connector is None
            answers, self._answers = self._answers, {}
        # What runs on has the values of before: if they have changed, that is still to be told.
        if connector and has_failed:
            self._follow(answers)

    def _restarted_connector(self, numbers: Collection[int]) -> Collection[int]:
        """Restart the connector's own object; return which tasks have to be restarted with it."""
        before, old = self._tracked, self._connector
        self._connector = None
        _stop(old, self.name)
        if not self._has_started_connector():
            return ()
        if [each.shown for each in self._tracked] == [each.shown for each in before]:
            return numbers
        self._end_tasks(list(self._tasks), self._parts.grace)
        return range(len(self._tracked))

    def _halt(self) -> None:
        end = time.monotonic() + self._parts.grace
        for task in list(self._tasks.values()):
            task.stop()
        # A launch that hangs is left to itself: it sees that nothing is wanted of it any more.
        done = self._doing.acquire(timeout=self._parts.grace)
        try:
            self._let_go(end - time.monotonic())
            self._parts.forget(self.name, self._launch)
        finally:
            if done:
                self._doing.release()
            self._parts.tell(Halted(self.name, self._launch))
            self._halted.set()

    def _let_go(self, seconds: float) -> None:
        """End all tasks, the connector's own object and the session."""
        self._end_tasks(list(self._tasks), seconds)
        connector, self._connector = self._connector, None
        _stop(connector, self.name)
        self._session = None

    def _end_tasks(self, numbers: Collection[int], seconds: float) -> None:
        end = time.monotonic() + seconds
        ending = [task for each in numbers if (task := self._tasks.pop(each, None))]
        for task in ending:
            task.stop()
        late = [task for task in ending if not task.join(end - time.monotonic())]
        if not late:
            return
        numbers = [task.task for task in late]
        self.logger.warning("tasks %s do not end; their jobs are cancelled", numbers)
        if self._session is not None:
            cancel = partial(
                self._parts.application.cancel,
                self._session,
                [task.group for task in late],
                queries=not self._tasks,  # Else they may be of tasks that go on.
            )
            self._has_begun(cancel, "cancel")
        end = time.monotonic() + _CANCEL_SECONDS
        for task in late:
            task.join(end - time.monotonic())

    def _tell(self, event: RunnerEvent) -> None:
        if not self._halting.is_set():
            self._parts.tell(event)


def _stop(connector: Connector | None, name: str) -> None:
    if connector is None:
        return
    try:
        connector.stop()
    except BaseException as error:  # noqa: BLE001  The border around a plugin.
        _log.warning("the connector of %s did not stop: %s", name, failures.trace(error))
