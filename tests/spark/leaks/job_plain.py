"""The job as PySpark has it: each secret goes where the documentation of Spark says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark.leaks.job import Job, main
from spark.leaks.spec import CONFS, LATE_CONFS, LATE_HADOOP, SOURCE_OPTIONS, Spec

from configproviders import properties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class PlainDelivery:
    """Values in the builder, in options, in statements, in closures and in environments."""

    def __init__(self, file: str) -> None:
        """Read all values."""
        self._secrets = properties.loads(Path(file).read_text())

    def session(self, spec: Spec) -> SparkSession:
        from pyspark.sql import SparkSession

        os.environ["DATABASE_TOKEN"] = self._secrets["process_environment"]
        conf = spec.conf() | self.options(**CONFS)
        conf["spark.executor.extraJavaOptions"] += f" -Dmy.key={self._secrets['java_option']}"
        conf["spark.executorEnv.TASK_KEY"] = self._secrets["task_environment"]
        builder = SparkSession.builder.master(spec.master).appName(f"job-{spec.beacon}")
        for key, value in conf.items():
            builder.config(key, value)
        return builder.getOrCreate()

    def set_late(self, spark: SparkSession) -> None:
        for key, value in self.options(**LATE_CONFS).items():
            spark.conf.set(key, value)
        for key, value in self.options(**LATE_HADOOP).items():
            spark.sparkContext._jsc.hadoopConfiguration().set(key, value)

    def options(self, **secrets: str) -> dict[str, str]:
        return {option: self._secrets[name] for option, name in secrets.items()}

    def batch_options(self, **secrets: str) -> dict[str, str]:
        return self.options(**secrets)

    def source_options(self) -> dict[str, str]:
        return self.options(**SOURCE_OPTIONS)

    def url(self, url: str) -> str:
        return f"{url}?password={self._secrets['url_password']}"

    def task_secret(self, spark: SparkSession, name: str) -> Callable[[], object]:
        value = self._secrets[name]
        if name == "task_environment":
            return lambda: os.environ["TASK_KEY"]
        if name == "task_broadcast":
            kept = spark.sparkContext.broadcast(value)
            return lambda: kept.value
        return lambda: value

    def batch(self, function: Callable[[DataFrame, int], None]) -> Any:
        return function

    def create_view(self, job: Job) -> None:
        job.spark.sql(f"CREATE TEMPORARY VIEW orders_view USING jdbc OPTIONS ({self._ddl(job)})")

    def table(self, job: Job) -> str:
        return (
            f"CREATE TABLE orders_table USING jdbc OPTIONS ({self._ddl(job)})"
            f" COMMENT '{job.spec.beacon}' TBLPROPERTIES ('beacon' = '{job.spec.beacon}')"
        )

    def _ddl(self, job: Job) -> str:
        secrets = self.options(password="table_password", passphrase="table_passphrase")
        options = {**job.jdbc("cataloguer"), "dbtable": "orders", **secrets}
        return ", ".join(f"{name} '{value}'" for name, value in options.items())

    def close(self) -> None:
        """Do nothing: nothing is open."""


if __name__ == "__main__":
    main(PlainDelivery)
