"""A streaming query as the work of a task: :class:`Stream`.

Options are fixed when a query starts, but for a sink of JDBC: Spark streams into it only by
``foreachBatch``, which resolves them for each batch. A batch that was cut off, as by a stop while
there is always more to read, is written there again, so that rows may be there twice, unless
``sink.mode`` is ``complete``, which writes the whole table anew. Files have every row once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ...spark.cleaning import cleaned
from ...spark.live.streaming import stop_query
from ..connector import Progress, TaskContext
from . import _settings as settings
from ._flow import JDBC, Flow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

STOP_TIMEOUT = timedelta(seconds=10)
"""How long the end of a batch is waited for."""

_COUNT_SECONDS = 5.0  # Spark keeps what the last 100 batches have done.


class Stream:
    """A query that runs from when this is made until :meth:`stop`. Thread-safe."""

    def __init__(self, context: TaskContext) -> None:
        """Start the query; raise what Spark says if it does not."""
        self._source_format = settings.SOURCE_FORMAT.read(context.config)
        self._counting = threading.Lock()
        self._rows, self._counted = 0, -1
        self._query = _start(Flow(context))

    def run(self) -> None:
        """Wait for the end of the query; raise what ended it."""
        while not self._query.awaitTermination(_COUNT_SECONDS):  # type: ignore[arg-type] # Floats.
            self._count()

    def stop(self) -> None:
        """End the query, between two batches if one ends soon."""
        stop_query(self._query, timeout=STOP_TIMEOUT)

    def progress(self) -> Progress:
        """Return what the query has done since it started."""
        self._count()
        last = self._query.lastProgress
        if last is None:
            return Progress(rows=self._rows)
        offsets = [source["endOffset"] for source in last["sources"]]
        rate = last["processedRowsPerSecond"]
        return Progress(self._rows, rate, partitioned(self._source_format, offsets))

    def _count(self) -> None:
        with self._counting:
            last = self._query.lastProgress
            if last is None or last["batchId"] <= self._counted:
                return
            behind = last["batchId"] - self._counted
            batches = self._query.recentProgress if behind > 1 else [last]
            new = [each for each in batches if each["batchId"] > self._counted]
            self._rows += sum(each["numInputRows"] for each in new)
            # A query that rests reports the number of the batch that is to come, without rows.
            self._counted = last["batchId"] - (not last["numInputRows"])


def partitioned(
    source_format: str, offsets: list[Any]
) -> tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]:
    """Return pairs of partition and offset: the sources of a query, by number, and where each is.

    What Spark notes is an object for Kafka and for files, and a number for some others.
    """
    return tuple(
        (
            {"source": source_format, "number": number},
            _mapping(offset),
        )
        for number, offset in enumerate(offsets)
        if offset is not None
    )


def _mapping(offset: Any) -> Mapping[str, Any]:
    if isinstance(offset, str):  # Progress has some offsets as text.
        with suppress(ValueError):
            offset = json.loads(offset)
    known: dict[str, Any] = cleaned(offset if isinstance(offset, dict) else {"offset": offset})
    return known


def _start(flow: Flow) -> StreamingQuery:
    config = flow.context.config
    # Before the query starts: its session is a copy of ours, with what is known to be redacted.
    options = flow.context.options(settings.SINK_OPTIONS_PREFIX)
    writer = flow.stream_writer(flow.read_stream())
    sink_format = settings.SINK_FORMAT.read(config)
    if sink_format.lower() == JDBC:
        mode = "overwrite" if settings.SINK_MODE.read(config) == "complete" else "append"

        def write(frame: DataFrame, _: int) -> None:
            flow.write(frame, mode)

        return writer.foreachBatch(write).start()
    writer = writer.format(sink_format).options(**options)
    if table := settings.SINK_TABLE.read(config):
        return writer.toTable(table)
    return writer.start()
