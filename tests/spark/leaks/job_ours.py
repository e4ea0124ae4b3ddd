"""The same job with ``configproviders.spark``: references in configs, options and closures."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from spark.leaks.job import Job, main
from spark.leaks.spec import CONFS, LATE_CONFS, LATE_HADOOP, SOURCE_OPTIONS, Spec

from configproviders.spark import LiveConfigs, resolve_options, retrying
from configproviders.spark.executors import BackendSecrets, DriverSecrets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class OurDelivery:
    """Entries of the session, options of readers and writers, and handles for tasks."""

    def __init__(self, file: str) -> None:
        """Take secrets from *file*."""
        self._file = file

    def session(self, spec: Spec) -> SparkSession:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit was given all that is set below.
            self._live = LiveConfigs()
        else:
            builder = builder.master(spec.master).appName(f"job-{spec.beacon}")
            self._live = LiveConfigs(spec.conf() | references(spec.secrets))
        spark = self._live.create_session(builder)
        self._secrets = DriverSecrets(spark)
        return spark

    def set_late(self, spark: SparkSession) -> None:
        """Do nothing: what comes late is named from the start."""

    def options(self, **secrets: str) -> dict[str, str]:
        return resolve_options(self._references(secrets))

    def batch_options(self, **secrets: str) -> dict[str, str]:
        return self._live.options(self._references(secrets))()

    def source_options(self) -> dict[str, str]:
        """Return none: what file systems need stands in Hadoop's configuration."""
        return {}

    def url(self, url: str) -> str:
        """Return *url* as it is: passwords are options."""
        return url

    def task_secret(self, spark: SparkSession, name: str) -> Callable[[], object]:
        source = BackendSecrets() if name == "task_environment" else self._secrets
        return source.secret(_reference(self._file, name)).value

    def batch(self, function: Callable[[DataFrame, int], None]) -> Any:
        return retrying(function, self._live)

    def create_view(self, job: Job) -> None:
        options = self.options(password="table_password", passphrase="table_passphrase")
        orders = job.reader("cataloguer", options, dbtable="orders").load()
        orders.createTempView("orders_view")

    def table(self, job: Job) -> str:
        return (
            f"CREATE TABLE orders_table USING parquet COMMENT '{job.spec.beacon}'"
            f" TBLPROPERTIES ('beacon' = '{job.spec.beacon}') AS SELECT * FROM orders_view"
        )

    def close(self) -> None:
        self._secrets.close()
        self._live.close()

    def _references(self, secrets: Mapping[str, str]) -> dict[str, str]:
        return {key: _reference(self._file, name) for key, name in secrets.items()}


def references(file: str) -> dict[str, str]:
    """Return the entries of the session whose secrets stand in *file*."""
    hadoop = {f"spark.hadoop.{key}": name for key, name in (LATE_HADOOP | SOURCE_OPTIONS).items()}
    secrets = CONFS | LATE_CONFS | hadoop
    return {key: _reference(file, name) for key, name in secrets.items()}


def _reference(file: str, name: str) -> str:
    return f"${{file:{file}:{name}}}"


if __name__ == "__main__":
    main(OurDelivery)
