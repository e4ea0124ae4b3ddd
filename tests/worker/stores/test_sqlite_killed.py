"""A worker that is killed while it writes: what it was told is kept is there, and whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from configproviders.worker.stores.sqlite import SqliteStore

ROUNDS = 12
SLOTS = 3
WRITER = f"""
import itertools, sys
from configproviders.worker.status import TargetState
from configproviders.worker.stores import StoredConnector
from configproviders.worker.stores.sqlite import SqliteStore

with SqliteStore(sys.argv[1]) as store:
    for number in itertools.count(int(sys.argv[2])):
        text = f"{{number}} " * (1 + number % 7 * 5000)
        config = {{"number": str(number), "text": text, "again": text}}
        store.put(StoredConnector(str(number % {SLOTS}), config, TargetState.STARTED))
        print(number, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9_and_nothing_is_half(tmp_path: Path) -> None:
    path, start, expected = str(tmp_path / "connectors.db"), 0, dict[int, int]()
    for _ in range(ROUNDS):
        last = killed_while_writing(path, start)

        found = read(path)

        expected |= {number % SLOTS: number for number in range(start, last + 1)}
        assert found in (expected, expected | {(last + 1) % SLOTS: last + 1})
        expected, start = found, last + 2


def killed_while_writing(path: str, start: int) -> int:
    """Let a process write numbers from *start* on; return the last one it told of."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path, str(start)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(random.randint(1, 5))]
        time.sleep(random.random() / 50)  # Any moment within a write or between two.
        writer.send_signal(signal.SIGKILL)
        told += writer.stdout.read().splitlines()
    assert writer.returncode == -signal.SIGKILL
    return int(told[-1])


def read(path: str) -> dict[int, int]:
    """Return the number in each slot."""
    with SqliteStore(path) as store:
        connectors = store.connectors()
    for connector in connectors:
        text = connector.config["text"]
        assert text == connector.config["again"]
        assert set(text.split()) == {connector.config["number"]}
    return {int(each.name): int(each.config["number"]) for each in connectors}
