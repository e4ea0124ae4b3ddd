"""Pipelines in a real worker: secrets that change, streams that go on, and no value anywhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.jars import POSTGRESQL, jar
from servers.postgres import Postgres
from spark.rotation.following import until as soon
from worker.connectors.contexts import load
from worker.workers import RotatedSecret, runs, until, worker_config

from configproviders.testing import CANARY
from configproviders.worker.status import ConnectorStatus, State
from configproviders.worker.worker import Worker

pytestmark = [pytest.mark.spark, pytest.mark.postgres]
USER = "pipeline"
TABLES = ("orders", "customers", "items")


class Setting:
    """A worker, and a database whose user has the password of a file."""

    def __init__(self, worker: Worker, database: Postgres, secret: RotatedSecret) -> None:
        self.worker, self.database, self.secret = worker, database, secret

    def sql(self, statement: str) -> list[Any]:
        import psycopg

        admin = self.database.dsn(self.database.superuser, self.database.password)
        with psycopg.connect(admin, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rotate(self) -> None:
        self.secret.rotate()
        self.sql(f"ALTER ROLE {USER} PASSWORD '{self.secret.value}'")

    def create(self, name: str, config: dict[str, str]) -> None:
        infos = self.worker.validation.validate({"name": name, **config})
        assert infos.errors == []
        self.worker.herder.create(name, {"name": name, **config}).result()

    def shown(self, name: str) -> str:
        """Return all that the worker says of a connector."""
        herder = self.worker.herder
        said = [herder.info(name).config, herder.status(name), herder.task_configs(name)]
        said += [herder.progress(name), herder.offsets(name)]
        return "".join(map(str, said))


@pytest.fixture(scope="module")
def setting(
    database: Postgres, jars: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Setting]:
    load(jars)
    place = tmp_path_factory.mktemp("worker")
    config = worker_config(
        place,
        spark__master="local[2]",
        spark__jars=str(jar(POSTGRESQL)),
        spark__sql__shuffle__partitions="1",
        spark__sql__warehouse__dir=str(place / "warehouse"),
    )
    with Worker(config) as worker:
        worker.begin()
        setting = Setting(worker, database, RotatedSecret(place))
        setting.sql(f"CREATE ROLE {USER} LOGIN SUPERUSER")
        yield setting
    setting.sql(f"DROP OWNED BY {USER}")
    setting.sql(f"DROP ROLE {USER}")


def test_tasks_that_copy_tables_show_references(setting: Setting, tmp_path: Path) -> None:
    setting.rotate()
    for name in TABLES:
        setting.sql(f"CREATE TABLE {name} AS SELECT '{name}' AS of")
    config = {
        "connector.class": "JdbcSource",
        "connection.url": setting.database.jdbc_url,
        "connection.user": USER,
        "connection.password": setting.secret.reference,
        "table.whitelist": ",".join(TABLES),
        "tasks.max": "2",
        "poll.interval.ms": "600000",
        "transform.sql": "SELECT upper(of) AS of FROM source",
        "sink.mode": "overwrite",
        "sink.format": "json",
        "sink.options.path": str(tmp_path / "{table}"),
    }

    setting.create("copy", config)
    for name in TABLES:
        soon((tmp_path / name / "_SUCCESS").exists)
    tasks, shown = setting.worker.herder.task_configs("copy"), setting.shown("copy")
    setting.worker.herder.delete("copy").result()

    setting.sql(f"DROP TABLE {', '.join(TABLES)}")
    for name in TABLES:
        assert [each.read_text() for each in (tmp_path / name).glob("*.json")] == [
            f'{{"of":"{name.upper()}"}}\n'
        ]
    assert [each["source.options.password"] for each in tasks] == [setting.secret.reference] * 2
    assert CANARY not in shown


def test_a_stream_goes_on_with_each_new_password(
    setting: Setting, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    setting.rotate()
    (tmp_path / "in").mkdir()
    config = {
        "connector.class": "FileStreamSource",
        "path": str(tmp_path / "in"),
        "format": "json",
        "schema": "n BIGINT",
        "checkpoint.location": str(tmp_path / "checkpoint"),
        "sink.format": "jdbc",
        "sink.options.url": setting.database.jdbc_url,
        "sink.options.user": USER,
        "sink.options.password": setting.secret.reference,
        "sink.options.dbtable": "streamed",
    }
    setting.create("stream", config)
    until(setting.worker, "stream", runs)

    for number in range(3):
        (tmp_path / "part").write_text(f'{{"n": {number}}}\n')
        (tmp_path / "part").replace(tmp_path / "in" / f"{number}.json")
        soon(lambda: len(streamed(setting)) == number + 1)  # noqa: B023  It is called at once.
        setting.rotate()
    done = [({"source": "json", "number": 0}, {"logOffset": 2})]
    soon(lambda: list(setting.worker.herder.offsets("stream")) == done)
    shown = setting.shown("stream")
    setting.worker.herder.stop("stream").result()
    until(setting.worker, "stream", has_stopped)
    setting.worker.herder.reset_offsets("stream")
    after = list(setting.worker.herder.offsets("stream"))

    assert {row[0] for row in streamed(setting)} == {0, 1, 2}
    setting.sql("DROP TABLE streamed")
    assert after == []
    assert CANARY not in shown + caplog.text


def has_stopped(status: ConnectorStatus) -> bool:
    return status.state is State.STOPPED and not status.tasks


def streamed(setting: Setting) -> list[Any]:
    if setting.sql("SELECT to_regclass('streamed')") == [(None,)]:
        return []
    return setting.sql("SELECT DISTINCT n FROM streamed ORDER BY n")
