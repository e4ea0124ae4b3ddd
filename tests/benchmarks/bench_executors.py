"""How often a backend is asked for the secrets of a Spark job: counted, not timed.

200 tasks use 20 secrets, each at a place of its own, in 8 Python processes at a time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from spark.executors.counted import Backend

from configproviders.spark.executors import BackendSecrets, DriverSecrets, Secret

PROCESSES, TASKS, SECRETS = 8, 200, 20
COUNTED = Path(__file__).parent.parent / "spark" / "executors" / "counted.py"
TEXTS = {f"k{number}": f"${{counted:path-{number}:key}}" for number in range(SECRETS)}


def main() -> None:
    """Print a table of fetches, for both ways to a value and both kinds of workers."""
    print(f"{TASKS} tasks use {SECRETS} secrets each, {PROCESSES} at a time:\n", flush=True)
    print("| who asks the backend | worker reuse | processes | values used | backend fetches |")
    print("|---|---|--:|--:|--:|", flush=True)
    for reuse in (True, False):
        with tempfile.TemporaryDirectory() as directory, session(reuse=reuse) as spark:
            backend = Backend(Path(directory), "counted")
            for number in range(SECRETS):
                backend.put(f"path-{number}", key=f"value-{number}-of-the-backend")
            row("each task, without handles", reuse, backend, run(spark, uncached(backend)))
            handles = BackendSecrets(backend.settings).secrets(TEXTS)
            row("`BackendSecrets`", reuse, backend, run(spark, using(handles)))
            with DriverSecrets(spark, providers={"counted": backend.provider()}) as secrets:
                handles = secrets.secrets(TEXTS)
                row("`DriverSecrets`", reuse, backend, run(spark, using(handles)))


@contextmanager
def session(*, reuse: bool) -> Iterator[SparkSession]:
    """Yield a local session of as many threads as there are processes to be."""
    builder = SparkSession.builder.master(f"local[{PROCESSES}]").config("spark.log.level", "ERROR")
    builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder.config("spark.python.worker.reuse", str(reuse).lower())
    spark = builder.getOrCreate()
    spark.sparkContext.addPyFile(str(COUNTED))
    try:
        yield spark
    finally:
        spark.stop()


Task = Callable[[Iterable[int]], Iterable[int]]


def uncached(backend: Backend) -> Task:
    """Return a task that asks the provider itself, as without this package's handles."""
    settings = backend.settings

    def use(_: Iterable[int]) -> Iterable[int]:
        from configproviders.spark import resolve_options

        assert all(resolve_options(TEXTS, settings).values())
        return [os.getpid()]

    return use


def using(handles: Mapping[str, Secret]) -> Task:
    """Return a task that wants the value of each of *handles*."""

    def use(_: Iterable[int]) -> Iterable[int]:
        assert all(handle.value() for handle in handles.values())
        return [os.getpid()]

    return use


def run(spark: SparkSession, task: Task) -> int:
    """Run *task* as often as there are tasks; return in how many processes."""
    rows = spark.sparkContext.range(TASKS, numSlices=TASKS).mapPartitions(task)
    return len(set(rows.collect()))


def row(who: str, reuse: bool, backend: Backend, processes: int) -> None:  # noqa: FBT001  A cell.
    """Print one line of the table."""
    fetches = len(backend.fetches())
    used = TASKS * SECRETS
    switch = "on" if reuse else "off"
    print(f"| {who} | {switch} | {processes:,} | {used:,} | {fetches:,} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(COUNTED.parent))  # The backend's settings name the module.
    main()
