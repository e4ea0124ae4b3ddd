"""Batches as the work of a task, once or on a schedule: :class:`Batches`."""

from __future__ import annotations

import time

from ..connector import Progress, TaskContext
from . import _settings as settings
from ._flow import Flow
from ._rows_read import RowsRead


class Batches:
    """Copies the tables of a task, one by one; again and again with ``mode=schedule``."""

    def __init__(self, context: TaskContext) -> None:
        """Take *context*; nothing is read yet."""
        self._context = context
        self._flow = Flow(context)
        self._tables = settings.SOURCE_TABLES.read(context.config) or ("",)
        self._rows = RowsRead(context.spark)

    def run(self) -> None:
        """Run until all is copied, or until the task is to end; raise what fails."""
        config = self._context.config
        interval = settings.SCHEDULE_INTERVAL.read(config)
        scheduled = settings.MODE.read(config) == settings.SCHEDULE and interval is not None
        while not self._context.is_stopping:
            begun = time.monotonic()
            with self._rows.counting():
                self._copy()
            if not scheduled or interval is None:
                return
            left = interval.total_seconds() - (time.monotonic() - begun)
            self._context.wait(max(0.0, left))

    def stop(self) -> None:
        """Do nothing: it ends after the table that is being copied."""

    def progress(self) -> Progress:
        """Return how much was read."""
        return Progress(self._rows.rows(), self._rows.rows_per_second())

    def _copy(self) -> None:
        mode = settings.SINK_MODE.read(self._context.config)
        for table in self._tables:
            if self._context.is_stopping:
                return
            self._flow.write(self._flow.read(table), mode, table)
