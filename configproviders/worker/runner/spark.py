"""Runs all connectors in one Spark application: :class:`SparkRunner`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from ...errors import ConfigException, UnsupportedOperation
from ...spark import cleaning
from ...transformer import ConfigTransformer
from ..connector import Connector, Progress
from ..errors import BadRequest, ConnectException
from ..plugins import Plugins
from . import Tell
from .application import Application
from .job import Follow, Job, Parts

T = TypeVar("T")


class SparkRunner:
    """Runs connectors as sessions and threads of one Spark application; a :class:`Runner`."""

    def __init__(  # noqa: PLR0913  Each is a part.
        self,
        plugins: Plugins,
        transformer: ConfigTransformer,
        application: Application,
        *,
        follow: Follow,
        forget: Callable[[str, int], None],
        grace: timedelta = timedelta(seconds=20),
    ) -> None:
        """Take the parts. What does not stop within *grace* is cancelled, and left.

        *follow* is told of each launch, *forget* when it is over.
        """
        self._plugins, self._transformer = plugins, transformer
        self._application, self._follow, self._forget = application, follow, forget
        self._grace = grace.total_seconds()
        self._jobs: dict[str, Job] = {}
        self._ending: list[Job] = []

    def start(self, tell: Tell) -> None:
        """Start the application; raise :class:`ConfigException` for what Spark refuses."""
        self._parts = Parts(
            self._plugins,
            self._transformer,
            self._application,
            self._follow,
            self._forget,
            tell,
            self._grace,
        )
        self._application.start()

    def launch(self, name: str, config: Mapping[str, str], launch: int) -> None:
        """Start the connector and its tasks."""
        self._jobs[name] = Job(name, config, launch, self._parts)

    def restart(self, name: str, *, connector: bool, tasks: Collection[int]) -> None:
        """Restart the connector's own object, and tasks by number."""
        self._jobs[name].restart(connector=connector, tasks=tasks)

    def halt(self, name: str) -> None:
        """Stop all of a connector."""
        job = self._jobs.pop(name)
        self._ending = [each for each in self._ending if not each.has_ended] + [job]
        job.halt()

    def progress(self, name: str) -> Mapping[int, Progress]:
        """Return what the tasks have done so far, by number."""
        job = self._jobs.get(name)
        return job.progress() if job else {}

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return how far a connector of *config* has come, without values."""
        return self._of_connector(
            config,
            lambda connector, values: [
                (cleaning.cleaned_json(partition), cleaning.cleaned_json(offset))
                for partition, offset in connector.offsets(values)
            ],
        )

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        """Have the next launch begin at the beginning."""
        self._of_connector(config, lambda connector, values: connector.reset_offsets(values))

    def check(self) -> str:
        """Return what is wrong with the application, or nothing."""
        return self._application.check()

    def close(self) -> None:
        """Halt all connectors, and end the application."""
        jobs, self._jobs = list(self._jobs.values()), {}
        for job in jobs:
            job.halt()
        for job in jobs + self._ending:
            job.await_end()
        self._application.close()

    def _of_connector(
        self, config: Mapping[str, str], asked: Callable[[Connector, Mapping[str, str]], T]
    ) -> T:
        result = self._transformer.transform(config, strict=True)
        cleaning.remember_result(result)
        connector = self._plugins.find(config["connector.class"])()
        try:
            return asked(connector, result.data)
        except UnsupportedOperation as error:
            raise BadRequest(str(error)) from None
        except ConfigException:
            raise
        except Exception as error:  # noqa: BLE001  The border around a plugin.
            name = type(error).__name__
            raise ConnectException(
                f"the connector raised {name}: {cleaning.clean(str(error))}"
            ) from None
