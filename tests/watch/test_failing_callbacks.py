"""Callbacks fail, threads are not to be had, and the watcher itself stumbles: it goes on."""

from __future__ import annotations

import logging
import threading
import time
from asyncio import CancelledError
from datetime import timedelta

import pytest
from providers.vault.conftest import eventually
from watch.failures import AT, SECONDS, Quick, Told, said, watching
from watched import Changing

from configproviders import ConfigData, Location
from configproviders.testing import CANARY

_TOO_LARGE = 1 << 46  # Bytes for the stack of a thread.


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


@pytest.mark.parametrize("error", [SystemExit(CANARY), KeyboardInterrupt(), CancelledError()])
def test_a_callback_that_wants_to_end_all_ends_nothing(
    error: BaseException, told: Told, log: pytest.LogCaptureFixture
) -> None:
    provider = Changing(password=f"{CANARY}-0")

    def callback(path: str, data: ConfigData, /) -> None:
        told(path, data)
        raise error

    with watching(provider) as watcher:
        watcher.subscribe(AT, {"password"}, callback)
        for number in (1, 2):
            provider.put(password=f"{CANARY}-{number}")
            assert told.next() == f"{CANARY}-{number}"
    sentence = f"the callback of it:db raised {type(error).__name__}"
    assert [text.partition(":\n")[0] for _, text in said(log)] == [sentence] * 2
    assert CANARY not in log.text


def test_callbacks_that_hang_are_each_said_once_and_keep_no_other_waiting(
    told: Told, log: pytest.LogCaptureFixture
) -> None:
    provider, go_on = Changing(password="p0"), threading.Event()
    provider.put("other", password="p0")

    def hang(_path: str, _data: ConfigData, /) -> None:
        go_on.wait(SECONDS)

    with watching(provider, slow_callback=timedelta(milliseconds=50)) as watcher:
        for _ in range(3):
            watcher.subscribe(AT, {"password"}, hang)
        watcher.subscribe(Location("it", "other"), {"password"}, told)
        provider.put(password="p1")
        provider.put("other", password="p1")

        assert told.next() == "p1"
        eventually(lambda: len(said(log)) == 3)
        go_on.set()
        eventually(lambda: len(said(log)) == 6)
    assert [level for level, _ in said(log)] == ["WARNING"] * 3 + ["INFO"] * 3


def test_callbacks_without_a_thread_wait_for_one_and_that_is_said_once(
    told: Told, log: pytest.LogCaptureFixture
) -> None:
    provider = Quick()
    with watching(provider) as watcher:
        watcher.subscribe(AT, {"password"}, told)
        eventually(lambda: len(provider.asked) > 1)  # So there is a thread for these.

        before = threading.stack_size(_TOO_LARGE)
        try:
            provider.put(password=f"{CANARY}-1")
            eventually(lambda: len(said(log)) > 0)
        finally:
            threading.stack_size(before)

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
    assert said(log) == [
        ("WARNING", "there is no thread to be had: callbacks may have to wait for one"),
        ("INFO", "there is a thread for callbacks again"),
    ]


def test_what_goes_wrong_in_the_watcher_itself_does_not_end_it(
    told: Told, log: pytest.LogCaptureFixture
) -> None:
    stumbles = threading.Event()

    def clock() -> float:
        if stumbles.is_set() and threading.current_thread().name == "watcher":
            stumbles.clear()
            raise ValueError(CANARY)
        return time.monotonic()

    provider = Changing(password=f"{CANARY}-0")
    with watching(provider, clock=clock) as watcher:
        watcher.subscribe(AT, {"password"}, told)
        stumbles.set()
        eventually(lambda: not stumbles.is_set())
        provider.put(password=f"{CANARY}-1")

        assert told.next() == f"{CANARY}-1"
    assert [text.partition(":\n")[0] for _, text in said(log)] == ["the watcher raised ValueError"]
    assert CANARY not in log.text
