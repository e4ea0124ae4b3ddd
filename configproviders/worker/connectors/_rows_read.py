"""How many rows the batches of a task have read: :class:`RowsRead`.

Spark counts them itself, by stage, so this costs the jobs nothing. What it knows of a stage comes a
little later than the stage, and is forgotten some thousand stages later.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Batch(NamedTuple):
    """The last batch, by the tag of its jobs; *rows* are those of all batches before it."""

    rows: int
    tag: str
    begun: float
    ended: float | None = None


class RowsRead:
    """Counts rows of batches, which come one after another. Thread-safe."""

    def __init__(self, spark: SparkSession) -> None:
        """Count in the application of *spark*."""
        self._context = spark.sparkContext
        self._changing = threading.Lock()
        self._batch: _Batch | None = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what the jobs read that this thread has Spark do in this block, a batch."""
        tag = f"rows-{uuid.uuid4()}"
        batch = _Batch(self.rows(), tag, time.monotonic())
        self._set(batch)
        self._context.addJobTag(tag)
        try:
            yield
        finally:
            self._context.removeJobTag(tag)
            self._set(batch._replace(ended=time.monotonic()))

    def rows(self) -> int:
        """Return how many rows all batches have read so far."""
        batch = self._get()
        return 0 if batch is None else batch.rows + self._read_by(batch.tag)

    def rows_per_second(self) -> float | None:
        """Return how fast the last batch is, or was."""
        batch = self._get()
        if batch is None:
            return None
        seconds = (batch.ended or time.monotonic()) - batch.begun
        return self._read_by(batch.tag) / seconds if seconds > 0 else None

    def _get(self) -> _Batch | None:
        with self._changing:
            return self._batch

    def _set(self, batch: _Batch) -> None:
        with self._changing:
            self._batch = batch

    def _read_by(self, tag: str) -> int:
        application: Any = self._context._jsc.sc()
        tracker, store = application.statusTracker(), application.statusStore()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForTag(tag)]
        stages = {stage for job in jobs if job.isDefined() for stage in job.get().stageIds()}
        known = (store.lastStageAttempt(stage) for stage in stages)
        return sum(int(stage.inputRecords()) for stage in known)
