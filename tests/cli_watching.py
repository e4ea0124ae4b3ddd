"""``resolve-config watch`` in a process of its own, and what it says meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from configproviders.testing import CANARY

COMMAND = [sys.executable, "-m", "configproviders", "watch"]
NEW = f"{CANARY}-new"
_PATIENCE = 30.0


def eventually(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds; fail if it takes too long."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


@contextmanager
def in_time() -> Iterator[None]:
    """Fail what does not end, in this thread."""

    def fail(*_: object) -> None:
        raise TimeoutError("it does not end")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(2 * int(_PATIENCE))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


JOB = ("job.properties", "-o", "out")


def runs_of(script: str) -> list[str]:
    """Return the option that runs *script* after each change."""
    Path("after.sh").write_text(script)
    return ["--on-change", "sh after.sh 'one word'"]


def lines_of(file: str) -> list[str]:
    """Return the lines of *file*; none if it is not there yet."""
    return Path(file).read_text().splitlines() if Path(file).exists() else []


def replace(file: str, text: str) -> None:
    """Put *text* into *file* at once."""
    Path("next").write_text(text)
    Path("next").replace(file)


def rotate(password: str = NEW, user: str = "orders") -> None:
    """Replace the secrets of the job at once, as a rotation does."""
    replace("secrets.properties", f"user={user}\npassword={password}\n")


def password_in(file: str) -> str:
    """Return the password that the resolved job in *file* has."""
    lines = dict(line.split("=", 1) for line in Path(file).read_text().splitlines())
    return lines["spark.hadoop.fs.s3a.secret.key"]


class Watching:
    """The process, which ends with the block. No value may be in what it shows."""

    def __init__(
        self, *argv: str, environ: Mapping[str, str] | None = None, **popen: object
    ) -> None:
        logs = Path(tempfile.mkdtemp(prefix="logs-", dir=Path.cwd().parent))
        self._out, self._err = logs / "out", logs / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **popen}
            environment = {**os.environ, **(environ or {})}
            self.process = subprocess.Popen(  # type: ignore[call-overload]  # Of no known types.
                [*COMMAND, *argv], env=environment, **streams
            )

    @property
    def out(self) -> str:
        """What it printed so far."""
        return self._out.read_text()

    @property
    def err(self) -> str:
        """What it said so far."""
        return self._err.read_text()

    def says(self, text: str) -> None:
        """Wait until it has printed or said *text*."""
        eventually(lambda: text in self.out + self.err or self.process.poll() is not None)
        assert text in self.out + self.err

    def begins(self) -> Self:
        """Wait until it watches."""
        self.says("no change yet")
        return self

    def ends(self, number: int | None = None) -> int:
        """Send it a signal, if there is one, and return its exit code."""
        if number is not None:
            self.process.send_signal(number)
        code: int = self.process.wait(_PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            for name in ("cmdline", "environ"):
                assert CANARY not in Path(f"/proc/{self.process.pid}/{name}").read_text()
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(_PATIENCE)
        assert CANARY not in self.out + self.err
        assert "Traceback" not in self.err
        assert not list(Path().glob(".resolve-config-*"))
