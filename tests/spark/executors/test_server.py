"""Who gets secrets from the driver, and who does not: over real connections."""

from __future__ import annotations

import logging
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from configproviders.errors import ConfigException, KeyNotFound, LookupFailed, ProviderUnavailable
from configproviders.spark.executors import server
from configproviders.spark.executors.client import Driver
from configproviders.spark.executors.secret import Secret, forget
from configproviders.spark.executors.server import Server
from configproviders.spark.executors.tls import client_context, server_context
from configproviders.spark.executors.wire import Message, receive, send
from configproviders.testing import CANARY

TLS, CERTIFICATE = server_context()
KEY = "the key of the application"
QUESTION = {"key": KEY, "text": "x"}
ANSWER = {"value": CANARY, "secrets": [CANARY], "version": "1", "seconds": 60}
LOOPBACK = "127.0.0.1"


def answer(question: Message) -> Message:
    return ANSWER


@contextmanager
def running(answer: Callable[[Message], Message] = answer) -> Iterator[Driver]:
    serving = Server((LOOPBACK, 0), TLS, KEY, answer)
    driver = Driver(LOOPBACK, serving.port, CERTIFICATE, KEY)
    try:
        yield driver
    finally:
        serving.close()
        forget(driver)


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with running() as driver:
        yield driver


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_SECONDS", 2.0)


