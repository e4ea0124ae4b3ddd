"""The same job with the same secrets, in plain PySpark and in ours: what can be seen, and where.

``SOAK=1`` runs both on one machine and on a cluster, with log4j at INFO and at DEBUG, and ours by
``spark-submit`` too. The table in the README is what ``table.py`` prints.
"""

from __future__ import annotations

import os

import pytest
from servers.postgres import Postgres
from spark.leaks.run import Result, run_job
from spark.leaks.spec import CONFS, LATE_CONFS, LATE_HADOOP, SOURCE_OPTIONS
from spark.leaks.surfaces import surfaces

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.soak]

LONG = "SOAK" in os.environ
PLAIN = [("info", False)]
OURS = [("job_ours", "debug", False), ("job_ours", "info", True)]
ALL = [(level, cluster) for cluster in (False, True) for level in ("info", "debug")]
ALL_OURS = [(name, *each) for name in ("job_ours", "job_ours submitted") for each in ALL]
# Where plain PySpark shows secrets whatever the level, and with or without a cluster.
LEAKING = {
    "/tmp/hsperfdata_*",
    "DESCRIBE EXTENDED",
    "REST: environment",
    "REST: jobs, stages",
    "REST: sql",
    "SET",
    "SHOW CREATE TABLE",
    "SHOW TBLPROPERTIES",
    "SparkConf.toDebugString",
    "UI: SQL",
    "UI: jobs, stages",
    "UI: streaming",
    "command lines",
    "environments",
    "event log: SQL",
    "event log: environment",
    "event log: jobs, stages, tasks",
    "exception: SQL syntax",
    "exception: UDF",
    "exception: foreachBatch",
    "exception: malformed URL",
    "explain: DDL",
    "log4j: driver",
    "logging of Python at DEBUG",
    "spark.local.dir",
    "system properties of the JVM",
    "traceback with locals: UDF",
    "traceback with locals: foreachBatch",
    "traceback with locals: malformed URL",
    "traceback with locals: missing table",
    "traceback with locals: wrong password",
}
# What the program may see where it asks for its own: a conf that it was given, not a password.
OWN = {"statement"}.union(*map(dict.values, (CONFS, LATE_CONFS, LATE_HADOOP, SOURCE_OPTIONS)))


@pytest.mark.parametrize(("level", "cluster"), ALL if LONG else PLAIN)
def test_plain_pyspark_shows_secrets_on_these_surfaces(
    database: Postgres, level: str, *, cluster: bool
) -> None:
    result = run_job("job_plain", database, level=level, cluster=cluster)

    assert_each_surface_was_read_and_each_secret_used(result, cluster=cluster)
    shown = {each.name for each in surfaces(cluster=cluster) if result.findings.hits[each.name]}
    assert shown >= LEAKING
    assert len(LEAKING) >= 15


@pytest.mark.parametrize(("program", "level", "cluster"), ALL_OURS if LONG else OURS)
def test_the_same_job_with_references_shows_no_secret(
    database: Postgres, program: str, level: str, *, cluster: bool
) -> None:
    result = run_job(program, database, level=level, cluster=cluster)

    assert_each_surface_was_read_and_each_secret_used(result, cluster=cluster)
    found = [
        f"{each.name}: {hit}"
        for each in surfaces(cluster=cluster)
        for hit in result.findings.hits[each.name].values()
        if not (each.own and hit.name in OWN)
    ]
    assert not found, "\n\n".join(found)


def assert_each_surface_was_read_and_each_secret_used(result: Result, *, cluster: bool) -> None:
    unread = [
        f"{each.name}: no beacon, which gets there as {each.beacon}"
        for each in surfaces(cluster=cluster)
        if each.name not in result.findings.read
    ]
    assert not unread
    assert [name for name, arrived in result.arrived.items() if not arrived] == []
    assert len(result.arrived) == 16
