"""Handles where Spark needs Arrow: pandas UDFs, ``mapInArrow``, and Python data sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark.executors.counted import Backend

from configproviders.spark.executors import BackendSecrets, DriverSecrets, Secret
from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
functions: Any = pytest.importorskip("pyspark.sql.functions")  # PySpark has no type for all of it.
pytestmark = pytest.mark.spark

PASSWORD = "${counted:db:password}"


@pytest.fixture
def password(spark: SparkSession, backend: Backend) -> Iterator[Secret]:
    with DriverSecrets(spark, providers={"counted": backend.provider()}) as secrets:
        yield secrets.secret(PASSWORD)


def test_a_value_arrives_in_a_pandas_udf_and_in_map_in_arrow(
    spark: SparkSession, password: Secret
) -> None:
    def lengths(numbers: Any) -> Any:
        return numbers * 0 + len(password.value())

    lengths.__annotations__ = {"numbers": pd.Series, "return": pd.Series}
    length = functions.pandas_udf(lengths, "long")

    def add_length(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            numbers = [number + len(password.value()) for number in batch["n"].to_pylist()]
            yield pa.RecordBatch.from_pydict({"n": numbers})

    rows = spark.range(4).select(length("id").alias("n")).mapInArrow(add_length, "n long")

    assert [row.n for row in rows.collect()] == [2 * len(CANARY)] * 4


def test_a_value_arrives_in_the_reader_and_the_writer_of_a_data_source(
    spark: SparkSession, backend: Backend, tmp_path: Path
) -> None:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        DataSourceWriter,
        InputPartition,
        WriterCommitMessage,
    )

    password = BackendSecrets(backend.settings).secret(PASSWORD)

    class Reader(DataSourceReader):
        def partitions(self) -> list[InputPartition]:
            return [InputPartition(number) for number in range(3)]

        def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
            yield (len(password.value()),)

    class Writer(DataSourceWriter):
        def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
            (tmp_path / "written").write_text(str(len(password.value())))
            return WriterCommitMessage()

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return "guarded"

        def schema(self) -> str:
            return "n int"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

        def writer(self, schema: Any, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001  Spark's.
            return Writer()

    spark.dataSource.register(Source)

    rows = spark.read.format("guarded").load()
    assert [row.n for row in rows.collect()] == [len(CANARY)] * 3
    rows.coalesce(1).write.format("guarded").mode("append").save()
    assert (tmp_path / "written").read_text() == str(len(CANARY))
