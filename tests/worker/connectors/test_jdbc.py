"""Tables of a real database: read, written, and a password that changes in between."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers.postgres import Postgres
from spark.rotation.following import until
from worker.connectors.contexts import Context, running, task_configs

from configproviders import ConfigData, ConfigProvider
from configproviders.spark import is_authentication_failure
from configproviders.testing import CANARY
from configproviders.worker.connectors._jdbc_driver import driver
from configproviders.worker.connectors.jdbc import JdbcSourceConnector
from configproviders.worker.connectors.pipeline import SparkPipelineConnector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.postgres]
USER = "copier"
_numbers = itertools.count()


class Account(ConfigProvider):
    """A user of the database whose password changes, and the provider that has it."""

    def __init__(self, database: Postgres) -> None:
        self.database = database
        self._stored = ""

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        return ConfigData({"user": USER, "password": self._stored})

    def sql(self, *statements: str) -> list[Any]:
        import psycopg

        admin = self.database.dsn(self.database.superuser, self.database.password)
        with psycopg.connect(admin, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rotate(self, *, store: bool = True) -> None:
        password = f"{CANARY}-{next(_numbers)}"
        self.sql(f"ALTER ROLE {USER} PASSWORD '{password}'")
        if store:
            self._stored = password

    def options(self, side: str) -> dict[str, str]:
        return {
            f"{side}.options.url": self.database.jdbc_url,
            f"{side}.options.user": "${secrets:db:user}",
            f"{side}.options.password": "${secrets:db:password}",
        }


@pytest.fixture(scope="module")
def account(database: Postgres) -> Iterator[Account]:
    account = Account(database)
    account.sql(f"CREATE ROLE {USER} LOGIN SUPERUSER")
    for name, rows in {"a": 1, "b": 2, "c": 3}.items():
        account.sql(f"CREATE TABLE {name} AS SELECT n FROM generate_series(1, {rows}) AS n")
    yield account
    account.sql("DROP TABLE a, b, c", f"DROP OWNED BY {USER}", f"DROP ROLE {USER}")


@pytest.fixture(autouse=True)
def _rotated(account: Account) -> None:
    account.rotate()


@pytest.fixture
def context(spark: SparkSession, account: Account) -> Callable[..., Context]:
    return partial(Context, spark, providers={"secrets": account})


def test_tables_are_copied_by_two_tasks(
    context: Callable[..., Context], account: Account, spark: SparkSession, tmp_path: Path
) -> None:
    config = {
        "connection.url": account.database.jdbc_url,
        "connection.user": "${secrets:db:user}",
        "connection.password": "${secrets:db:password}",
        "table.whitelist": "a,b,c",
        "tasks.max": "2",
        "sink.format": "parquet",
        "sink.options.path": str(tmp_path / "{table}"),
    }

    configs = task_configs(JdbcSourceConnector(), config)
    for each in configs:
        task = JdbcSourceConnector.task_class()
        task.start(context(each))
        task.run()

    assert [each["source.tables"] for each in configs] == ["a,c", "b"]
    copied = {name: spark.read.parquet(str(tmp_path / name)).count() for name in "abc"}
    assert copied == {"a": 1, "b": 2, "c": 3}


def test_a_query_is_copied(
    context: Callable[..., Context], account: Account, spark: SparkSession, tmp_path: Path
) -> None:
    connector = JdbcSourceConnector()
    config = {
        "connection.url": account.database.jdbc_url,
        "connection.user": "${secrets:db:user}",
        "connection.password": "${secrets:db:password}",
        "query": "SELECT sum(n) AS n FROM c",
        "transform.sql": "SELECT n * 10 AS n FROM source",
        "sink.format": "json",
        "sink.options.path": str(tmp_path / "sum"),
    }
    (each,) = task_configs(connector, config)

    task = connector.task_class()
    task.start(context(each))
    task.run()

    assert [row.n for row in spark.read.json(str(tmp_path / "sum")).collect()] == [60]


def test_the_next_run_logs_in_with_the_new_password(
    context: Callable[..., Context], account: Account, spark: SparkSession, tmp_path: Path
) -> None:
    config = {
        **account.options("source"),
        "source.format": "jdbc",
        "source.options.dbtable": "a",
        "sink.format": "parquet",
        "sink.options.path": str(tmp_path / "a"),
        "mode": "schedule",
        "schedule.interval.ms": "1",
    }
    made = context(config, between=account.rotate)

    with running(SparkPipelineConnector.task_class(), made) as stop:
        until(lambda: made.waits >= 3)
        stop()

    assert spark.read.parquet(str(tmp_path / "a")).count() >= 3


def test_a_refused_login_comes_out_without_the_password(
    context: Callable[..., Context],
    account: Account,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    config = {
        **account.options("source"),
        "source.format": "jdbc",
        "source.options.dbtable": "a",
        "sink.format": "parquet",
        "sink.options.path": str(tmp_path / "a"),
    }
    made = context(config)
    task = SparkPipelineConnector.task_class()
    task.start(made)
    account.rotate(store=False)

    with pytest.raises(Exception, match="connect to the database") as error:
        task.run()

    assert is_authentication_failure(error.value)
    said = f"{error.value!s} {error.value!r} {task!r} {vars(task)} {task.progress()}"
    assert CANARY not in said + caplog.text


def test_a_stream_writes_to_a_database_with_the_password_of_now(
    context: Callable[..., Context], account: Account, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    config = stream(account, tmp_path, "streamed")
    task = SparkPipelineConnector.task_class()

    with running(task, context(config)) as stop:
        for number in range(3):
            account.rotate()
            (tmp_path / "part").write_text(f'{{"n": {number}}}\n')
            (tmp_path / "part").replace(tmp_path / "in" / f"{number}.json")
            until(partial(has, task, number + 1))
        stop()
    copied = account.sql("SELECT n FROM streamed ORDER BY n")
    account.sql("DROP TABLE streamed")

    assert copied == [(0,), (1,), (2,)]


def test_a_login_that_is_refused_in_a_stream_ends_it_as_such(
    context: Callable[..., Context], account: Account, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.json").write_text('{"n": 1}\n')
    task = SparkPipelineConnector.task_class()
    account.rotate(store=False)

    task.start(context(stream(account, tmp_path, "refused")))
    with pytest.raises(Exception, match="password authentication failed") as error:
        task.run()

    assert is_authentication_failure(error.value)
    assert CANARY not in f"{error.value!s} {error.value!r}"


def test_a_complete_stream_writes_the_whole_table_anew(
    context: Callable[..., Context], account: Account, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    config = {
        **stream(account, tmp_path, "counted"),
        "transform.sql": "SELECT count(*) AS n FROM source",
        "sink.mode": "complete",
    }
    task = SparkPipelineConnector.task_class()

    with running(task, context(config)) as stop:
        for number in range(2):
            (tmp_path / "in" / f"{number}.json").write_text('{"n": 1}\n')
            until(partial(has, task, number + 1))
        stop()
    counted = account.sql("SELECT n FROM counted")
    account.sql("DROP TABLE counted")

    assert counted == [(2,)]


def test_a_database_of_which_no_driver_is_there_is_left_to_spark(spark: SparkSession) -> None:
    assert driver(spark, "jdbc:nobody:orders") == ""
    assert driver(spark, "jdbc:postgresql://db/orders") == "org.postgresql.Driver"


def has(task: Any, rows: int) -> bool:
    return int(task.progress().rows) >= rows


def stream(account: Account, place: Path, table: str) -> dict[str, str]:
    return {
        **account.options("sink"),
        "mode": "streaming",
        "checkpoint.location": str(place / "checkpoint"),
        "source.format": "json",
        "source.schema": "n BIGINT",
        "source.options.path": str(place / "in"),
        "sink.format": "jdbc",
        "sink.options.dbtable": table,
    }
