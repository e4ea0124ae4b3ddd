"""Queries that are restarted: from their checkpoint, when a secret changes, not for ever."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark.rotation.following import Secrets, until

from configproviders.spark import LiveConfigs, restart_query, run_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.spark


class Copy:
    """A stream from files to files; each start takes a note of the options of now."""

    def __init__(self, spark: SparkSession, live: LiveConfigs, place: Path, secret: str) -> None:
        self.spark, self.place = spark, place
        self.options = live.options({"compression": "none", "apikey": secret})
        self.used: list[str] = []
        self.fed = 0
        (place / "in").mkdir()

    def start(self) -> StreamingQuery:
        options = self.options()
        self.used.append(options.pop("apikey"))
        rows = self.spark.readStream.schema("n long").option("maxFilesPerTrigger", 1)
        writer = rows.json(str(self.place / "in")).writeStream.options(**options)
        writer = writer.option("checkpointLocation", str(self.place / "checkpoint"))
        return writer.format("json").start(str(self.place / "out"))

    def has_started(self, times: int) -> bool:
        return len(self.used) == times

    def feed(self, files: int) -> None:
        for _ in range(files):
            lines = "".join(f'{{"n": {self.fed + n}}}\n' for n in range(10))
            self.fed += 10
            part = self.place / f"part-{self.fed}"
            part.write_text(lines)
            part.replace(self.place / "in" / part.name)

    def rows(self) -> list[int]:
        frame = self.spark.read.schema("n long").json(str(self.place / "out"))
        return sorted(row.n for row in frame.collect())


@pytest.fixture
def copy(spark: SparkSession, live: LiveConfigs, tmp_path: Path, secrets: Secrets) -> Copy:
    return Copy(spark, live, tmp_path, f"${{file:{secrets.file}:service}}")


def test_a_restarted_query_goes_on_from_its_checkpoint(copy: Copy, secrets: Secrets) -> None:
    query = copy.start()
    for _ in range(3):
        copy.feed(4)
        secrets.rotate("service")
        until(lambda: copy.options()["apikey"] == secrets.now["service"])
        query = restart_query(query, copy.start)
    query.processAllAvailable()
    query.stop()

    assert copy.rows() == list(range(copy.fed))
    assert len(set(copy.used)) == 4


def test_a_query_that_cannot_wait_for_the_end_of_a_batch_is_stopped_in_it(copy: Copy) -> None:
    copy.feed(5)
    query = copy.start()

    query = restart_query(query, copy.start, timeout=timedelta(0))
    query.processAllAvailable()
    query.stop()

    assert copy.rows() == list(range(copy.fed))


def test_that_a_query_had_failed_is_logged_and_is_the_cause(
    copy: Copy, caplog: pytest.LogCaptureFixture
) -> None:
    copy.feed(1)

    def fail(frame: object, batch: int) -> None:
        raise ValueError("the batch is bad")

    def never() -> StreamingQuery:
        raise OSError("no start")

    rows = copy.spark.readStream.schema("n long").json(str(copy.place / "in"))
    failed = rows.writeStream.foreachBatch(fail).start()
    until(lambda: not failed.isActive)

    with pytest.raises(OSError, match="no start") as error:
        restart_query(failed, never)

    assert "the batch is bad" in str(error.value.__cause__)
    assert f"the query {failed.id} had failed" in caplog.text


def test_a_query_is_restarted_when_its_secret_changes_and_ends_when_it_is_stopped(
    copy: Copy, secrets: Secrets
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    copy.feed(2)
    with ThreadPoolExecutor() as pool:
        run = pool.submit(run_query, copy.start, copy.options)
        for number in range(1, 4):
            until(partial(copy.has_started, number))
            if number < 3:
                secrets.rotate("service")
                copy.feed(2)
        until(lambda: any(each.isActive for each in copy.spark.streams.active))
        (query,) = copy.spark.streams.active
        query.processAllAvailable()
        query.stop()
        ended = run.result(20)

    assert ended.id == query.id
    assert copy.used[-1] == secrets.now["service"]
    assert copy.rows() == list(range(copy.fed))


def test_a_query_that_is_refused_with_each_secret_is_not_restarted_for_ever(
    spark: SparkSession, tmp_path: Path
) -> None:
    class Leases:
        """Have other credentials each time."""

        revision = 0

        def invalidate(self, *, revision: int | None = None) -> None:
            self.revision += 1

    starts = []

    def refused(batch: object, number: int) -> None:
        raise PermissionError("password authentication failed for user")

    def start() -> StreamingQuery:
        starts.append(spark.readStream.format("rate").load().writeStream.foreachBatch(refused))
        return starts[-1].option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    with pytest.raises(Exception, match="password authentication failed"):
        run_query(start, Leases())

    assert len(starts) == 3
