"""The contract of connectors, after Kafka Connect's: :class:`Connector` and :class:`Task`.

A connector says what it takes and splits its work into tasks; a task does the work, in Spark::

    class CopyTask(Task):
        def start(self, context):
            self.frame = context.spark.read.text(context.config["path"])

        def run(self):
            self.frame.write.text(...)


    class Copy(Connector):
        config_def = ConfigDef((PATH,))
        task_class = CopyTask

All configs that connectors and tasks are given hold values in the place of references. What is
stored, shown and written down holds the references. What a connector prints goes to the output of
the worker as it is; what it logs and raises is cleaned of values, as far as they can be recognised.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from ..config_def import ConfigDef
from ..errors import UnsupportedOperation

if TYPE_CHECKING:
    import logging

    from pyspark.sql import SparkSession

ConnectorType = Literal["source", "sink"]
UNDEFINED_VERSION = "undefined"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a task has done so far; none where it does not know.

    *rows* were read since it started, *rows_per_second* lately. *offsets* are pairs of a partition
    and the offset there, as the source of the data names them.
    """

    rows: int | None = None
    rows_per_second: float | None = None
    offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default=())


class TaskContext(Protocol):
    """What a task is given. Thread-safe."""

    @property
    def connector(self) -> str:
        """The name of the connector."""
        ...

    @property
    def task(self) -> int:
        """The number of the task, from 0."""
        ...

    @property
    def config(self) -> Mapping[str, str]:
        """The config of the task with the values of when it was started; it has no ``repr``."""
        ...

    @property
    def spark(self) -> SparkSession:
        """The session of the connector. Jobs of the task's threads run in its scheduler pool."""
        ...

    @property
    def logger(self) -> logging.Logger:
        """The logger of the connector; values are kept out of what it writes."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Whether the task is to end."""
        ...

    def configs(self) -> dict[str, str]:
        """Return the config, its references resolved again at this moment (KIP-297).

        Raises :class:`~configproviders.UnresolvedError`.
        """
        ...

    def options(
        self,
        prefix: str,
        *,
        stream_format: str | None = None,
        more: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return what stands under *prefix* in the config, and *more*, as options for Spark.

        References are resolved at this moment, and the session redacts the options that hold
        values. *stream_format* is that of a stream that is read. Raises
        :class:`~configproviders.ConfigException` for what would be shown, as
        :func:`configproviders.spark.resolve_options`.
        """
        ...

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function ``package.module:function`` of a module that the worker allows.

        Raises :class:`~configproviders.ConfigException`.
        """
        ...

    def wait(self, seconds: float) -> bool:
        """Wait until the task is to end, for *seconds* at most; tell whether it is."""
        ...


class Task(ABC):
    """One part of a connector's work. All but :meth:`stop` and :meth:`progress` is called in one
    thread, which is the task's own.
    """  # noqa: D205  One sentence does not hold both.

    def start(self, context: TaskContext) -> None:
        """Prepare the work; when this returns the task is RUNNING, when it raises it is FAILED.

        A streaming task starts its query here.
        """

    @abstractmethod
    def run(self) -> None:
        """Do the work; return when it is done, or soon after :meth:`stop`.

        Spark jobs that are still running some time after that are cancelled.
        """

    def stop(self) -> None:
        """Have :meth:`run` return at a consistent point.

        Called once, after :meth:`start`; from another thread, unless that was still under way.
        """

    def progress(self) -> Progress | None:
        """Return what was done so far, at once. Called from other threads."""
        return None


TaskClass = type[Task]


class Connector(ABC):
    """Says what it takes, and splits its work into tasks.

    Made anew for each start, restart and validation; nothing of it is kept. All methods are called
    in one thread at a time.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef()
    """The settings it takes, besides those that every connector has."""

    type: ClassVar[ConnectorType]
    """Where the data comes from or goes to, as seen from the outer system."""

    task_class: ClassVar[TaskClass]
    """What does the work."""

    @classmethod
    def version(cls) -> str:
        """Return the version; by default that of the package that the class is in."""
        from importlib.metadata import packages_distributions, version

        package = cls.__module__.partition(".")[0]
        own = getattr(sys.modules.get(package), "__version__", None)
        names = packages_distributions().get(package)
        return str(own) if own else version(names[0]) if names else UNDEFINED_VERSION

    def validate(self, config: Mapping[str, str]) -> Mapping[str, Collection[str]]:
        """Return more that is wrong with *config*, messages by key; no value stands in them.

        Called when each setting is right by itself. No session is there; nobody is asked.
        """
        return {}

    def start(self, config: Mapping[str, str]) -> None:
        """Take the config; raise if it cannot be worked with.

        :meth:`task_configs` needs what this keeps, so one that overrides it calls it.
        """
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the configs of the tasks, *max_tasks* at most; by default one, the same."""
        return [self.config]

    def stop(self) -> None:
        """Let go of what :meth:`start` took."""

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return how far the work has come, pairs of partition and offset, running or not."""
        return ()

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        """Have the next start begin at the beginning. The connector is stopped.

        Raises :class:`~configproviders.UnsupportedOperation`.
        """
        raise UnsupportedOperation(f"{type(self).__name__} keeps no offsets that can be reset")
