from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from servers.spark_cluster import spark_cluster

pytestmark = pytest.mark.spark

JOB = """
import json, os, sys
from pyspark.sql import SparkSession

def worker(_):
    yield os.getpid(), sys.executable, os.environ.get("ONLY_THERE"), os.environ.get("ONLY_HERE")

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master(os.environ["MASTER_URL"])
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
both_at_once = spark.sparkContext.parallelize(range(2), 2).barrier()
print(json.dumps([os.getpid(), *both_at_once.mapPartitions(worker).collect()]))
spark.stop()
"""

LOG4J2 = """\
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = ours: %m%n
"""


def test_a_job_runs_on_two_python_workers_and_the_cluster_ends_with_its_block(
    tmp_path: Path, in_a_process: Callable[..., str]
) -> None:
    log4j2, directory = tmp_path / "log4j2.properties", tmp_path / "cluster"
    log4j2.write_text(LOG4J2)

    environ, conf = {"ONLY_THERE": "set"}, {"spark.acls.enable": "true"}
    with spark_cluster(directory, environ=environ, worker_conf=conf, log4j2=log4j2) as cluster:
        out = in_a_process(JOB, MASTER_URL=cluster.master_url, ONLY_HERE="set")
        assert {cluster.master_pid, cluster.worker_pid} <= set(cluster.process_ids())

    driver, *workers = json.loads(out)
    assert len({driver, *(pid for pid, *_ in workers)}) == 3
    assert [rest for _, *rest in workers] == [[sys.executable, "set", None]] * 2
    assert cluster.process_ids() == []
    [executor_log] = directory.glob("work/app-*/0/stdout")
    assert "ours: Starting executor ID 0" in executor_log.read_text()
    assert "ui acls enabled" in (directory / "worker.log").read_text()


def test_a_cluster_that_does_not_start_says_why() -> None:
    with (
        pytest.raises(
            RuntimeError, match=r"spark-class ended with 1:\n(.*\n)*Invalid maximum heap"
        ),
        spark_cluster(environ={"SPARK_DAEMON_MEMORY": "none"}),
    ):
        pass
