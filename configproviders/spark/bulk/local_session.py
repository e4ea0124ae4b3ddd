"""A Spark of this process on this machine, for commands: it says nothing by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ...errors import ProviderUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_SECONDS = 0.2
_CONFS = {
    "spark.master": "local[*]",
    "spark.app.name": "resolve-config",
    "spark.driver.memory": "2g",
    "spark.driver.maxResultSize": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def local_session() -> Iterator[SparkSession]:
    """Start Spark on all cores, and stop it; a session that runs already is used, and stays.

    What the JVM prints goes nowhere. Raises :class:`ProviderUnavailable` without PySpark or Java.
    """
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ProviderUnavailable(
            "Parquet is read with Spark: pip install 'configproviders[spark]'"
        ) from error
    if SparkContext._active_spark_context is not None:
        yield SparkSession.builder.getOrCreate()
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Else the first python3 there is.
    _start_jvm()
    with SparkSession.builder.config(map=dict(_CONFS)).getOrCreate() as spark:
        yield spark


def watched(spark: SparkSession, act: Callable[[], T], show: Callable[[int, int], None]) -> T:
    """Return what *act* returns, and meanwhile *show* how many tasks are done, and of how many.

    *act* has a thread of its own: it waits for Spark, and somebody has to see how far Spark is.
    """
    with ThreadPoolExecutor(1, "job") as threads:
        job = threads.submit(act)
        try:
            while wait([job], _LOOK_SECONDS).not_done:
                show(*_tasks(spark))
        except BaseException:
            spark.sparkContext.cancelAllJobs()
            raise
        return job.result()


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


def _tasks(spark: SparkSession) -> tuple[int, int]:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    return sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known)
