"""How many rows the batches of a task have read: :class:`RowsRead`.

Spark counts them itself, by stage, so this costs the jobs nothing. What it knows of a stage comes a
little later than the stage, and is forgotten some thousand stages later.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTLED_SECONDS = 2.0


class _Batch(NamedTuple):
    """A batch, by the tag of its jobs."""

    tag: str
    begun: float
    ended: float = math.inf

    def seconds(self) -> float:
        return min(self.ended, time.monotonic()) - self.begun


class RowsRead:
    """Counts rows of batches, which come one after another. Thread-safe."""

    def __init__(self, spark: SparkSession) -> None:
        """Count in the application of *spark*."""
        self._context = spark.sparkContext
        self._changing = threading.Lock()
        self._before = 0
        self._batches: list[_Batch] = []  # Those of which Spark may not know all yet.

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what the jobs read that this thread has Spark do in this block, a batch."""
        batch = _Batch(f"rows-{uuid.uuid4()}", time.monotonic())
        with self._changing:
            self._settle()
            self._batches.append(batch)
        self._context.addJobTag(batch.tag)
        try:
            yield
        finally:
            self._context.removeJobTag(batch.tag)
            with self._changing:
                self._batches[-1] = batch._replace(ended=time.monotonic())

    def rows(self) -> int:
        """Return how many rows all batches have read so far."""
        with self._changing:
            return self._before + sum(self._read_by(batch.tag) for batch in self._batches)

    def rows_per_second(self) -> float | None:
        """Return how fast the last batch is, or was."""
        with self._changing:
            batch = self._batches[-1] if self._batches else None
        seconds = batch.seconds() if batch else 0.0
        return self._read_by(batch.tag) / seconds if batch and seconds else None

    def _settle(self) -> None:
        while self._batches and time.monotonic() - self._batches[0].ended > _SETTLED_SECONDS:
            self._before += self._read_by(self._batches.pop(0).tag)

    def _read_by(self, tag: str) -> int:
        application: Any = self._context._jsc.sc()
        tracker, store = application.statusTracker(), application.statusStore()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForTag(tag)]
        stages = {stage for job in jobs if job.isDefined() for stage in job.get().stageIds()}
        known = (store.lastStageAttempt(stage) for stage in stages)
        return sum(int(stage.inputRecords()) for stage in known)