def connected(driver: Driver) -> socket.socket:
    return socket.create_connection((driver.host, driver.port), 30)


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side hangs up."""
    came = b""
    with suppress(OSError):
        while piece := connection.recv(4096):
            came += piece
    return came


def what_comes_for(driver: Driver, sent: bytes, context: ssl.SSLContext | None = None) -> bytes:
    tls = context or client_context(driver.certificate)
    with connected(driver) as plain, tls.wrap_socket(plain) as connection:
        connection.sendall(sent)
        return received(connection)


def framed(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


def test_who_has_the_key_and_the_certificate_gets_the_value(driver: Driver) -> None:
    secret = Secret("x", driver)

    assert secret.value() == CANARY


def test_neither_key_nor_certificate_nor_value_is_shown(driver: Driver) -> None:
    secret = Secret("${a:b:c}", driver)
    secret.value()

    assert [str(secret), repr(secret), f"{secret}"] == ["Secret('${a:b:c}')"] * 3
    assert repr(driver) == f"Driver(host='127.0.0.1', port={driver.port})"


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize(
    "sent",
    [
        framed(b'{"key": "wrong", "text": "x"}'),
        framed(b'{"key": "\\ud800", "text": "x"}'),
        framed(b'{"key": ["the key of the application"], "text": "x"}'),
        framed(b'{"text": "x"}'),
        framed(b'["the key of the application"]'),
        framed(b"[" * 4000),
        framed(b"\xff\x00" * 10),
        framed(b""),
        struct.pack(">I", 1 << 31) + b"x" * 100,
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00",
        b"",
    ],
)
def test_who_sends_something_else_gets_nothing(driver: Driver, sent: bytes) -> None:
    assert what_comes_for(driver, sent) == b""
    assert Secret("after that", driver).value() == CANARY


@pytest.mark.usefixtures("short_waits")
def test_who_does_not_speak_tls_gets_nothing(driver: Driver) -> None:
    with connected(driver) as connection:
        connection.sendall(framed(f'{{"key": "{KEY}", "text": "x"}}'.encode()))

        assert CANARY.encode() not in received(connection)


def test_an_older_tls_is_refused(driver: Driver) -> None:
    old = client_context(driver.certificate)
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    old.maximum_version = ssl.TLSVersion.TLSv1_2

    with pytest.raises(OSError, match=r"(?i)protocol version|reset"):
        what_comes_for(driver, b"", old)


def test_nothing_is_asked_of_who_has_another_certificate() -> None:
    asked: list[Message] = []

    def note(question: Message) -> Message:
        asked.append(question)
        return ANSWER

    with running(note) as driver:
        other = replace(driver, certificate=server_context()[1])
        with pytest.raises(ProviderUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            Secret("x", other).value()

    assert asked == []


def test_who_has_a_wrong_key_learns_nothing(driver: Driver) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        Secret("x", replace(driver, key="wrong")).value()

    assert "the connection was closed" in str(caught.value)
    assert "wrong" not in str(caught.value)


@pytest.mark.usefixtures("short_waits")
def test_who_hangs_or_drips_is_hung_up_on_and_keeps_nobody_waiting(driver: Driver) -> None:
    hanging = [connected(driver) for _ in range(8)]
    half = client_context(driver.certificate).wrap_socket(connected(driver))
    half.sendall(framed(b'{"key": "')[:7])

    assert Secret("meanwhile", driver).value() == CANARY
    assert [received(each) for each in (*hanging, half)] == [b""] * 9
    for each in (*hanging, half):
        each.close()


@pytest.mark.usefixtures("short_waits")
def test_more_callers_than_are_spoken_to_wait(driver: Driver) -> None:
    hanging = [connected(driver) for _ in range(server.CONNECTIONS + 8)]

    assert Secret("patience", driver).value() == CANARY
    for each in hanging:
        each.close()


def test_each_reason_is_logged_once_and_without_what_was_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with running() as driver:
        for _ in range(3):
            what_comes_for(driver, framed(f'{{"key": "{CANARY}"}}'.encode()))
            what_comes_for(driver, framed(CANARY.encode()))

    assert [record.message for record in caplog.records] == [
        "a caller from 127.0.0.1 got no secrets: wrong key",
        "a caller from 127.0.0.1 got no secrets: ValueError in TLS or in the question",
    ]
    assert CANARY not in caplog.text


def test_a_failure_of_ours_is_logged_and_ends_one_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(question: Message) -> Message:
        if question["text"] == "bad":
            raise KeyError("a mistake of ours")
        return ANSWER

    with running(fail) as driver:
        assert what_comes_for(driver, framed(f'{{"key": "{KEY}", "text": "bad"}}'.encode())) == b""
        assert Secret("x", driver).value() == CANARY

    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_an_error_of_the_driver_is_raised_where_it_was_asked() -> None:
    errors = iter(
        [
            {"error": "KeyNotFound", "message": "no key"},
            {"error": "UnresolvedErrors", "message": "unknown"},
            {"error": "TYPE_CHECKING", "message": "no class"},
        ]
    )

    with running(lambda _: next(errors)) as driver:
        raised = []
        for text in "abc":
            with pytest.raises(LookupFailed) as caught:
                Secret(text, driver).value()
            raised.append((type(caught.value), str(caught.value)))

    assert raised == [
        (KeyNotFound, "no key"),
        (LookupFailed, "unknown"),
        (LookupFailed, "no class"),
    ]


def test_threads_of_a_process_ask_once() -> None:
    asked = []

    def slow(question: Message) -> Message:
        asked.append(question)
        time.sleep(0.05)
        return ANSWER

    with running(slow) as driver, ThreadPoolExecutor(16) as threads:
        values = set(threads.map(lambda _: Secret("x", driver).value(), range(64)))

    assert values == {CANARY}
    assert len(asked) == 1


def test_what_was_refused_is_said_with_its_version_and_asked_for_again() -> None:
    asked: list[Message] = []

    def count(question: Message) -> Message:
        asked.append({name: question[name] for name in question if name != "key"})
        return {**ANSWER, "version": str(len(asked))}

    with running(count) as driver:
        secret = Secret("x", driver)
        secret.invalidate()  # Nothing was given yet.
        secret.value()
        secret.invalidate()
        secret.invalidate()  # Nothing was given since.
        secret.value()

    assert [question.get("refused") for question in asked] == [None, "1", None]


def test_closing_ends_connections_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())

    with running() as driver:
        hanging = client_context(driver.certificate).wrap_socket(connected(driver))
        Secret("x", driver).value()

    assert received(hanging) == b""
    hanging.close()
    assert set(threading.enumerate()) == before
    with pytest.raises(ProviderUnavailable, match="its DriverSecrets may be closed"):
        Secret("x", driver).value()


def test_it_ends_by_itself_when_it_is_not_wanted_any_more() -> None:
    wanted, ended = [True], threading.Event()
    serving = Server(
        (LOOPBACK, 0), TLS, KEY, answer, is_wanted=lambda: bool(wanted), ended=ended.set
    )

    wanted.clear()

    assert ended.wait(timeout=30)
    serving.close()


def test_a_message_of_any_text_arrives_in_pieces() -> None:
    message = {"value": "ü\ud800" * 100_000}
    ours, theirs = socket.socketpair()

    with ours, theirs, ThreadPoolExecutor(1) as threads:
        sent = threads.submit(send, theirs, message)
        assert receive(ours, limit=1 << 30, seconds=30) == message
        sent.result()


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)

    with pytest.raises(ConfigException, match=r"pip install 'configproviders\[spark\]'"):
        server_context()


def test_a_certificate_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "not there"))
    monkeypatch.chdir(tmp_path)

    server_context()

    assert list(tmp_path.iterdir()) == []
