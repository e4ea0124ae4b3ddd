"""The loggers that print options, statements and all that crosses Py4J, held where they do not."""

from __future__ import annotations

import logging
import os
from typing import Any

MOST = {
    "sql.internal.SharedState": "INFO",
    "sql.execution.SparkSqlParser": "INFO",
    "sql.execution.datasources.jdbc.connection": "INFO",
    "sql.execution.datasources.jdbc.JDBCRDD": "WARN",
    "sql.execution.streaming.runtime.MicroBatchExecution": "WARN",
    "sql.execution.streaming.MicroBatchExecution": "WARN",  # Its name before Spark 4.1.
}
"""The most that each may say, under ``org.apache.spark.``; at the next level it prints values."""

_LOG4J = "org.apache.logging.log4j"
_PY4J = ("py4j.java_gateway", "py4j.clientserver")


def hold_python() -> None:
    """Keep Py4J from logging what it sends to the JVM, which it does below INFO.

    They get a filter: levels change, by a configuration that comes later, and filters stay.
    """
    for name in _PY4J:
        logging.getLogger(name).addFilter(_is_quiet)  # Once, however often.


def hold_jvm(jvm: Any) -> None:
    """Keep those of the driver's JVM too, whatever level the root gets later.

    None of them says more than its package does now: a context sets the level of the root when it
    starts, so call this again then. Executors have loggers of their own, which
    :func:`log4j2_file` holds.
    """
    # By their whole names: Py4J asks the JVM for each part of a name that is written with dots.
    level_of = getattr(jvm, f"{_LOG4J}.Level").valueOf
    logger_of = getattr(jvm, f"{_LOG4J}.LogManager").getLogger
    most = {name: level_of(name) for name in set(MOST.values())}
    held = getattr(jvm, "java.util.HashMap")()  # For a dict, PySpark would import pandas.
    for name, level in MOST.items():
        full_name = f"org.apache.spark.{name}"
        now = logger_of(full_name.rpartition(".")[0]).getLevel()
        # Set in any case, or it follows the root's.
        held.put(full_name, now if now.isMoreSpecificThan(most[level]) else most[level])
    getattr(jvm, f"{_LOG4J}.core.config.Configurator").setLevel(held)


def log4j2_file() -> str:
    """Return the path of a log4j2 configuration that holds the same loggers.

    For executors of clusters of one's own: copy it to the ``conf`` directory of each worker, or
    name it in ``-Dlog4j2.configurationFile`` of ``spark.executor.extraJavaOptions``.
    """
    return os.path.join(os.path.dirname(__file__), "log4j2.properties")


def _is_quiet(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.INFO
