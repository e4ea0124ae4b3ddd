"""What a connector costs against the same job by hand: a stream's start, and the rows of a batch.

A worker and a plain program run at the same time, with the same confs, and work in turn. Both are
warm: the first jobs are not counted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import requests
from worker.processes import TESTS, WorkerProcess, is_running, worker_process
from worker.workers import RotatedSecret, entries

from configproviders.properties import dumps

from .bench import spread
from .bench_spark import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAMS, COPIES, WARM_UP = 15, 5, 2
ROWS = 15_000_000
SCHEMA = "id BIGINT, name STRING"
SQL = "SELECT id, upper(name) AS name FROM source WHERE sha2(name, 256) < '2'"  # One in eight.
CONFS = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}

T = TypeVar("T")


def bench_spark() -> None:
    """Print both figures."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        with closing(Plain(place)) as plain, worker(place) as ours:
            show_starts(in_turn(ours.start_stream, partial(plain, "stream"), STREAMS))
            by_hand = measured(partial(plain, "copy"), plain.pid)
            show_rates(in_turn(measured(ours.copy, ours.pid), by_hand, COPIES))


def in_turn(ours: Callable[[int], T], plain: Callable[[int], T], rounds: int) -> list[tuple[T, T]]:
    """Return what both measure, now the one first and now the other; the first rounds are none."""
    found = []
    for number in range(WARM_UP + rounds):
        sides = {"ours": ours, "plain": plain}
        order = sorted(sides, reverse=bool(number % 2))
        taken = {name: sides[name](number) for name in order}
        found.append((taken["ours"], taken["plain"]))
    return found[WARM_UP:]


def measured(copy: Callable[[int], float], pid: int) -> Callable[[int], tuple[float, float]]:
    """Return *copy*, with the CPU time that the process *pid* and its JVM take for it."""

    def measure(number: int) -> tuple[float, float]:
        before = cpu_seconds(pid)
        return copy(number), cpu_seconds(pid) - before

    return measure


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of those that it has started, so far."""
    place = Path("/proc", str(pid))
    taken = (place / "stat").read_text().rpartition(")")[2].split()[11:15]
    children = [each for task in place.glob("task/*/children") for each in task.read_text().split()]
    own: float = sum(map(int, taken)) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(child)) for child in children)


class Ours:
    """A worker with Spark, asked over REST."""

    def __init__(self, process: WorkerProcess, place: Path, secret: str) -> None:
        """Take the process; what is read stands in *place*, and *secret* is a reference."""
        self.pid = process.process.pid
        self._session, self._url = requests.Session(), f"{process.url}/connectors"
        self._place, self._secret = place, secret

    def start_stream(self, number: int) -> float:
        """Return the seconds from the POST of a stream until it is RUNNING."""
        source, sink = self._place / "in", self._place / f"ours-stream-{number}"
        more = {
            "mode": "streaming",
            "checkpoint.location": str(sink / "checkpoint"),
            "source.format": "json",
            "source.schema": SCHEMA,
        }
        config = self._config(source, sink / "out", more)
        begin = time.perf_counter()
        name = self._create(number, config)
        self._until(name, is_running, 0.01)
        taken = time.perf_counter() - begin
        self._delete(name)
        return taken

    def copy(self, number: int) -> float:
        """Return the rows of a second, from the POST of a batch until all are written."""
        sink = self._place / f"ours-copy-{number}"
        more = {"source.format": "parquet", "transform.sql": SQL}
        config = self._config(self._place / "rows", sink, more)
        begin = time.time()
        name = self._create(number, config)
        self._until(name, lambda status: status["connector"]["state"] == "STOPPED", 0.2)
        self._delete(name)
        return rate(begin, sink)

    def close(self) -> None:
        """Ask no more."""
        self._session.close()

    def _config(self, source: Path, sink: Path, more: Mapping[str, str]) -> dict[str, str]:
        return {
            "connector.class": "SparkPipelineConnector",
            "source.options.path": str(source),
            "sink.options.password": self._secret,
            "sink.format": "parquet",
            "sink.options.path": str(sink),
            **more,
        }

    def _create(self, number: int, config: Mapping[str, str]) -> str:
        name = f"{config.get('mode', 'batch')}-{number}"
        self._ask("POST", "", {"name": name, "config": config})
        return name

    def _until(self, name: str, is_there: Callable[[Any], bool], pause: float) -> None:
        while not is_there(status := self._ask("GET", f"/{name}/status").json()):
            if "FAILED" in str(status):
                raise RuntimeError(str(status))
            time.sleep(pause)

    def _delete(self, name: str) -> None:
        self._ask("PUT", f"/{name}/stop")  # The answer comes when nothing runs any more.
        self._ask("DELETE", f"/{name}")

    def _ask(self, method: str, path: str, body: object = None) -> requests.Response:
        said = self._session.request(method, f"{self._url}{path}", json=body, timeout=60)
        said.raise_for_status()
        return said


def rate(begin: float, sink: Path) -> float:
    """Return the rows of a second, from *begin* until all were in *sink*; delete them."""
    end = (sink / "_SUCCESS").stat().st_mtime
    shutil.rmtree(sink)
    return ROWS / (end - begin)


@contextmanager
def worker(place: Path) -> Iterator[Ours]:
    """Run a worker with the confs of all."""
    secret = RotatedSecret(place)
    settings = {**entries(place), "reload.settle.ms": "1000", **CONFS}
    (place / "worker.properties").write_text(dumps(settings))
    with worker_process(place) as process, closing(Ours(process, place, secret.reference)) as ours:
        yield ours


class Plain:
    """The baseline: does something when it is called, and tells how long, or how fast."""

    def __init__(self, place: Path) -> None:
        """Start it, and wait until it has."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bench_worker_spark", str(place)],
            cwd=TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self.pid = self._process.pid
        self._answer()

    def __call__(self, what: str, number: int) -> float:
        """Have it do *what*."""
        assert self._process.stdin
        self._process.stdin.write(f"{what} {number}\n")
        return float(self._answer())

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()


