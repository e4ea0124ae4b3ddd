"""How secrets come to where the job uses them: what ``job_plain.py`` and ``job_ours.py`` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from spark.leaks.spec import Spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from spark.leaks.job import Job


class Delivery(Protocol):
    """How secrets, known by name, come to where the job uses them."""

    def session(self, spec: Spec) -> SparkSession:
        """Return a session with ``CONFS`` and what tasks need."""

    def set_late(self, spark: SparkSession) -> None:
        """Set ``LATE_CONFS`` and ``LATE_HADOOP``."""

    def options(self, **secrets: str) -> dict[str, str]:
        """Return options for a reader or writer: each secret's name is replaced by its value."""

    def batch_options(self, **secrets: str) -> dict[str, str]:
        """Return the same in a function of ``foreachBatch``."""

    def source_options(self) -> dict[str, str]:
        """Return the options that a stream's source still needs."""

    def url(self, url: str) -> str:
        """Return the *url* for one who writes his password there, if that is done at all."""

    def task_secret(self, spark: SparkSession, name: str) -> Callable[[], object]:
        """Return what gives a secret in a task."""

    def batch(self, function: Callable[[DataFrame, int], None]) -> Any:
        """Return the *function* as it is handed to ``foreachBatch``."""

    def create_view(self, job: Job) -> None:
        """Make the view ``orders_view``."""

    def table(self, job: Job) -> str:
        """Return the statement that makes the table ``orders_table``."""

    def close(self) -> None:
        """Let go of what is open."""
