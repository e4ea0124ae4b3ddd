"""Servers and providers fail around a watcher.

Each failure is said once, and so is its end; the change that was made meanwhile is told then, once.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from providers.vault.conftest import eventually
from servers.fault_proxy import FaultProxy
from servers.faults import Reset
from servers.vault import Vault
from watch.failures import (
    AT,
    POLL,
    SECONDS,
    SETTLE,
    Odd,
    Quick,
    Told,
    assert_said_once_with_its_end,
    said,
    watching,
)
from watched import Changing

from configproviders import (
    ConfigData,
    ConfigException,
    ConfigProvider,
    DirectoryConfigProvider,
    FileConfigProvider,
    Location,
    VaultConfigProvider,
    Watcher,
)
from configproviders.cache import CachingConfigProvider
from configproviders.testing import CANARY
from configproviders.watch import LocationHealth


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


# Servers


@contextmanager
def standing_still(server: Vault) -> Iterator[None]:
    address = f"-dev-listen-address={urlsplit(server.address).netloc}".encode()
    processes = (each for each in Path("/proc").iterdir() if each.name.isdecimal())
    (pid,) = (int(each.name) for each in processes if address in _command(each))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _command(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # It has ended meanwhile.
        return []


def vault(address: str, token: str) -> VaultConfigProvider:
    provider = VaultConfigProvider({})
    settings = {"vault.addr": address, "vault.token": token}
    provider.configure({**settings, "timeout.ms": "1000", "retry.max": "0"})
    return provider


@pytest.mark.vault
def test_a_server_that_stands_still_for_a_while(
    vault_server: Vault, told: Told, log: pytest.LogCaptureFixture
) -> None:
    mount = vault_server.mount(version="2")
    vault_server.put(mount, "db", {"password": f"{CANARY}-0"})
    token = vault_server.token(vault_server.allow(f"{mount}/data/db"))
    at = Location("it", f"{mount}/data/db")
    with (
        vault(vault_server.address, token) as provider,
        watching(provider) as watcher,
        ThreadPoolExecutor(1) as threads,
    ):
        watcher.subscribe(at, {"password"}, told)

        with standing_still(vault_server):
            threads.submit(vault_server.put, mount, "db", {"password": f"{CANARY}-1"})
            eventually(lambda: watcher.health()[at].failing_for is not None)

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
        assert watcher.health()[at].error is None
    assert_said_once_with_its_end(log, f"it:{at.path}")


@pytest.mark.vault
def test_a_server_that_is_gone_for_longer_than_stale_values_are_good(
    vault_server: Vault, told: Told, log: pytest.LogCaptureFixture
) -> None:
    mount = vault_server.mount(version="2")
    vault_server.put(mount, "db", {"password": f"{CANARY}-0"})
    token = vault_server.token(vault_server.allow(f"{mount}/data/db"))
    at = Location("it", f"{mount}/data/db?ttl=200")
    max_stale = timedelta(seconds=2)
    with (
        FaultProxy(vault_server.address) as proxy,
        CachingConfigProvider(vault(proxy.url, token), max_stale=max_stale) as provider,
        watching(provider) as watcher,
    ):
        watcher.subscribe(at, {"password"}, told)
        states = [_state(watcher.health()[at])]

        proxy.faults = {Reset(): 1}
        vault_server.put(mount, "db", {"password": f"{CANARY}-1"})
        for state in ("stale", "failing"):
            eventually(lambda state=state: _state(watcher.health()[at]) == state)  # type: ignore[misc]  # It is a bool.
        assert told.is_silent(0)
        proxy.faults = {}

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
        assert [*states, _state(watcher.health()[at])] == ["well", "well"]
    levels = [level for level, _ in said(log, "configproviders.watch")]
    assert levels == ["WARNING", "INFO"]
    assert CANARY not in log.text


def _state(health: LocationHealth) -> str:
    if health.error is None:
        return "well"
    return "stale" if health.stale else "failing"


# Providers


class Unspeakable(Exception):  # noqa: N818  It is one.
    def __str__(self) -> str:
        raise ValueError(CANARY)


class Wordless(ConfigException):
    def __str__(self) -> str:
        raise ValueError(CANARY)


GARBAGE: dict[str, object] = {
    "nothing": None,
    "a text": CANARY,
    "a dict": {"password": CANARY},
    "a number": ConfigData({"password": 7}),  # type: ignore[dict-item]  # That is what is wrong.
    "bytes": ConfigData({"password": CANARY.encode()}),  # type: ignore[dict-item]  # As above.
    "odd errors": ConfigData({}, errors={"password": CANARY}),  # type: ignore[dict-item]  # As above.
    "an error": KeyError(CANARY),
}
ERRORS = [
    KeyError(CANARY),
    OSError(24, "Too many open files"),
    ExceptionGroup(CANARY, [ValueError(CANARY)]),
    StopIteration(CANARY),
    RecursionError(),
    MemoryError(),
    Unspeakable(),
    Wordless(),
    CancelledError(),
    SystemExit(CANARY),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("kind", [Odd, Quick])
@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_provider_that_returns_garbage_for_a_while(
    kind: type[Odd], garbage: str, told: Told, log: pytest.LogCaptureFixture
) -> None:
    fails_for_a_while(kind(), lambda: GARBAGE[garbage], told, log)


@pytest.mark.parametrize("kind", [Odd, Quick])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_provider_that_raises_what_it_should_not_for_a_while(
    kind: type[Odd], error: BaseException, told: Told, log: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise error

    fails_for_a_while(kind(), fail, told, log)


@pytest.mark.parametrize("garbage", [None, [CANARY], {"other": CANARY}, {"db": CANARY}], ids=str)
def test_a_provider_that_answers_many_with_garbage_for_a_while(
    garbage: object, told: Told, log: pytest.LogCaptureFixture
) -> None:
    provider = Odd()
    with watching(provider) as watcher:
        watcher.subscribe(AT, {"password"}, told)

        provider.in_many = lambda: garbage
        eventually(lambda: watcher.health()[AT].failing_for is not None)
        provider.put(password=f"{CANARY}-1")
        provider.in_many = None

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
    assert_said_once_with_its_end(log, "it:db")


def fails_for_a_while(
    provider: Odd, instead: Callable[[], object], told: Told, log: pytest.LogCaptureFixture
) -> None:
    with watching(provider) as watcher:
        watcher.subscribe(AT, {"password"}, told)

        provider.instead = instead
        eventually(lambda: watcher.health()[AT].failing_for is not None)
        provider.put(password=f"{CANARY}-1")
        provider.instead = None

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
        assert len(provider.asked) < 100
    assert_said_once_with_its_end(log, "it:db")


def test_a_provider_that_hangs_for_a_while_keeps_no_other_waiting(
    told: Told, log: pytest.LogCaptureFixture
) -> None:
    hangs, go_on = threading.Event(), threading.Event()
    provider, other, told_other = Odd(), Changing(password="p0"), Told()

    def hang() -> ConfigData:
        hangs.set()
        go_on.wait(SECONDS)
        return ConfigData({"password": f"{CANARY}-1"})

    with Watcher({"it": provider, "other": other}, poll_interval=POLL, settle=SETTLE) as watcher:
        watcher.subscribe(AT, {"password"}, told)
        watcher.subscribe(Location("other", "db"), (), told_other)
        provider.instead = hang
        hangs.wait(SECONDS)
        for number in (1, 2):
            other.put(password=f"p{number}")
            assert told_other.next() == f"p{number}"
        assert told.is_silent(0)
        provider.put(password=f"{CANARY}-1")
        provider.instead = None
        go_on.set()

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
    assert CANARY not in log.text


def test_an_answer_that_takes_very_long_is_a_failure_until_it_comes(
    told: Told, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.watch.looks._LONG_SECONDS", 0.1)
    go_on, provider = threading.Event(), Odd()

    def hang() -> ConfigData:
        go_on.wait(SECONDS)
        return ConfigData({"password": f"{CANARY}-1"})

    with watching(provider) as watcher:
        watcher.subscribe(AT, {"password"}, told)
        provider.instead = hang
        eventually(lambda: watcher.health()[AT].error == "it takes very long to answer")
        go_on.set()

        assert told.next() == f"{CANARY}-1"
        assert told.is_silent()
    assert_said_once_with_its_end(log, "it:db")


# Paths


@pytest.mark.parametrize("path", ["/no/such\0file", "\0", "/", "", "x" * 5000])
@pytest.mark.parametrize("kind", [FileConfigProvider, DirectoryConfigProvider])
def test_a_path_that_no_file_can_have_is_one_at_which_nothing_changes(
    kind: type[ConfigProvider], path: str, told: Told
) -> None:
    with Watcher({"it": kind()}) as watcher:
        watcher.subscribe(Location("it", path), {"password"}, told)
        watcher.invalidate()

        assert told.is_silent()


def test_a_working_directory_that_goes_takes_its_files_along(
    in_a_process: Callable[..., str],
) -> None:
    shown = in_a_process(
        """
import os, shutil
from datetime import timedelta
from queue import Queue
from configproviders import FileConfigProvider, Location, Watcher

os.mkdir("here")
os.chdir("here")
with open("a.properties", "w") as file:
    file.write("k=0")
told = Queue()
with Watcher({"file": FileConfigProvider()}, poll_interval=timedelta(milliseconds=50)) as watcher:
    watcher.subscribe(Location("file", "a.properties"), (), lambda path, data: told.put(data.data))
    shutil.rmtree("../here")
    print(told.get(timeout=20))
    print([each.error for each in watcher.health().values()])
"""
    )

    assert shown == "{}\n[None]\n"
