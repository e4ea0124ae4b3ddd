"""What runs connectors: the contract between a herder and a :class:`Runner`.

The herder hands on raw configs, with references. The runner resolves them in the process that runs
the job, and tells what came of it; nothing that it tells holds a value. :class:`SparkRunner` runs
all connectors in the Spark application of the worker; one that starts an application for each
would fulfil the same contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..connector import Progress


@dataclass(frozen=True, slots=True)
class Launched:
    """The connector runs, and its tasks are about to; their configs have references again."""

    name: str
    launch: int
    type: str
    task_configs: tuple[Mapping[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """The connector does not run. It is worth *tries* more, one after the other, as it may pass."""

    name: str
    launch: int
    trace: str
    tries: int


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task runs."""

    name: str
    launch: int
    task: int


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task does not run any more; ``tries`` as for a connector."""

    name: str
    launch: int
    task: int
    trace: str
    tries: int


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """A task has done its work."""

    name: str
    launch: int
    task: int


@dataclass(frozen=True, slots=True)
class Halted:
    """Nothing of the connector runs any more."""

    name: str
    launch: int


RunnerEvent = Launched | LaunchFailed | TaskStarted | TaskFailed | TaskEnded | Halted
Tell = Callable[[RunnerEvent], None]


class Runner(Protocol):
    """Runs connectors. Each method returns at once, but for those that say otherwise.

    *launch* is a number that grows; events carry that of the launch they belong to. For one
    connector the herder asks for the next thing when the one before is done; each launch, also one
    that has failed, is halted before the next.
    """

    def start(self, tell: Tell) -> None:
        """Begin to take connectors, and tell what comes of them; this may take a while."""

    def launch(self, name: str, config: Mapping[str, str], launch: int) -> None:
        """Resolve *config*, start the connector and its tasks; tell ``Launched``, or why not."""

    def restart(self, name: str, *, connector: bool, tasks: Collection[int]) -> None:
        """Restart parts of what runs: the connector's own object, and tasks by number.

        ``Launched`` is told if *connector* is set, ``TaskStarted`` for each task.
        """

    def halt(self, name: str) -> None:
        """Stop all that was launched, also while it starts; tell ``Halted`` when that is done."""

    def progress(self, name: str) -> Mapping[int, Progress]:
        """Return what the tasks have done so far, by number; none that is not running."""
        ...

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return how far a connector of *config* has come; this asks storage. Blocks."""
        ...

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        """Have the next launch begin at the beginning. Blocks."""

    def check(self) -> str:
        """Return what is wrong with the application, or nothing. Blocks."""
        ...

    def close(self) -> None:
        """End the application; all connectors are halted. Blocks."""
