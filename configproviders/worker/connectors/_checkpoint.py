"""The directory in which Spark notes how far a query has come: :class:`Checkpoint`.

::

    offsets/7    what batch 7 is to read: a version, metadata, and a line for each source
    commits/7    batch 7 is done
    metadata     the id of the query; sources/ and state/ belong to it too
"""

from __future__ import annotations

import json
from typing import Any

from ._directory import Directory

_OFFSETS, _COMMITS = "offsets", "commits"
_OURS = (_COMMITS, "metadata", "sources", "state", _OFFSETS)  # What tells it is one goes last.
_HEAD_LINES = 2
_NONE = "-"  # What Spark writes for a source that has given nothing yet.
_SINK_LOG = "_spark_metadata"


class Checkpoint:
    """What Spark has noted at a location."""

    def __init__(self, location: str) -> None:
        """Look at *location*; raise as :class:`Directory`."""
        self._directory = Directory(location)

    def offsets(self) -> list[Any]:
        """Return the offset of each source after the last batch that is done, or none."""
        done = [int(name) for name in self._directory.names(_COMMITS) if name.isdigit()]
        if not done:
            return []
        lines = self._directory.read(_OFFSETS, str(max(done))).splitlines()[_HEAD_LINES:]
        return [None if line == _NONE else json.loads(line) for line in lines if line]

    def delete(self) -> None:
        """Delete what Spark has noted, if it has, and nothing else that is there."""
        if self._directory.names(_OFFSETS):
            for name in _OURS:
                self._directory.delete(name)


def forget_files(path: str) -> None:
    """Delete the list of the files that queries have written at *path*.

    It is by batch, and a query that begins anew would pass over the batches that are in it.
    """
    Directory(path).delete(_SINK_LOG)
