"""Topics of a real broker, read and written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from servers.jars import SPARK_KAFKA, jar
from servers.kafka_broker import KafkaBroker, kafka_broker
from spark.rotation.following import until
from worker.connectors.contexts import Context, run, running, task_configs

from configproviders.worker.connectors.kafka import KafkaSinkConnector, KafkaSourceConnector

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jars() -> list[str]:
    return [str(jar(each)) for each in SPARK_KAFKA]


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with kafka_broker() as running:
        yield running


def written(broker: KafkaBroker, place: Path, topic: str, **more: str) -> dict[str, str]:
    """Return the config of a sink for the files at *place*."""
    return {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "topic": topic,
        "source.format": "json",
        "source.schema": "id BIGINT, name STRING",
        "source.options.path": str(place / "in"),
        **{name.replace("_", "."): text for name, text in more.items()},
    }


def copied(broker: KafkaBroker, place: Path, **more: str) -> dict[str, str]:
    """Return the config of a source that goes to files at *place*."""
    return {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "checkpoint.location": str(place / "checkpoint"),
        "sink.format": "parquet",
        "sink.options.path": str(place / "out"),
        **{name.replace("_", "."): text for name, text in more.items()},
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    lines = "".join(f'{{"id": {n}, "name": "name {n}"}}\n' for n in range(5))
    (tmp_path / "in" / "a.json").write_text(lines)
    return tmp_path


def rows(spark: SparkSession, place: Path) -> list[Row]:
    if not (place / "out" / "_spark_metadata").exists():
        return []
    reader = spark.read.schema("key STRING, value STRING, topic STRING, partition INT, offset LONG")
    return reader.parquet(str(place / "out")).orderBy("offset").collect()


def has(spark: SparkSession, place: Path, count: int) -> bool:
    return len(rows(spark, place)) == count


def test_rows_go_to_a_topic_and_back_to_files(
    spark: SparkSession, broker: KafkaBroker, place: Path
) -> None:
    select = "CAST(id AS STRING) AS key, name AS value"
    run(spark, KafkaSinkConnector(), written(broker, place, "orders", sink_select=select))
    connector, config = KafkaSourceConnector(), copied(broker, place, topics="orders")
    (each,) = task_configs(connector, config)

    with running(connector.task_class(), Context(spark, each)) as stop:
        until(partial(has, spark, place, 5))
        run(spark, KafkaSinkConnector(), written(broker, place, "orders", sink_select=select))
        until(partial(has, spark, place, 10))
        stop()

    found = rows(spark, place)
    assert [(row.topic, row.partition, row.offset) for row in found] == [
        ("orders", 0, offset) for offset in range(10)
    ]
    assert {(row.key, row.value) for row in found} == {(str(n), f"name {n}") for n in range(5)}
    assert connector.offsets(config) == (({"source": "kafka", "number": 0}, {"orders": {"0": 10}}),)


def test_a_stream_of_files_goes_to_a_topic_as_json(
    spark: SparkSession, broker: KafkaBroker, place: Path
) -> None:
    checkpoint = str(place / "of-sink")
    config = written(
        broker,
        place,
        "streamed",
        mode="streaming",
        checkpoint_location=checkpoint,
        transform_sql="SELECT * FROM source WHERE id = 3",
    )
    sink, source = KafkaSinkConnector(), KafkaSourceConnector()
    (each,) = task_configs(sink, config)
    read = copied(broker, place, topics_regex="stream.*", mode="batch")
    del read["checkpoint.location"]

    with running(sink.task_class(), Context(spark, each)) as stop:
        until(lambda: sink.offsets(config) != ())
        stop()
    run(spark, source, read)

    (row,) = spark.read.parquet(str(place / "out")).collect()
    assert (row.key, row.value) == (None, '{"id":3,"name":"name 3"}')


def test_sql_sees_keys_and_values_as_text(
    spark: SparkSession, broker: KafkaBroker, place: Path
) -> None:
    run(spark, KafkaSinkConnector(), written(broker, place, "texts"))
    sql = "SELECT value:id::int AS id FROM (SELECT parse_json(value) AS value FROM source)"
    config = copied(broker, place, topics="texts", mode="batch", transform_sql=sql)
    del config["checkpoint.location"]

    run(spark, KafkaSourceConnector(), config)

    found = spark.read.parquet(str(place / "out")).collect()
    assert sorted(row.id for row in found) == list(range(5))


def test_only_what_comes_later_may_be_read(
    spark: SparkSession, broker: KafkaBroker, place: Path
) -> None:
    run(spark, KafkaSinkConnector(), written(broker, place, "later"))
    config = copied(broker, place, topics="later", auto_offset_reset="latest")
    connector = KafkaSourceConnector()
    (each,) = task_configs(connector, config)
    task = connector.task_class()

    with running(task, Context(spark, each)) as stop:
        until((place / "checkpoint" / "sources" / "0" / "0").exists)
        run(spark, KafkaSinkConnector(), written(broker, place, "later"))
        until(partial(has, spark, place, 5))
        stop()

    assert [row.offset for row in rows(spark, place)] == list(range(5, 10))
