"""Handles on a real standalone cluster: counted, searched for, and with a driver that is killed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from servers.spark_cluster import spark_cluster
from spark.executors.counted import Backend

from configproviders.testing import CANARY

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent
PROGRAM = """
import json, logging, os, sys
from pathlib import Path
from pyspark.sql import SparkSession
from spark.executors.counted import Backend
from configproviders.spark.executors import BackendSecrets, DriverSecrets

logging.basicConfig(filename="driver.log", level=logging.INFO)
backend = Backend(Path("backend").resolve(), "counted")
conf = {
    "spark.master": sys.argv[1], "spark.ui.enabled": False, "spark.executor.memory": "512m",
    "spark.eventLog.enabled": True, "spark.eventLog.dir": "events",
    "spark.eventLog.compress": False, "spark.log.level": "INFO", "spark.task.maxFailures": 1,
}
spark = SparkSession.builder.config(map=conf).getOrCreate()
sc = spark.sparkContext
sc.addPyFile(os.path.join(os.path.dirname(sys.argv[2]), "counted.py"))

def pids(handles):
    def one(_):
        [handle.value() for handle in handles.values()]
        return [os.getpid()]
    return len(set(sc.range(20, numSlices=20).mapPartitions(one).collect()))

texts = {"user": "${counted:db:user}", "password": "${counted:db:password}"}
with DriverSecrets(spark, providers={"counted": backend.provider()}) as secrets:
    handles = secrets.secrets(texts)
    asked = {"driver": [pids(handles), backend.fetches()]}
    try:
        sc.range(1).foreach(lambda _: {}[handles["password"].value()])
    except Exception as error:
        print("failed:", error, file=sys.stderr)
handles = BackendSecrets(backend.settings).secrets(texts)
asked["backend"] = [pids(handles), backend.fetches()]
def cannot_be_written(_):
    raise ValueError("\\ud800" + handles["password"].value())
try:
    sc.range(1).foreach(cannot_be_written)
except Exception as error:
    print("failed:", error, file=sys.stderr)
open_one = DriverSecrets(spark)
spark.stop()
open_one._server._thread.join(30)
print(json.dumps([asked, open_one._server._thread.is_alive()]))
"""


def test_on_a_cluster_a_value_arrives_is_fetched_once_and_is_in_no_file(
    tmp_path: Path, in_a_process: Callable[..., str]
) -> None:
    for name in ("events", "cluster"):
        (tmp_path / name).mkdir()
    backend = Backend(tmp_path / "backend", "counted")
    backend.put("db", user="orders", password=CANARY)

    with spark_cluster(tmp_path / "cluster") as cluster:
        program = PROGRAM.replace("sys.argv[1]", repr(cluster.master_url))
        out = in_a_process(
            program.replace("sys.argv[2]", repr(__file__)), PYTHONPATH=str(HERE.parent.parent)
        )

    asked, is_alive = json.loads(out.splitlines()[-1])
    processes, fetches = asked["driver"]
    assert (fetches, processes > 1) == (["db password,user"], True)
    processes, fetches = asked["backend"]
    assert fetches == ["db password,user"] * processes
    assert not is_alive
    log = (tmp_path / "driver.log").read_text()
    assert log.count("the key to the secrets travels with Spark's closures in the clear") == 2
    (tmp_path / "backend" / "db.json").unlink()
    read = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"KeyError: '*********(redacted)'" in read
    assert b"PySpark worker failed with exception" in read
    assert CANARY.encode() not in read