def run_plain(place: Path) -> None:
    """Write what is to be read, then do what each line asks for, as a program of Spark would."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, text in CONFS.items():
        builder.config(key, text)
    spark = builder.getOrCreate()
    (place / "in").mkdir()
    (place / "in" / "some.json").write_text('{"id": 1, "name": "one"}\n')
    rows = spark.range(ROWS).selectExpr("id", "concat('the name of ', id) AS name")
    rows.write.parquet(str(place / "rows"))
    print("ready", flush=True)
    jobs = {"stream": plain_stream, "copy": plain_copy}
    for line in sys.stdin:
        what, number = line.split()
        print(jobs[what](spark, place, number), flush=True)
    spark.stop()


def plain_stream(spark: SparkSession, place: Path, number: str) -> float:
    """Return the seconds that a query takes to start."""
    sink = place / f"plain-stream-{number}"
    begin = time.perf_counter()
    stream = spark.readStream.format("json").schema(SCHEMA)
    writer = stream.load(str(place / "in")).writeStream.format("parquet").option("password", "none")
    writer = writer.option("checkpointLocation", str(sink / "checkpoint"))
    query = writer.start(str(sink / "out"))
    taken = time.perf_counter() - begin
    query.processAllAvailable()
    query.stop()
    return taken


def plain_copy(spark: SparkSession, place: Path, number: str) -> float:
    """Return the rows of a second that are read and written."""
    sink = place / f"plain-copy-{number}"
    begin = time.time()
    spark.read.format("parquet").load(str(place / "rows")).createOrReplaceTempView("source")
    spark.sql(SQL).write.format("parquet").save(str(sink))
    return rate(begin, sink)


def show_starts(rounds: Sequence[tuple[float, float]]) -> None:
    """Print how long a stream takes to start."""
    ratio = spread([ours / plain for ours, plain in rounds], ".2f")
    sides = [spread([each * 1e3 for each in side], ",.0f") for side in zip(*rounds, strict=True)]
    print(
        f"{ratio} x  POST of a stream until it is RUNNING: {sides[0]} ms against {sides[1]} ms"
        " from readStream to the end of start() in plain PySpark, both warm",
        flush=True,
    )


def show_rates(rounds: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Print how fast rows are copied, and the CPU time of that; least and most in brackets."""
    ratio = shown([ours[0] / plain[0] for ours, plain in rounds])
    cpu_ratio = shown([ours[1] / plain[1] for ours, plain in rounds])
    sides = [shown([rows for rows, _ in side]) for side in zip(*rounds, strict=True)]
    cpus = [shown([cpu for _, cpu in side]) for side in zip(*rounds, strict=True)]
    print(
        f"{ratio} x  a batch of {ROWS:,} rows, Parquet to Parquet with SQL, from its POST:"
        f" {sides[0]} rows/s against {sides[1]} rows/s of plain PySpark, goal 0.98 x\n"
        f"{cpu_ratio} x  the same, CPU time with that of the JVM: {cpus[0]} s against {cpus[1]} s",
        flush=True,
    )


if __name__ == "__main__":
    run_plain(Path(sys.argv[1]))
