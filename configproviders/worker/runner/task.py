"""One task that runs: its thread, and the context that it is given."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...spark import cleaning
from ..connector import Progress, Task
from ..tracking import Tracked
from . import failures
from .application import mark_thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .job import Job

_log = logging.getLogger(__name__)


class RunningTask:
    """A task in a thread of its own, from its start to its end; it is the task's context too."""

    def __init__(
        self,
        job: Job,
        number: int,
        task: Task,
        tracked: Tracked,
        given: Mapping[str, str] | None,
    ) -> None:
        """Take the task and its config, as it was *given* or to be resolved; nothing runs yet."""
        self._job, self._task, self._tracked = job, task, tracked
        self.connector, self.task = job.name, number
        self.group = f"{job.name}-{number}"
        self.config = given or {}
        self._marked = threading.local()  # Each thread is to be told.
        self.logger = job.logger
        self._stopping = threading.Event()
        self._deciding = threading.Lock()
        self._has_started = False
        self._thread = threading.Thread(
            target=self._run, name=f"task-{job.name}-{number}", daemon=True
        )

    def begin(self) -> None:
        """Begin to run."""
        self._thread.start()

    @property
    def spark(self) -> SparkSession:
        """The session of the connector."""
        session = self._job.session()
        if getattr(self._marked, "session", None) is not session:
            self._marked.session = session
            mark_thread(session, self.connector, self.group)
        return session

    @property
    def is_stopping(self) -> bool:
        """Whether the task is to end."""
        return self._stopping.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until the task is to end, for *seconds* at most; tell whether it is."""
        return self._stopping.wait(seconds)

    def configs(self) -> dict[str, str]:
        """Return the config, its references resolved again at this moment."""
        return self._job.resolved(self._tracked)

    def options(
        self,
        prefix: str,
        *,
        stream_format: str | None = None,
        more: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return what stands under *prefix* in the config, and *more*, as options for Spark."""
        return self._job.options(self._tracked, prefix, stream_format=stream_format, more=more)

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function ``package.module:function`` of a module that the worker allows."""
        return self._job.function(name)

    def progress(self) -> Progress | None:
        """Return what was done so far, without values."""
        try:
            said = self._task.progress()
            return said and replace(said, offsets=cleaning.cleaned_json(said.offsets))
        except Exception as error:  # noqa: BLE001  The border around a plugin.
            _log.debug("no progress of %s: %s", self._thread.name, type(error).__name__)
            return None

    def stop(self) -> None:
        """Have it end; returns at once."""
        with self._deciding:
            if self.is_stopping:
                return
            self._stopping.set()
            if not self._has_started:
                return  # Its own thread stops it when its start is over.
        # Some wait for the end of a batch: so that tasks do it at the same time.
        thread = threading.Thread(target=self._stop, name=f"stop-{self._thread.name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # There is no thread to be had.
            self._stop()

    def join(self, seconds: float) -> bool:
        """Wait for its end, for *seconds* at most; tell whether it has ended."""
        if self._thread.ident is not None:
            self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def _stop(self) -> None:
        try:
            self._task.stop()
        except BaseException as error:  # noqa: BLE001  The border around a plugin.
            _log.warning("%s did not stop: %s", self._thread.name, failures.trace(error))

    def _run(self) -> None:
        try:
            if self.is_stopping:
                return
            self.config = self.config or self.configs()
            self._task.start(self)
            with self._deciding:
                self._has_started, is_wanted = True, not self.is_stopping
            if is_wanted:
                self._job.task_started(self.task)
                self._task.run()
            else:
                self._stop()
        except BaseException as error:  # noqa: BLE001  The border around a plugin.
            if not self.is_stopping:
                self._job.task_failed(self.task, error)
            return
        finally:
            self.config = {}
        if not self.is_stopping:
            self._job.task_ended(self.task)
