"""A process that watches a file is stopped, or lacks what it needs: what it says, and tells then.

Each failure is said once, and so is its end; the change that was made meanwhile is told then, once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO

import pytest
from providers.vault.conftest import eventually

from configproviders.testing import CANARY

SECONDS = 20
PROGRAM = Path(__file__).with_name("watching.py")
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user"]
OFTEN, NEVER = 100, 86_400_000
LONG_SECONDS = 5.6  # A little longer than what counts as standing still.
QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


class Watching:
    """A process that watches a file; what it tells is waited for, and that nothing more comes."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log
        self._told: Queue[str] = Queue()
        self._done = threading.Semaphore(0)
        self._reader = threading.Thread(target=self._read, args=(process.stdout,))
        self._reader.start()

    def do(self, command: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        assert self._done.acquire(timeout=SECONDS), self._log.read_text()

    def told(self) -> str:
        return self._told.get(timeout=SECONDS)

    def is_silent(self) -> bool:
        try:
            self._told.get(timeout=0.3)
        except Empty:
            return True
        return False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    @property
    def has_inotify(self) -> bool:
        descriptors = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return any(os.readlink(each) == "anon_inode:inotify" for each in descriptors)

    @property
    def said(self) -> list[str]:
        """What an operator is told, less who says it."""
        lines = (line.split(" ", 2) for line in self._log.read_text().splitlines())
        of_ours = [line for line in lines if line[1:] and line[1].startswith("configproviders")]
        return [f"{level} {text}" for level, _, text in of_ours if level != "DEBUG"]

    def end(self) -> str:
        """End it, and return all that it logged."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(SECONDS) == 0
        self._reader.join()
        return self._log.read_text()

    def _read(self, output: IO[str]) -> None:
        with output:
            for line in output:
                what, _, values = line.strip().partition(" ")
                if what == "told":
                    self._told.put(json.loads(values)["password"])
                else:
                    self._done.release()


Start = Callable[..., Watching]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    directory = tmp_path / "secrets"
    directory.mkdir()
    write(directory / "db.properties", f"{CANARY}-0")
    return directory / "db.properties"


@pytest.fixture
def start(file: Path, tmp_path: Path) -> Iterator[Start]:
    """Start processes that are about to watch the file; none of them logs the canary."""
    started: list[Watching] = []

    def start(poll: int, before: Sequence[str] = ()) -> Watching:
        log = tmp_path / "log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*before, sys.executable, str(PROGRAM), str(file), str(poll)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        started.append(Watching(process, log))
        return started[-1]

    yield start
    for each in started:
        try:
            assert CANARY not in each.end()
        finally:
            each.process.kill()
            each.process.wait()


def write(file: Path, password: str) -> None:
    new = file.with_name("new")
    new.write_text(f"password={password}\n")
    new.rename(file)


def test_a_process_that_stood_still_looks_at_everything_again(file: Path, start: Start) -> None:
    watching = start(OFTEN)
    watching.do("watch")

    with watching.stopped():
        write(file, f"{CANARY}-1")
        time.sleep(LONG_SECONDS)

    assert watching.told() == f"{CANARY}-1"
    write(file, f"{CANARY}-2")
    assert watching.told() == f"{CANARY}-2"
    assert watching.is_silent()
    (sentence,) = watching.said
    assert sentence.startswith("WARNING the watcher stood still for ")


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_events_that_the_system_could_not_keep_are_made_up_for(file: Path, start: Start) -> None:
    most = int(QUEUE.read_text())
    if most > 200_000:
        pytest.skip(f"the system keeps {most:,} events, which takes long to fill")
    others = [file.with_name(name) for name in ("one", "other")]
    for each in others:
        each.touch()
    watching = start(NEVER)
    watching.do("watch")

    with watching.stopped():
        for number in range(most + 1):
            os.utime(others[number % 2])
        write(file, f"{CANARY}-1")

    assert watching.told() == f"{CANARY}-1"
    write(file, f"{CANARY}-2")
    assert watching.told() == f"{CANARY}-2"
    assert watching.is_silent()
    assert watching.said == [
        "WARNING more happened to files than the system keeps: all are looked at again"
    ]


def in_a_namespace() -> Sequence[str]:
    try:
        subprocess.run([*IN_A_NAMESPACE, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no user namespace, in which inotify could be limited for one process")
    return IN_A_NAMESPACE


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("many descriptors", "Too many open files"),
        ("watches", "inotify watch limit reached"),
        ("instances", "inotify instance limit reached"),
    ],
)
def test_files_are_polled_until_there_can_be_events(
    file: Path, start: Start, what: str, reason: str
) -> None:
    before = () if what == "many descriptors" else in_a_namespace()
    watching = start(OFTEN, before)

    watching.do(f"lack {what}")
    watching.do("watch")
    write(file, f"{CANARY}-1")
    assert watching.told() == f"{CANARY}-1"
    watching.do(f"have {what}")
    eventually(lambda: len(watching.said) > 1)
    write(file, f"{CANARY}-2")

    assert watching.told() == f"{CANARY}-2"
    assert watching.has_inotify
    assert watching.is_silent()
    assert watching.said == [
        f"WARNING no file events: {reason}; files are polled instead",
        "INFO there are file events again",
    ]


def test_a_file_that_cannot_be_opened_for_want_of_descriptors_is_read_when_there_are_some(
    file: Path, start: Start
) -> None:
    watching = start(OFTEN)
    watching.do("watch")

    watching.do("lack descriptors")
    write(file, f"{CANARY}-1")
    eventually(lambda: len(watching.said) > 0)
    watching.do("have descriptors")

    assert watching.told() == f"{CANARY}-1"
    assert watching.is_silent()
    failure, end = watching.said
    assert failure.startswith(f"WARNING file:{file} cannot be read, ")
    assert end.startswith(f"INFO file:{file} can be read again, ")


def test_without_a_thread_all_waits_until_there_is_one(file: Path, start: Start) -> None:
    watching = start(OFTEN)
    watching.do("watch")

    watching.do("lack threads")
    write(file, f"{CANARY}-1")
    eventually(lambda: len(watching.said) > 0)
    watching.do("have threads")

    assert watching.told() == f"{CANARY}-1"
    assert watching.is_silent()
    levels = [line.partition(" ")[0] for line in watching.said]
    assert levels == ["WARNING", "INFO"]
