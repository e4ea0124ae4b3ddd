"""What a command reads of Parquet, and what it shows meanwhile, in one session."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PythonException

from configproviders import ConfigException
from configproviders.spark.bulk.inventory import read_inventory
from configproviders.spark.bulk.local_session import reason, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_command_reads_parquet_in_the_session_there_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    path, columns = f"{tmp_path}/configs", ("id", "key", "value")
    entries = [("b", "x", "${env:B}"), ("a", "y", "${env:A} ${env:B}")]
    spark.createDataFrame(entries, "id string, key string, value string").write.parquet(path)

    everything, _ = read_inventory(path, columns, None, {}, show=print)
    users = read_inventory(path, columns, "env:B", {}, show=print)
    nobody = read_inventory(path, columns, "env:C", {}, show=print)
    with pytest.raises(ConfigException, match=r"Spark cannot read '/nowhere': \[PATH_NOT_FOUND\]"):
        read_inventory("/nowhere", columns, None, {}, show=print)

    assert [row[0] + row[4] for row in everything] == ["aA", "aB", "bB"]
    assert users == ([("a", "y", "env", "", "B"), ("b", "x", "env", "", "B")], 0)
    assert nobody == ([], 2)


@pytest.mark.spark
def test_a_command_takes_ids_and_keys_of_any_type_and_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [(None, 1, "${env:A}"), (7, None, "${env:B}")]
    spark.createDataFrame(rows, "i int, k int, v string").write.parquet(f"{tmp_path}/configs")

    inventory, _ = read_inventory(f"{tmp_path}/configs", ("i", "k", "v"), None, {}, show=print)

    assert inventory == [("", "1", "env", "", "A"), ("7", "", "env", "", "B")]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("{0}/broken.parquet", "is not a Parquet file"),
        ("s3a://bucket/configs", "S3AFileSystem not found"),
        ("hdfs://nowhere.invalid/configs", "UnknownHostException: nowhere.invalid"),
    ],
)
def test_what_spark_cannot_read_is_said_in_a_line(
    spark: SparkSession, tmp_path: Path, path: str, message: str
) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")

    with pytest.raises(ConfigException, match=message) as raised:
        read_inventory(path.format(tmp_path), ("id", "key", "value"), None, {}, show=print)

    assert "\n" not in str(raised.value)


@pytest.mark.spark
def test_of_an_error_in_python_the_line_that_says_it_is_given(spark: SparkSession) -> None:
    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise ValueError("no such thing")

    df = spark.range(1)

    with pytest.raises(PythonException) as raised:
        df.mapInArrow(fail, df.schema).collect()

    assert reason(raised.value) == "ValueError: no such thing"


@pytest.mark.spark
def test_progress_counts_all_jobs_so_far_and_no_others(spark: SparkSession) -> None:
    spark.range(0, 4, 1, 4).collect()
    shown: list[tuple[int, int]] = []
    seen = threading.Event()

    def act() -> bool:
        spark.range(0, 3, 1, 3).count()
        return seen.wait(60)

    def show(done: int, total: int) -> None:
        shown.append((done, total))
        if (done, total) == (4, 4):  # Three tasks that count, and one that sums up.
            seen.set()

    assert watched(spark, act, show)
    assert shown == sorted(shown)
    assert all(total for _, total in shown)
