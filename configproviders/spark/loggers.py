"""The loggers that print options, statements and all that crosses Py4J, held where they do not."""

from __future__ import annotations

import logging
import os
from typing import Any

HELD = (
    "sql.internal.SharedState",
    "sql.execution.SparkSqlParser",
    "sql.execution.datasources.jdbc.connection",
    "sql.execution.datasources.jdbc.JDBCRDD",
    "sql.execution.streaming.runtime.MicroBatchExecution",
    "sql.execution.streaming.MicroBatchExecution",  # Its name before Spark 4.1.
)
"""Those under ``org.apache.spark.`` that print values, at DEBUG or at INFO already."""

_LOG4J = "org.apache.logging.log4j"
_PY4J = ("py4j.java_gateway", "py4j.clientserver")


def hold_python() -> None:
    """Keep Py4J from logging what it sends to the JVM, which it does below INFO.

    They get a filter: levels change, by a configuration that comes later, and filters stay.
    """
    for name in _PY4J:
        logging.getLogger(name).addFilter(_is_quiet)  # Once, however often.


def hold_jvm(jvm: Any) -> None:
    """Keep those of the driver's JVM at WARN too, whatever level the root gets later.

    They are not made louder than their packages are now: a context sets the level of the root when
    it starts, so call this again then. Executors have loggers of their own, which
    :func:`log4j2_file` holds.
    """
    # By their whole names: Py4J asks the JVM for each part of a name that is written with dots.
    most = getattr(jvm, f"{_LOG4J}.Level").valueOf("WARN")
    logger_of = getattr(jvm, f"{_LOG4J}.LogManager").getLogger
    levels = getattr(jvm, "java.util.HashMap")()
    for name in HELD:
        full_name = f"org.apache.spark.{name}"
        now = logger_of(full_name.rpartition(".")[0]).getLevel()
        # Set in any case, or it follows the root's.
        levels.put(full_name, now if now.isMoreSpecificThan(most) else most)
    getattr(jvm, f"{_LOG4J}.core.config.Configurator").setLevel(levels)


def log4j2_file() -> str:
    """Return the path of a log4j2 configuration that holds the same loggers.

    For executors of clusters of one's own: copy it to the ``conf`` directory of each worker, or
    name it in ``-Dlog4j2.configurationFile`` of ``spark.executor.extraJavaOptions``.
    """
    return os.path.join(os.path.dirname(__file__), "log4j2.properties")


def _is_quiet(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.INFO
