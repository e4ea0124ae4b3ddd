"""What is searched: the name of each surface, and how the beacon comes to stand there.

A surface that does not show the beacon was not read, and fails the test. What is not searched: the
memory of processes, with which heap dumps show every secret, and the network between driver and
executors, for which Spark has encryption.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Surface:
    """A place where a secret may be seen, by the *name* that the README gives it.

    *beacon* says how the beacon gets there. *cluster* marks one that a local master does not have.
    *own* says, where that is so, what the program sees there that is its own to read.
    """

    name: str
    beacon: str
    cluster: bool = False
    own: str = ""


_CONF = "the value of spark.leaks.beacon"
_NAME = "the application's name"
_DESCRIPTION = "the job description"
_COLUMN = "a column's name"
_PRINTED = "what a task prints"
_LOCAL = "a local variable"
_GIVEN = "what it was given, asked for by name"

SURFACES = (
    Surface("command lines", _CONF),
    Surface("command lines of executors", "a system property of executors", cluster=True),
    Surface("environments", "LEAKS_BEACON, which is set for the job"),
    Surface("system properties of the JVM", _CONF),
    Surface("/tmp/hsperfdata_*", "the JVM's copy of its command line"),
    Surface("/tmp, /dev/shm", "a file that the job writes there"),
    Surface("spark.local.dir", "an RDD that is kept on disk"),
    Surface("checkpoints", "the path of the stream's source"),
    Surface("files of the job", "rows that the job writes"),
    Surface("work folders", _PRINTED, cluster=True),
    Surface("UI: jobs, stages", _DESCRIPTION),
    Surface("UI: SQL", _COLUMN),
    Surface("UI: streaming", "the query's name"),
    Surface("UI: environment, executors, storage, threads", _NAME),
    Surface("UI: master, worker", _NAME, cluster=True),
    Surface("REST: environment", _CONF),
    Surface("REST: jobs, stages", _DESCRIPTION),
    Surface("REST: sql", _COLUMN),
    Surface("REST: the rest, metrics", _NAME),
    Surface("REST: master, worker", _NAME, cluster=True),
    Surface("event log: environment", _CONF),
    Surface("event log: jobs, stages, tasks", _DESCRIPTION),
    Surface("event log: SQL", _COLUMN),
    Surface("event log: the rest", _NAME),
    Surface("log4j: driver", _NAME),
    Surface("log4j: executors", _PRINTED, cluster=True),
    Surface("log4j: master, worker", _NAME, cluster=True),
    Surface("logging of Python at DEBUG", "a line of the job's own"),
    Surface("SET", _CONF),
    Surface("SET -v", "the path of the warehouse"),
    Surface("SparkConf.toDebugString", _CONF),
    Surface("RDD.toDebugString", "the RDD's name"),
    Surface("explain: simple", _COLUMN),
    Surface("explain: extended", _COLUMN),
    Surface("explain: codegen", _COLUMN),
    Surface("explain: cost", _COLUMN),
    Surface("explain: formatted", _COLUMN),
    Surface("explain: DDL", _COLUMN),
    Surface("explain: stream", "the path of the stream's source"),
    Surface("progress of a stream", "the path of the stream's source"),
    Surface("SHOW CREATE TABLE", "the table's comment"),
    Surface("DESCRIBE EXTENDED", "the table's comment"),
    Surface("SHOW TBLPROPERTIES", "a property of the table"),
    Surface("DESCRIBE of a view", _COLUMN),
    Surface("exception: wrong password", "the role's name"),
    Surface("exception: malformed URL", "the database's name"),
    Surface("exception: missing table", "the table's name"),
    Surface("exception: SQL syntax", "the statement"),
    Surface("exception: UDF", "the function's message"),
    Surface("exception: foreachBatch", "the function's message"),
    Surface("traceback with locals: wrong password", _LOCAL),
    Surface("traceback with locals: malformed URL", _LOCAL),
    Surface("traceback with locals: missing table", _LOCAL),
    Surface("traceback with locals: SQL syntax", _LOCAL, own="the statement that it wrote itself"),
    Surface("traceback with locals: UDF", _LOCAL),
    Surface("traceback with locals: foreachBatch", _LOCAL),
    Surface("spark.conf.getAll", _CONF, own=_GIVEN),
    Surface("SparkConf.getAll", _CONF, own=_GIVEN),
    Surface("SELECT '${key}'", _CONF, own=_GIVEN),
    Surface("hadoopConfiguration()", "the value of fs.leaks.beacon", own=_GIVEN),
)


def surfaces(*, cluster: bool) -> list[Surface]:
    """List the surfaces that a run has on a cluster, or without one."""
    return [each for each in SURFACES if cluster or not each.cluster]
