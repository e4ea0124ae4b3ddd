"""Event logs, by what their events tell of."""

from __future__ import annotations

import json
from collections.abc import Iterator

_KINDS = {
    "SparkListenerEnvironmentUpdate": "environment",
    "SparkListenerJob": "jobs, stages, tasks",
    "SparkListenerStage": "jobs, stages, tasks",
    "SparkListenerTask": "jobs, stages, tasks",
    "org.apache.spark.sql.": "SQL",
}


def events(log: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the surface and the text of each event of *log*, a line each."""
    for line in log.splitlines():
        name = json.loads(line)["Event"]
        kinds = (kind for start, kind in _KINDS.items() if name.startswith(start))
        yield f"event log: {next(kinds, 'the rest')}", line
