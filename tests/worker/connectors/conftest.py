"""A session for each module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from servers.jars import POSTGRESQL, jar
from worker.connectors.contexts import load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def jars() -> list[str]:
    """Give the archives that the session loads; modules add theirs."""
    return [str(jar(POSTGRESQL))]


@pytest.fixture(scope="module")
def spark(jars: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    load(jars)
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    builder = builder.config("spark.jars", ",".join(jars))
    # Producers of Kafka that are idle end soon: their broker ends before the JVM does.
    for name in ("timeout", "evictorThreadRunInterval"):
        builder = builder.config(f"spark.kafka.producer.cache.{name}", "1s")
    session = builder.getOrCreate()
    yield session
    session.stop()
