"""A stream into files is restarted by its secret again and again, and has every row once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from spark.rotation.following import until as soon
from worker.workers import RotatedSecret, runs, until, worker_config

from configproviders.worker.worker import Worker

pytestmark = [pytest.mark.spark, pytest.mark.soak]

ROTATIONS = 100 if os.environ.get("SOAK") else 20
ROWS_OF_A_FILE, EVERY_SECONDS = 5, 0.05
STARTED = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent"


class Feed:
    """Moves files with rows, which count up, into a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.rows = 0
        (directory / "in").mkdir()

    @contextmanager
    def feeding(self) -> Iterator[None]:
        """Feed all the time, until the block ends."""
        over = threading.Event()
        thread = threading.Thread(target=self._feed, args=(over,), name="feed")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _feed(self, over: threading.Event) -> None:
        while not over.wait(EVERY_SECONDS):
            part = self.directory / "part"
            numbers = range(self.rows, self.rows + ROWS_OF_A_FILE)
            part.write_text("".join(f'{{"n": {number}}}\n' for number in numbers))
            part.replace(self.directory / "in" / f"{self.rows}.json")
            self.rows += ROWS_OF_A_FILE


def test_a_file_stream_that_its_secret_restarts_has_every_row_once(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    secret, feed = RotatedSecret(tmp_path), Feed(tmp_path)
    config = worker_config(
        tmp_path,
        spark__master="local[2]",
        spark__sql__shuffle__partitions="1",
        spark__eventLog__enabled="true",
        spark__eventLog__dir=str(tmp_path / "events"),
        spark__eventLog__compress="false",
    )

    with Worker(config) as worker:
        worker.begin()
        worker.herder.create("stream", stream(tmp_path, secret)).result()
        until(worker, "stream", runs)
        with feed.feeding():
            for number in range(1, ROTATIONS + 1):
                secret.rotate()
                # The thirtieth within a minute waits until that is over.
                soon(lambda: worker.herder.reloads == number, 90)  # noqa: B023  It is called at once.
                until(worker, "stream", runs)
        soon(lambda: len(rows_written(tmp_path)) >= feed.rows)
        worker.herder.stop("stream").result()
        rows = rows_written(tmp_path)

    assert len(runs_of_queries(tmp_path)) == ROTATIONS + 1
    assert len(rows) == feed.rows > ROTATIONS * ROWS_OF_A_FILE
    assert set(rows) == set(range(feed.rows))


def stream(directory: Path, secret: RotatedSecret) -> dict[str, str]:
    """Return a stream with an option that its sink passes over, but for that it is a secret."""
    return {
        "name": "stream",
        "connector.class": "FileStreamSource",
        "path": str(directory / "in"),
        "format": "json",
        "schema": "n BIGINT",
        "checkpoint.location": str(directory / "checkpoint"),
        "sink.format": "json",
        "sink.options.path": str(directory / "out"),
        "sink.options.password": secret.reference,
    }


def rows_written(directory: Path) -> list[int]:
    """Read what the batches that are done have written, as Spark's readers do.

    A batch that was cut off may have left files that are in no list; nobody reads those.
    """
    log = directory / "out" / "_spark_metadata"
    entries = [
        json.loads(line)
        for file in log.glob("[0-9]*")
        for line in file.read_text().splitlines()[1:]
    ]
    files = {entry["path"].removeprefix("file://") for entry in entries}
    return [json.loads(line)["n"] for file in files for line in Path(file).read_text().splitlines()]


def runs_of_queries(directory: Path) -> set[str]:
    """Return the ids of all runs of queries that Spark's event log tells of."""
    events = [
        json.loads(line)
        for file in (directory / "events").rglob("events_*")
        for line in file.read_text().splitlines()
    ]
    return {event["runId"] for event in events if event["Event"] == STARTED}
