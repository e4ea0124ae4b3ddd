"""A session that follows its secrets, one for each module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from spark.rotation.following import SOON, Secrets

from configproviders.spark import LiveConfigs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Secrets:
    return Secrets(tmp_path_factory.mktemp("secrets") / "s.properties")


@pytest.fixture(scope="module")
def live(secrets: Secrets) -> Iterator[LiveConfigs]:
    with LiveConfigs(secrets.configs(), watcher=SOON) as live:
        yield live


@pytest.fixture(scope="module")
def spark(live: LiveConfigs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    with live.create_session(builder.config("spark.hadoop.fs.ftp.user.files.example", "u")) as it:
        yield it


@pytest.fixture
def hadoop(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()
