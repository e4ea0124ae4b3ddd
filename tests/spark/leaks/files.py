"""Files below the run's folder, and new ones in the folders that all processes share."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from spark.leaks.canaries import Findings

SHARED = (Path(tempfile.gettempdir()), Path("/dev/shm"))
_EVERY = 0.1
_LARGEST = 1 << 26
_JVM_DATA = "hsperfdata_"


class FileSampler:
    """Reads, in a thread of its own, files as they come and change, and looks for canaries in them.

    *places* says which surface a folder is; the first that holds a file counts. In the folders of
    ``SHARED``, what was there before and is not in *places* is read where a JVM puts the figures
    that it shows to tools, and left alone else. *but* are folders that are not searched.
    """

    def __init__(self, places: Mapping[Path, str], findings: Findings, *, but: set[Path]) -> None:
        """Take note of what is there before."""
        self._places, self._findings, self._but = places, findings, but
        self._before = set(_entries())
        self._seen: set[tuple[str, int, int]] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="file-sampler", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._read_all()

    def _sample(self) -> None:
        while not self._over.wait(_EVERY):
            self._read_all()

    def _read_all(self) -> None:
        for file in self._files():
            with suppress(OSError):  # It is gone already.
                status = file.stat()
                version = (str(file), status.st_mtime_ns, status.st_size)
                if version not in self._seen and status.st_size < _LARGEST:
                    self._findings.look(self._surface(file), str(file), file.read_bytes())
                    self._seen |= set() if _JVM_DATA in str(file) else {version}  # It is mapped.

    def _files(self) -> Iterator[Path]:
        new = [entry for entry in _entries() if entry not in self._before]
        for folder in [*self._places, *new]:
            if folder.is_file():
                yield folder
            for here, below, names in os.walk(folder):
                below[:] = [name for name in below if Path(here, name) not in self._but]
                yield from (file for name in names if (file := Path(here, name)).is_file())

    def _surface(self, file: Path) -> str:
        if _JVM_DATA in str(file):
            return "/tmp/hsperfdata_*"
        inside = (name for place, name in self._places.items() if file.is_relative_to(place))
        return next(inside, "/tmp, /dev/shm")


def _entries() -> Iterator[Path]:
    """Yield what stands in the shared folders, and each JVM's file of figures."""
    for folder in SHARED:
        for entry in folder.iterdir():
            yield entry
            if entry.name.startswith(_JVM_DATA):
                with suppress(OSError):
                    yield from entry.iterdir()
