"""Pipelines that go on for ever."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark.rotation.following import until
from worker.connectors.contexts import Context, running

from configproviders.worker.connectors.file_stream import (
    FileStreamSinkConnector,
    FileStreamSourceConnector,
)
from configproviders.worker.connectors.pipeline import SparkPipelineConnector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.spark


class Spool:
    """A directory of files with numbers, and one that they are copied to."""

    def __init__(self, place: Path) -> None:
        self.source, self.sink, self.checkpoint = place / "in", place / "out", place / "checkpoint"
        self.fed = 0
        self.source.mkdir()
        self.place = place

    def config(self, **settings: str) -> dict[str, str]:
        """Return the config of a pipeline; a ``_`` in the name of a setting is a dot."""
        return {
            "mode": "streaming",
            "checkpoint.location": str(self.checkpoint),
            "source.format": "json",
            "source.schema": "n BIGINT",
            "source.options.path": str(self.source),
            "sink.format": "parquet",
            "sink.options.path": str(self.sink),
            **{name.replace("_", "."): text for name, text in settings.items()},
        }

    def feed(self, rows: int = 10) -> None:
        lines = "".join(f'{{"n": {self.fed + n}}}\n' for n in range(rows))
        self.fed += rows
        part = self.place / f"part-{self.fed}.json"
        part.write_text(lines)
        part.replace(self.source / part.name)

    def numbers(self, spark: SparkSession) -> list[int]:
        if not (self.sink / "_spark_metadata").exists():
            return []
        frame = spark.read.schema("n BIGINT").parquet(str(self.sink))
        return sorted(row.n for row in frame.collect())

    def has(self, spark: SparkSession, rows: int) -> bool:
        return len(self.numbers(spark)) >= rows


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path)


def rows(task: Any) -> int:
    return int(task.progress().rows)


def has_read(task: Any) -> bool:
    return rows(task) > 0


def rests(query: StreamingQuery) -> bool:
    last = query.lastProgress
    return last is not None and not last.numInputRows


def test_a_stream_runs_when_it_is_started_and_until_it_is_stopped(
    spark: SparkSession, spool: Spool
) -> None:
    spool.feed()
    config = spool.config(transform_sql="SELECT n FROM source WHERE n >= 5")
    task = SparkPipelineConnector.task_class()

    with running(task, Context(spark, config)) as stop:
        (query,) = spark.streams.active
        until(partial(spool.has, spark, 5))
        spool.feed()
        until(partial(spool.has, spark, 15))
        stop()

    assert query.name == "orders"
    assert spool.numbers(spark) == list(range(5, 20))
    assert spark.streams.active == []


def test_rows_that_come_after_a_rest_are_counted(spark: SparkSession, spool: Spool) -> None:
    spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "1")
    task = SparkPipelineConnector.task_class()

    with running(task, Context(spark, spool.config())) as stop:
        (query,) = spark.streams.active
        for batch in range(1, 4):
            until(partial(rests, query))
            task.progress()
            spool.feed()
            until(partial(spool.has, spark, 10 * batch))
        until(partial(rests, query))
        stop()

    assert rows(task) == spool.fed


def test_a_stream_that_is_stopped_twenty_times_has_every_row_once(
    spark: SparkSession, spool: Spool
) -> None:
    config = spool.config(source_options_maxFilesPerTrigger="1")

    for number in range(20):
        for _ in range(2):
            spool.feed(5)
        task = SparkPipelineConnector.task_class()
        with running(task, Context(spark, config)) as stop:
            if number % 2:
                until(partial(has_read, task))
            stop()
    with running(SparkPipelineConnector.task_class(), Context(spark, config)) as stop:
        until(partial(spool.has, spark, spool.fed))
        stop()

    assert spool.numbers(spark) == list(range(200))


def test_progress_counts_rows_and_says_where_the_stream_is(
    spark: SparkSession, spool: Spool
) -> None:
    spool.feed()
    config = spool.config(source_options_maxFilesPerTrigger="1")
    task = SparkPipelineConnector.task_class()

    with running(task, Context(spark, config)) as stop:
        until(lambda: rows(task) == 10)
        for _ in range(3):
            spool.feed()
        until(lambda: rows(task) == 40)
        stop()
    progress = task.progress()

    assert progress is not None
    assert progress.rows_per_second is not None
    assert progress.offsets == (({"source": "json", "number": 0}, {"logOffset": 3}),)
    assert list(SparkPipelineConnector().offsets(config)) == list(progress.offsets)


def test_the_offsets_of_what_never_ran_are_empty(spark: SparkSession, spool: Spool) -> None:
    connector = SparkPipelineConnector()

    connector.reset_offsets(spool.config())

    assert connector.offsets(spool.config()) == ()


def test_what_is_no_checkpoint_is_not_deleted(spark: SparkSession, spool: Spool) -> None:
    (spool.checkpoint / "state").mkdir(parents=True)

    SparkPipelineConnector().reset_offsets(spool.config())

    assert (spool.checkpoint / "state").exists()


def test_a_stream_begins_anew_when_its_offsets_are_reset(spark: SparkSession, spool: Spool) -> None:
    spool.feed()
    spool.checkpoint.mkdir()
    (spool.checkpoint / "keep").write_text("not Spark's")
    connector, config = SparkPipelineConnector(), spool.config()
    with running(connector.task_class(), Context(spark, config)) as stop:
        until(partial(spool.has, spark, 10))
        stop()

    connector.reset_offsets(config)

    assert connector.offsets(config) == ()
    assert [each.name for each in spool.checkpoint.iterdir()] == ["keep"]
    with running(connector.task_class(), Context(spark, config)) as stop:
        until(lambda: len(list(spool.sink.glob("*.parquet"))) == 2)
        stop()
    frame = spark.read.parquet(*map(str, spool.sink.glob("*.parquet")))
    assert sorted(row.n for row in frame.collect()) == sorted([*range(10)] * 2)


def test_a_stream_may_have_an_interval(spark: SparkSession, spool: Spool) -> None:
    spool.feed()
    config = spool.config(trigger_interval_ms="50")

    with running(SparkPipelineConnector.task_class(), Context(spark, config)) as stop:
        until(partial(spool.has, spark, 10))
        stop()

    assert spool.numbers(spark) == list(range(10))


def test_a_stream_may_go_to_a_table_of_the_catalog(spark: SparkSession, spool: Spool) -> None:
    spool.feed()
    config = spool.config(sink_table="numbers")
    del config["sink.options.path"]

    with running(SparkPipelineConnector.task_class(), Context(spark, config)) as stop:
        until(lambda: spark.catalog.tableExists("numbers") and spark.table("numbers").count() == 10)
        stop()

    spark.sql("DROP TABLE numbers")


def test_what_ends_a_stream_is_raised(spark: SparkSession, spool: Spool) -> None:
    from pyspark.errors import StreamingQueryException

    spool.feed()
    config = spool.config(transform_sql="SELECT raise_error('the row is bad') AS n FROM source")
    task = SparkPipelineConnector.task_class()
    task.start(Context(spark, config))

    with pytest.raises(StreamingQueryException, match="the row is bad"):
        task.run()


def test_a_stream_that_is_to_end_while_it_starts_ends(spark: SparkSession, spool: Spool) -> None:
    context = Context(spark, spool.config())
    context.stopping.set()
    task = SparkPipelineConnector.task_class()

    task.start(context)
    task.run()

    assert spark.streams.active == []


def test_files_of_a_directory_are_followed(spark: SparkSession, spool: Spool) -> None:
    spool.feed()
    config = {
        "path": str(spool.source),
        "format": "json",
        "schema": "n BIGINT",
        "max.files.per.trigger": "1",
        "checkpoint.location": str(spool.checkpoint),
        "sink.format": "parquet",
        "sink.options.path": str(spool.sink),
    }
    connector = FileStreamSourceConnector()
    assert connector.validate(config) == {}
    connector.start(config)

    with running(
        connector.task_class(), Context(spark, next(iter(connector.task_configs(1))))
    ) as stop:
        spool.feed()
        until(partial(spool.has, spark, 20))
        stop()

    assert spool.numbers(spark) == list(range(20))
    assert connector.offsets(config) == (({"source": "json", "number": 0}, {"logOffset": 1}),)


def test_any_stream_goes_to_files(spark: SparkSession, spool: Spool) -> None:
    config = {
        "source.format": "rate",
        "source.options.rowsPerSecond": "100",
        "sink.options.compression": "none",
        "transform.sql": "SELECT value AS n FROM source",
        "path": str(spool.sink),
        "checkpoint.location": str(spool.checkpoint),
    }
    connector = FileStreamSinkConnector()
    assert connector.validate(config) == {}
    connector.start(config)

    with running(
        connector.task_class(), Context(spark, next(iter(connector.task_configs(1))))
    ) as stop:
        until(partial(spool.has, spark, 100))
        stop()

    numbers = spool.numbers(spark)
    assert numbers == list(range(len(numbers)))
