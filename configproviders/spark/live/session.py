"""A running session, into which changed values are brought: :class:`LiveSession`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import ConfigException
from .. import delivery, guard
from .file_systems import FileSystems, schemes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

_HADOOP = "spark.hadoop."
# Spark reads these once, though it does not refuse another value.
_READ_ONCE = {
    "spark.hive.": "the client of the metastore keeps the old value",
    "spark.kubernetes.": "it is read when the application starts",
    "spark.metrics.": "it is read when the application starts",
    "spark.sql.catalog.": "a catalog that is loaded keeps the old value; one with a name not used"
    " so far takes the new one",
    "spark.ssl.": "it is read when the application starts",
}


class LiveSession:
    """Brings changed values into a session: Hadoop's in place, others into its runtime conf.

    What a running session cannot take is logged, by its key, with each change. When the context has
    stopped there is nothing to do. Called by one thread at a time.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Take the session that was created."""
        self._spark = spark
        self._file_systems = FileSystems(spark.sparkContext)

    def take(self, changed: Mapping[str, str]) -> None:
        """Bring the values of *changed*, by config key, into the session."""
        try:
            self._take(changed)
        except Exception as error:  # noqa: BLE001  The border to the JVM: it may quote the value.
            if self._runs():
                keys = ", ".join(changed)
                _log.warning("%s cannot be changed: %s", keys, type(error).__name__)

    def close(self) -> None:
        """Close what was replaced."""
        self._file_systems.close()

    def _take(self, changed: Mapping[str, str]) -> None:
        if not self._runs():
            return
        for key, value in changed.items():
            if reason := self._set(key, value):
                _log.warning("%s has changed, for the next session: %s", key, reason)
        names = (key.removeprefix(_HADOOP) for key in changed if key.startswith(_HADOOP))
        if touched := {scheme for name in names for scheme in schemes(name)}:
            self._file_systems.reopen(touched)

    def _set(self, key: str, value: str) -> str:
        """Set one value; return why the running session has not got it."""
        try:
            guard.refuse_unusual({key: value})
        except ConfigException as error:
            return str(error)
        if key.startswith(_HADOOP):
            return self._set_hadoop(key, value)
        try:
            self._spark.conf.set(key, value)
        except Exception as error:  # noqa: BLE001  The border to the JVM: it may quote the value.
            if not self._runs():
                return ""
            return f"Spark does not change it any more ({type(error).__name__})"
        return next((_READ_ONCE[start] for start in _READ_ONCE if key.startswith(start)), "")

    def _set_hadoop(self, key: str, value: str) -> str:
        try:
            guard.refuse_expansion({key: value}, [key])
        except ConfigException as error:
            return str(error)
        delivery.set_hadoop(self._spark.sparkContext, {key: value})
        return ""

    def _runs(self) -> bool:
        context: Any = self._spark.sparkContext
        try:
            return context._jsc is not None and not context._jsc.sc().isStopped()
        except Exception:  # noqa: BLE001  The JVM is gone, or on its way.
            return False
