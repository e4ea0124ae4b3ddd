"""How soon a stream works with a secret that has changed: the next batch, and a restarted query.

Wall time on both sides, in turn. The first stream always has something to do; the second rests
between its batches, so that it is stopped between two.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from configproviders.spark import LiveConfigs, LiveOptions, retrying, run_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ROTATIONS, RESTARTS, WARM_UP = 50, 20, 10
REST = "500 milliseconds"
CONFS = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@dataclass
class Batches:
    """The batches of a stream that are done: when each was, and with which secret."""

    options: LiveOptions
    done: list[tuple[float, str]] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def write(self, frame: DataFrame, _: int) -> None:
        """Do what a batch does, with the secret of now."""
        secret = self.options()["password"]
        frame.count()
        self.note(secret)

    def note(self, secret: str) -> None:
        """Have a batch done with *secret*."""
        with self.news:
            self.done.append((time.perf_counter(), str(secret)))
            self.news.notify_all()

    def millis(self, since: float, secret: str | None = None) -> float:
        """Return how long after *since* the first batch was done, or the first with *secret*."""
        with self.news:
            start = len(self.done)
            while True:
                for end, used in self.done[start:]:
                    if secret in (None, used):
                        return (end - since) * 1e3
                start = len(self.done)
                if not self.news.wait(60):
                    raise TimeoutError("no batch came")


def main() -> None:
    """Print both figures."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as directory:
        secret = Path(directory, "secret.properties")
        rotate(secret, 0)
        with (
            LiveConfigs(CONFS) as live,
            live.create_session(SparkSession.builder) as spark,
        ):
            options = live.options({"password": f"${{file:{secret}:password}}"})
            with streaming(spark, options) as batches:
                bench_next_batch(batches, secret)
            with restarting(spark, options, Path(directory)) as batches:
                bench_restart(batches, secret)


def rotate(file: Path, number: int) -> str:
    """Change the secret; return the new one."""
    spare = file.with_suffix(".new")
    spare.write_text(f"password=the secret number {number}\n")
    spare.replace(file)
    return f"the secret number {number}"


@contextmanager
def streaming(spark: SparkSession, options: LiveOptions) -> Iterator[Batches]:
    """Run a stream with a function for each batch."""
    batches = Batches(options)
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).load()
    query = source.writeStream.foreachBatch(retrying(batches.write, options)).start()
    for _ in range(WARM_UP):
        batches.millis(time.perf_counter())
    yield batches
    query.stop()


@contextmanager
def restarting(spark: SparkSession, options: LiveOptions, place: Path) -> Iterator[Batches]:
    """Run a query that is restarted when the secret changes, as those with fixed options are."""
    batches = Batches(options)

    def start() -> StreamingQuery:
        secret = options()["password"]
        source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).load()
        writer = source.writeStream.option("checkpointLocation", str(place / "checkpoint"))
        writer = writer.trigger(processingTime=REST)
        return writer.foreachBatch(partial(count, batches, secret)).start()

    thread = threading.Thread(target=run_query, args=(start, options))
    thread.start()
    for _ in range(WARM_UP):
        batches.millis(time.perf_counter())
    yield batches
    while thread.is_alive():
        for query in spark.streams.active:
            query.stop()
        thread.join(0.1)


def count(batches: Batches, secret: str, frame: DataFrame, _: int) -> None:
    """Do what a batch does, with the secret that its query was started with."""
    frame.count()
    batches.note(secret)


def bench_next_batch(batches: Batches, secret: Path) -> None:
    """Compare with the end of the batch that comes next, whatever secret it has."""
    rounds = [measure(batches, partial(rotate, secret, number)) for number in range(1, ROTATIONS)]
    show("rotation to the first batch with the new secret, foreachBatch", rounds)


def bench_restart(batches: Batches, secret: Path) -> None:
    """Compare a restart, from the same checkpoint, with the same."""
    numbers = range(ROTATIONS, ROTATIONS + RESTARTS)
    rounds = [measure(batches, partial(rotate, secret, number)) for number in numbers]
    show(f"rotation to the first batch of the restarted query, one each {REST}", rounds)


def measure(batches: Batches, change: Callable[[], str]) -> tuple[float, float]:
    """Return how long it takes from a change, and from a moment without one."""
    start = time.perf_counter()
    ours = batches.millis(start, change())
    return ours, batches.millis(time.perf_counter())


def show(name: str, rounds: Sequence[tuple[float, float]]) -> None:
    """Print the ratio of the medians, and both sides."""
    ours, next_batch = zip(*rounds, strict=True)
    ratio = statistics.median(ours) / statistics.median(next_batch)
    print(
        f"{ratio:.2f} x  {name}: {spread(ours)} ms to its end, 100 of them to settle,"
        f" against {spread(next_batch)} ms to that of the next batch there is",
        flush=True,
    )


def spread(values: Sequence[float]) -> str:
    """Write the median with the first and the last decile."""
    low, *_, high = statistics.quantiles(values, n=10)
    return f"{statistics.median(values):,.0f} ({low:,.0f}-{high:,.0f})"


if __name__ == "__main__":
    main()
