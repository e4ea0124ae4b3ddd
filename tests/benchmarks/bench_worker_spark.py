"""What a connector costs against the same job by hand: a stream's start, and the rows of a batch.

A worker and a plain program run at the same time, with the same confs, and work in turn. Both are
warm: the first jobs are not counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from worker.processes import TESTS, WorkerProcess, is_running, worker_process
from worker.workers import RotatedSecret, entries

from configproviders.properties import dumps

from .bench import spread
from .bench_worker_rest import answer, good, post

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAMS, BATCHES, WARM_UP = 15, 6, 2
ROWS = 4_000_000
SCHEMA = "id BIGINT, name STRING"
SQL = "SELECT id, sha2(name, 256) AS digest, upper(name) AS name FROM source"
CONFS = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}

Measure = Callable[[int], float]


def bench_spark() -> None:
    """Print both figures."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "in").mkdir()
        (place / "in" / "some.json").write_text('{"id": 1, "name": "one"}\n')
        with plain_program(place) as by_hand, worker(place) as of_worker:
            starts = in_turn(
                partial(started, of_worker, place), partial(by_hand, "stream"), STREAMS
            )
            show("POST of a stream until it is RUNNING", starts, "ms, readStream to start() by hand")
            rates = in_turn(partial(copied, of_worker, place), partial(by_hand, "batch"), BATCHES)
            show(f"a batch of {ROWS:,} rows, Parquet to Parquet", rates, "rows/s, plain PySpark")


def in_turn(ours: Measure, plain: Measure, rounds: int) -> list[tuple[float, float]]:
    """Measure both, now the one first and now the other; leave out the first rounds."""
    found = []
    for number in range(WARM_UP + rounds):
        if number % 2:
            found.append((ours(number), plain(number)))
        else:
            other = plain(number)
            found.append((ours(number), other))
    return found[WARM_UP:]


class Asked:
    """A worker with Spark, asked over one connection."""
