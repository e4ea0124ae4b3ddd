"""A watcher with ten thousand subscriptions is closed in the middle of its work."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection
from datetime import timedelta
from pathlib import Path

import pytest
from providers.vault.conftest import eventually

from configproviders import ConfigData, ConfigProvider, FileConfigProvider, Location, Watcher
from configproviders.provider import Changed

SUBSCRIPTIONS, FILES, DIRECTORIES = 10_000, 1_000, 10
NEVER = timedelta(days=1)
MOMENT = timedelta(milliseconds=20)


class Slow(ConfigProvider):
    """Takes its time once ``version`` is above 0, holds a socket while it listens."""

    def __init__(self) -> None:
        self.version = 0
        self.looks = 0

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        if self.version:
            self.looks += 1
            time.sleep(MOMENT.total_seconds())
        return ConfigData({"password": f"{path} {self.version}"})

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        ours, theirs = socket.socketpair()

        def hear() -> None:
            with ours:
                ours.recv(1)

        thread = threading.Thread(target=hear, name="slow-listener")
        thread.start()

        def stop() -> None:
            theirs.close()
            thread.join()

        return stop


def open_files() -> list[str]:
    """Return what this process has open."""
    descriptors = [os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(each) for each in descriptors if os.path.islink(each))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    files = [tmp_path / str(n % DIRECTORIES) / f"{n}.properties" for n in range(FILES)]
    for each in files:
        each.parent.mkdir(exist_ok=True)
        each.write_text("password=p0")
    return files


def test_ten_thousand_subscriptions_at_work_end_at_once_and_leave_nothing(
    files: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    before = open_files(), set(threading.enumerate())
    slow = Slow()
    told: list[str] = []

    def callback(path: str, _data: ConfigData, /) -> None:
        told.append(path)
        time.sleep(MOMENT.total_seconds())

    watcher = Watcher(
        {"slow": slow, "file": FileConfigProvider()},
        poll_interval=NEVER,
        settle=MOMENT,
        calls_per_second=1e9,
    )
    for number in range(SUBSCRIPTIONS // 2):
        watcher.subscribe(Location("slow", f"db/{number}"), (), callback)
        watcher.subscribe(Location("file", str(files[number % FILES])), (), callback)
    slow.version = 1
    for each in files:
        each.write_text("password=p1")
    watcher.invalidate()
    eventually(lambda: slow.looks > 100 and len(told) > 10)

    start, cpu = time.monotonic(), time.process_time()
    watcher.close()
    seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu

    called = len(told)
    assert (open_files(), set(threading.enumerate())) == before
    assert (slow.looks < SUBSCRIPTIONS / 2, called < SUBSCRIPTIONS) == (True, True)
    assert cpu_seconds < 1  # Not what others on this machine take,
    assert seconds < 10  # but for what it might wait for, were it not bounded.
    assert [record.getMessage() for record in caplog.records] == []


def test_what_hangs_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    go_on, hangs = threading.Event(), threading.Semaphore(0)

    class Hanging(Slow):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            if self.version and path != "told":
                hangs.release()
                go_on.wait()
            return ConfigData({"password": str(self.version)})

    def callback(_path: str, _data: ConfigData, /) -> None:
        hangs.release()
        go_on.wait()

    before = set(threading.enumerate())
    provider = Hanging()
    watcher = Watcher({"it": provider}, poll_interval=NEVER, settle=MOMENT)
    for path in ("told", "db", "other"):
        watcher.subscribe(Location("it", path), (), callback)
    provider.version = 1
    watcher.invalidate()
    for _ in range(3):
        assert hangs.acquire(timeout=20)

    watcher.close()
    left = {each.name.rstrip("_0123456789") for each in set(threading.enumerate()) - before}
    go_on.set()

    assert left == {"watcher-lookup", "watcher-callback"}
    eventually(lambda: set(threading.enumerate()) == before)
