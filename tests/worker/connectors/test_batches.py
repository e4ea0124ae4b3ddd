"""Pipelines that run once or on a schedule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark.rotation.following import until
from worker.connectors.contexts import Context, run, running, task_configs

from configproviders import ConfigException
from configproviders.worker.connectors.pipeline import SparkPipelineConnector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def doubled(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("n * 2 AS n")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("".join(f'{{"n": {n}}}\n' for n in range(10)))
    return tmp_path


def copy(place: Path, **settings: str) -> dict[str, str]:
    """Return the config of a pipeline; a ``_`` in the name of a setting is a dot."""
    return {
        "source.format": "json",
        "source.schema": "n BIGINT",
        "source.options.path": str(place / "in"),
        "sink.format": "parquet",
        "sink.options.path": str(place / "out"),
        **{name.replace("_", "."): text for name, text in settings.items()},
    }


def numbers(spark: SparkSession, path: Path) -> list[int]:
    return sorted(row.n for row in spark.read.parquet(str(path)).collect())


def test_a_batch_copies_what_is_there_and_ends(spark: SparkSession, place: Path) -> None:
    run(spark, SparkPipelineConnector(), copy(place))

    assert numbers(spark, place / "out") == list(range(10))


def test_sql_reads_the_view_source_and_leaves_none_behind(spark: SparkSession, place: Path) -> None:
    sql = "WITH odd AS (SELECT n FROM source WHERE n % 2 = 1) SELECT n + 1 AS n FROM odd; "

    run(spark, SparkPipelineConnector(), copy(place, transform_sql=sql))

    assert numbers(spark, place / "out") == [2, 4, 6, 8, 10]
    assert not spark.catalog.tableExists("source")


def test_a_function_gets_and_gives_a_data_frame(spark: SparkSession, place: Path) -> None:
    function = f"{__name__}:doubled"

    run(spark, SparkPipelineConnector(), copy(place, transform_function=function))

    assert numbers(spark, place / "out") == list(range(0, 20, 2))


def test_columns_are_taken_before_and_after_the_transformation(
    spark: SparkSession, place: Path
) -> None:
    config = copy(
        place,
        source_select="n AS m",
        transform_sql="SELECT m FROM source WHERE m < 2",
        sink_select="m + 1 AS n",
    )

    run(spark, SparkPipelineConnector(), config)

    assert numbers(spark, place / "out") == [1, 2]


@pytest.mark.parametrize(
    "sql",
    [
        "ADD JAR '/tmp/a.jar'",
        "CREATE TEMPORARY FUNCTION f AS 'java.lang.String'",
        "SET spark.sql.shuffle.partitions=3",
        "INSERT OVERWRITE DIRECTORY '/tmp/x' USING (json) SELECT 1",
        "SELECT 1) ; SET a=(b",
        "BEGIN SELECT 1; END",
    ],
)
def test_sql_is_nothing_but_a_query(spark: SparkSession, place: Path, sql: str) -> None:
    from pyspark.errors import ParseException

    with pytest.raises(ParseException):
        run(spark, SparkPipelineConnector(), copy(place, transform_sql=sql))

    assert not (place / "out").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT reflect('java.lang.System', 'nanoTime')",
        "SELECT `Java_Method` ('java.lang.System', 'nanoTime')",
        "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'nanoTime')",
        "SELECT identifier/**/('ref' || 'lect')('java.lang.System', 'nanoTime')",
        "SELECT TRANSFORM(n) USING 'cat' FROM source",
        "FROM source MAP n USING/**/'cat'",
        "SELECT '${spark.driver.host}'",
    ],
)
def test_sql_runs_no_other_code(spark: SparkSession, place: Path, sql: str) -> None:
    config = copy(place, transform_sql=sql)
    task = SparkPipelineConnector.task_class()
    task.start(Context(spark, config))

    with pytest.raises(ConfigException, match="would run other code"):
        task.run()

    said = SparkPipelineConnector().validate(config)["transform.sql"]
    assert "would run other code, or read confs: use transform.function" in next(iter(said))


def test_a_join_may_use_using(spark: SparkSession, place: Path) -> None:
    sql = "SELECT n FROM source JOIN (SELECT 3 AS n) USING (n)"

    run(spark, SparkPipelineConnector(), copy(place, transform_sql=sql))

    assert numbers(spark, place / "out") == [3]


def test_rows_may_be_added_replaced_ignored_or_refused(spark: SparkSession, place: Path) -> None:
    from pyspark.errors import AnalysisException

    for mode in ("error", "append", "ignore"):
        run(spark, SparkPipelineConnector(), copy(place, sink_mode=mode))
    added = numbers(spark, place / "out")
    run(spark, SparkPipelineConnector(), copy(place, sink_mode="overwrite"))
    replaced = numbers(spark, place / "out")

    assert len(added) == 20
    assert len(replaced) == 10
    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        run(spark, SparkPipelineConnector(), copy(place, sink_mode="ErrorIfExists"))


def test_a_batch_may_go_to_a_table_of_the_catalog(spark: SparkSession, place: Path) -> None:
    config = copy(place, source_tables="a.json", sink_table="copy_of_{table}")
    config["source.options.path"] = str(place / "in" / "{table}")
    config["source.tables"] = "a"
    (place / "in" / "a.json").rename(place / "in" / "a")
    del config["sink.options.path"]

    run(spark, SparkPipelineConnector(), config)

    assert spark.table("copy_of_a").count() == 10
    spark.sql("DROP TABLE copy_of_a")


def test_a_schedule_runs_again_until_it_is_stopped(spark: SparkSession, place: Path) -> None:
    config = copy(place, mode="schedule", schedule_interval_ms="1", sink_mode="overwrite")
    context = Context(spark, config)
    task = SparkPipelineConnector.task_class()

    with running(task, context) as stop:
        until(lambda: context.waits >= 3)
        (place / "in" / "b.json").write_text('{"n": 10}\n')
        seen = context.waits
        until(lambda: context.waits >= seen + 2)
        stop()

    assert numbers(spark, place / "out") == list(range(11))


def test_a_schedule_ends_while_it_waits(spark: SparkSession, place: Path) -> None:
    config = copy(place, mode="schedule", schedule_interval_ms="999999999")
    context = Context(spark, config)

    with running(SparkPipelineConnector.task_class(), context) as stop:
        until(lambda: context.waits == 1)
        stop()

    assert numbers(spark, place / "out") == list(range(10))


def test_a_run_of_a_schedule_that_fails_fails_the_task(spark: SparkSession, place: Path) -> None:
    config = copy(place, mode="schedule", schedule_interval_ms="1", sink_mode="error")

    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        run(spark, SparkPipelineConnector(), config)


def test_rows_that_were_read_are_counted_over_all_runs(spark: SparkSession, place: Path) -> None:
    config = copy(place, mode="schedule", schedule_interval_ms="1")
    context = Context(spark, config)
    task = SparkPipelineConnector.task_class()

    with running(task, context) as stop:
        until(lambda: context.waits >= 3)
        stop()

    copied = len(numbers(spark, place / "out"))
    until(lambda: rows(task) == copied)
    progress = task.progress()
    assert copied >= 30
    assert progress is not None
    assert progress.rows_per_second is not None


def test_a_task_that_did_not_start_has_no_progress() -> None:
    task = SparkPipelineConnector.task_class()

    task.stop()

    assert task.progress() is None


def test_a_batch_has_no_offsets(spark: SparkSession, place: Path) -> None:
    from configproviders.errors import UnsupportedOperation

    connector, config = SparkPipelineConnector(), copy(place)

    assert connector.offsets(config) == ()
    with pytest.raises(UnsupportedOperation, match="only a stream has offsets"):
        connector.reset_offsets(config)


def test_tables_are_dealt_over_tasks(place: Path) -> None:
    config = copy(place, source_tables="a, b,c,d,e", tasks_max="2")
    for side in ("source", "sink"):
        config[f"{side}.options.path"] = str(place / "{table}")

    tasks = task_configs(SparkPipelineConnector(), config)

    assert [each["source.tables"] for each in tasks] == ["a,c,e", "b,d"]


def rows(task: Any) -> int:
    return int(task.progress().rows)
