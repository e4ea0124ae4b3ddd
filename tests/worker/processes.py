"""Workers as processes that are asked over REST, and can be killed at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

TESTS = Path(__file__).parents[1]


class WorkerProcess:
    """One worker: its process, its log and where it listens."""

    def __init__(self, directory: Path, module: str, environ: Mapping[str, str]) -> None:
        self.log = directory / "worker.log"
        self._seen = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, "worker.properties"],
                cwd=directory,
                env={**os.environ, "PYTHONPATH": str(TESTS), **environ},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.url = self._wait_for("url")
        self._wait_for("url", "the worker has started")

    def lines(self) -> list[dict[str, Any]]:
        """Return what it has logged so far."""
        with self.log.open() as log:
            log.seek(self._seen)
            text = log.read()
        whole = text[: text.rfind("\n") + 1]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        return requests.request(method, f"{self.url}{path}", json=body, timeout=60)

    def until(self, path: str, is_there: Callable[[Any], bool], seconds: float = 60) -> Any:
        """Wait until the answer to a GET is as wanted; return it."""
        end = time.monotonic() + seconds
        while True:
            answer = self.ask("GET", path)
            found = answer.json() if answer.ok else None
            if found is not None and is_there(found):
                return found
            assert time.monotonic() < end, (answer.status_code, answer.text[:3000])
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(60)

    def _wait_for(self, field: str, message: str = "") -> str:
        end = time.monotonic() + 90
        while time.monotonic() < end:
            for line in self.lines():
                if message and line["message"] == message:
                    return message
                if not message and field in line:
                    return str(line[field])
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            time.sleep(0.02)
        raise AssertionError(self.log.read_text()[-3000:])


@contextmanager
def worker_process(
    directory: Path, module: str = "configproviders.worker", **environ: str
) -> Iterator[WorkerProcess]:
    """Run a worker in *directory*, where ``worker.properties`` is; kill it at the end."""
    worker = WorkerProcess(directory, module, environ)
    try:
        yield worker
    finally:
        worker.kill()


def is_running(status: Mapping[str, Any]) -> bool:
    """Whether a connector runs, and all of its tasks do."""
    states = {status["connector"]["state"], *(task["state"] for task in status["tasks"])}
    return states == {"RUNNING"} and bool(status["tasks"])
