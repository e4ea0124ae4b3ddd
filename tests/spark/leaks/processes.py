"""Command lines and environments of all processes, read every few milliseconds."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_EVERY = 0.003
_PROC = Path("/proc")


class ProcessSampler:
    """Reads, in a thread of its own, what ``ps`` shows of the processes that start after it.

    Those that were there before are read when it starts and when it ends. What lives for less than
    a few milliseconds may be missed.
    """

    def __init__(self) -> None:
        """Have seen nothing yet."""
        self.command_lines: set[bytes] = set()
        self.environments: set[bytes] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="process-sampler", daemon=True)

    def __enter__(self) -> Self:
        self._before = _running()
        self._read(self._before)
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
        self._read(_running())

    def _sample(self) -> None:
        while not self._over.wait(_EVERY):
            running = _running()
            self._before &= running  # A number may be given to another process.
            self._read(running - self._before)

    def _read(self, pids: set[str]) -> None:
        for pid in pids:
            with suppress(OSError):  # It has ended, or is not ours to read.
                self.command_lines.add((_PROC / pid / "cmdline").read_bytes())
                self.environments.add((_PROC / pid / "environ").read_bytes())


def _running() -> set[str]:
    return {each.name for each in _PROC.iterdir() if each.name.isdigit()}
