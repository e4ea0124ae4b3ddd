"""A Spark of this process on this machine, for commands: it says nothing by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ...errors import ProviderUnavailable

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_SECONDS = 0.2
_CONFS = {
    "spark.master": "local[*]",
    "spark.app.name": "resolve-config",
    "spark.api.mode": "classic",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.maxResultSize": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def local_session() -> Iterator[SparkSession]:
    """Start Spark on all cores, and stop it; a session that runs already is used, and stays.

    What the JVM prints goes nowhere. Raises :class:`ProviderUnavailable` without PySpark or Java,
    and if Spark does not start.
    """
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ProviderUnavailable(
            "Parquet is read with Spark: pip install 'configproviders[spark]'"
        ) from error
    for elsewhere in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        os.environ.pop(elsewhere, None)
    if SparkContext._active_spark_context is not None:
        yield SparkSession.builder.getOrCreate()
        return
    # All of it is on this machine, whose name may not resolve: what is set is for a cluster.
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP=_CONFS["spark.driver.host"])
    with _started() as spark:
        yield spark


def watched(spark: SparkSession, act: Callable[[], T], show: Callable[[int, int], None]) -> T:
    """Return what *act* returns, and meanwhile *show* how many tasks are done, and of how many.

    *act* has a thread of its own: it waits for Spark, and somebody has to see how far Spark is.
    """
    context, group = spark.sparkContext, f"resolve-config-{uuid.uuid4()}"

    def run() -> T:
        context.setJobGroup(group, "resolve-config")
        return act()

    with ThreadPoolExecutor(1, "job") as threads:
        job = threads.submit(run)
        try:
            while wait([job], _LOOK_SECONDS).not_done:
                done, total = _tasks(context, group)
                if total:
                    show(done, total)
        except BaseException:
            context.cancelJobGroup(group)
            raise
        return job.result()


def reason(error: Exception) -> str:
    """Return the line of *error*, which Spark or its JVM raised, that says what is wrong."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PythonException

    text = str(error)
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while deeper := cause.getCause():
            cause = deeper
        text = cause.toString()
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if isinstance(error, PythonException) else 0]


def _started() -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    _start_jvm()
    try:
        return SparkSession.builder.config(map=dict(_CONFS)).getOrCreate()
    except (Py4JError, PySparkException) as error:
        raise ProviderUnavailable(f"Spark does not start: {reason(error)}") from error


def _start_jvm() -> None:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(_CONFS.items()))
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        gateway = launch_gateway(conf, nowhere)  # type: ignore[no-untyped-call]  # It has none.
    except PySparkRuntimeError as error:
        raise ProviderUnavailable(
            "Spark does not start: it needs a whole Java 17 or newer, in JAVA_HOME or on PATH"
        ) from error
    SparkContext._ensure_initialized(gateway=gateway)


def _tasks(context: SparkContext, group: str) -> tuple[int, int]:
    """Return how many tasks are done, and how many there are, in all stages of *group* so far."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(each) for each in tracker.getJobIdsForGroup(group)]
    numbers = {number for job in jobs if job is not None for number in job.stageIds}
    stages = [tracker.getStageInfo(each) for each in numbers]
    # One that is skipped, as its result is there already, never begins.
    known = [each for each in stages if each and each.numActiveTasks + each.numCompletedTasks]
    return sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known)
