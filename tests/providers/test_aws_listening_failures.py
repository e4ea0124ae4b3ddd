"""A queue of events that cannot be read, or not always: what is told, and what is lost."""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from servers.aws import Aws, answering
from servers.aws_events import heard, parameter_change, reports, wait_until
from servers.fault_proxy import FaultProxy
from servers.faults import Delay, HalfAnswer, Reset, Status, WrongJson

from configproviders.providers.aws import SsmConfigProvider
from configproviders.providers.aws.patience import Patience
from configproviders.testing import CANARY

pytestmark = pytest.mark.aws

DENIED = json.dumps({"__type": "com.amazon.coral.service#AccessDenied", "message": CANARY})
NAME = "/app/db"


def impatient(queue: str, **settings: str) -> SsmConfigProvider:
    """Return a provider that makes no pauses, and reports each failure."""
    provider = SsmConfigProvider(jitter=lambda: 0.0)
    named = {name.replace("_", "."): value for name, value in settings.items()}
    provider.configure({"aws.events.queue.url": queue, "retry.max": "0", **named})
    return provider


@contextmanager
def no_threads() -> Iterator[None]:
    """Have no thread to be had in this process: each would need too large a stack."""
    before = threading.stack_size(1 << 46)
    try:
        yield
    finally:
        threading.stack_size(before)


def behind(proxy: FaultProxy, queue: str) -> str:
    """Return the URL under which *queue* is reached through *proxy*."""
    return f"{proxy.url}/{queue.split('/', 3)[3]}"


@pytest.mark.parametrize("fault", [Reset(), Status(503)], ids=repr)
def test_a_failure_is_told_when_it_begins_and_when_it_ends_and_then_all_may_have_changed(
    aws: Aws, caplog: pytest.LogCaptureFixture, fault: Reset | Status
) -> None:
    url = aws.queue()

    with FaultProxy(aws.moto.url, faults={fault: 1.0}) as proxy, caplog.at_level(logging.DEBUG):
        queue = behind(proxy, url)
        with heard(impatient(queue)) as events:
            wait_until(lambda: len(proxy.requests) > 3)
            aws.send(url, parameter_change(NAME))
            proxy.faults = {}
            told = [events.get(timeout=30), events.get(timeout=30)]

    assert [[concerned(path) for path in (NAME, "/other")] for concerned in told] == [
        [True, False],
        [True, True],
    ]
    began, ended = reports(caplog)
    assert began.startswith(f"events of changes do not arrive, still trying: queue {queue!r}")
    assert ended == f"events of changes arrive again: queue {queue!r} for ssm"


def test_what_fails_once_and_not_again_is_not_told(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    url = aws.queue()

    with FaultProxy(aws.moto.url) as proxy, caplog.at_level(logging.INFO):
        proxy.script = [Reset(), Status(500), Reset()]
        with heard(impatient(behind(proxy, url), retry_max="3")) as events:
            wait_until(lambda: len(proxy.requests) > 4)
            aws.send(url, parameter_change(NAME))
            concerned = events.get(timeout=30)

    assert (concerned(NAME), concerned("/other")) == (True, False)
    assert reports(caplog) == []


def test_what_is_refused_is_told_with_what_is_missing(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    url = aws.queue()

    with (
        FaultProxy(aws.moto.url, errors=DENIED, faults={Status(403): 1.0}) as proxy,
        caplog.at_level(logging.DEBUG),
        heard(impatient(behind(proxy, url), retry_max="3")),
    ):
        wait_until(lambda: len(proxy.requests) > 3)
        queue = behind(proxy, url)

    (report,) = reports(caplog)
    assert report == (
        f"events of changes do not arrive, still trying: queue {queue!r} for ssm: refused by AWS;"
        " a policy must allow it (AccessDenied in ReceiveMessage); check aws.events.queue.url, and"
        " allow sqs:ReceiveMessage and sqs:DeleteMessage on it"
    )
    assert CANARY not in caplog.text
    assert "Signature=" not in caplog.text


def test_a_queue_that_is_not_there_is_told_and_read_once_it_is(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    queue = f"{aws.moto.url}/123456789012/{aws.key}-later"

    with caplog.at_level(logging.INFO), heard(impatient(queue, retry_max="3")) as events:
        wait_until(lambda: aws.actions.count("ReceiveMessage") > 3)
        aws.queue(f"{aws.key}-later")
        assert events.get(timeout=30)("anything")

    assert [": there is none (" in line for line in reports(caplog)] == [True, False]


def test_what_cannot_be_deleted_is_told_and_deleted_later(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    url = aws.queue()
    aws.send(url, parameter_change(NAME))

    with FaultProxy(aws.moto.url, errors=DENIED) as proxy, caplog.at_level(logging.INFO):
        proxy.script = [None, Status(403), None, Status(403)]
        with heard(impatient(behind(proxy, url))) as events:
            assert events.get(timeout=30)(NAME)
            assert events.get(timeout=30)("/other")

    assert aws.left_in(url) == 0
    assert ["(AccessDenied in DeleteMessageBatch)" in each for each in reports(caplog)] == [1, 0]


def test_an_answer_may_come_later_than_the_timeout_of_a_lookup(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    url = aws.queue()
    aws.send(url, parameter_change(NAME))

    with FaultProxy(aws.moto.url) as proxy:
        proxy.script = [Delay(1.5)]
        with heard(impatient(behind(proxy, url), timeout_ms="1000")) as events:
            assert events.get(timeout=30)(NAME)

    assert reports(caplog) == []


def test_a_server_that_does_not_wait_is_asked_once_a_second(aws: Aws) -> None:
    with answering({"ReceiveMessage": b"{}"}) as server, FaultProxy(server) as proxy:
        start = time.monotonic()
        with heard(impatient(f"{proxy.url}/123456789012/q")):
            wait_until(lambda: len(proxy.requests) > 2)

    assert time.monotonic() - start > 1.5


def test_who_gets_no_thread_can_listen_later_and_is_not_told(aws: Aws) -> None:
    url = aws.queue()
    provider, told = impatient(url), queue.Queue[Callable[[str], bool]]()

    with pytest.raises(RuntimeError), no_threads():
        provider.listen(told.put)
    with heard(provider) as events:
        aws.send(url, parameter_change(NAME))
        concerned = events.get(timeout=30)

    assert concerned(NAME)
    assert told.empty()
    provider.close()


def test_who_got_no_thread_can_be_closed(aws: Aws) -> None:
    provider = impatient(aws.queue())
    with pytest.raises(RuntimeError), no_threads():
        provider.listen(print)

    provider.close()

    assert "aws-events" not in [each.name for each in threading.enumerate()]


@pytest.mark.parametrize("fault", [WrongJson(), HalfAnswer()], ids=repr)
def test_half_a_message_is_shown_nowhere(
    aws: Aws, caplog: pytest.LogCaptureFixture, fault: WrongJson | HalfAnswer
) -> None:
    url = aws.queue()
    aws.send(url, CANARY * 10)

    with FaultProxy(aws.moto.url) as proxy, caplog.at_level(logging.DEBUG):
        proxy.script = [fault]
        with heard(impatient(behind(proxy, url))):
            wait_until(lambda: len(proxy.requests) > 1)

    assert CANARY not in caplog.text


def test_pauses_grow_up_to_a_minute_and_start_there_for_what_will_not_pass() -> None:
    patience = Patience(2, jitter=lambda: 0.5)
    pauses = []
    for _ in range(10):
        patience.fail(may_pass=True)
        pauses.append(patience.pause(may_pass=True))

    assert pauses == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert Patience(2, jitter=lambda: 0.5).pause(may_pass=False) == 30


def test_a_failure_is_news_once_and_so_is_its_end() -> None:
    patience = Patience(2, jitter=lambda: 0.0)

    news = [patience.fail(may_pass=True) for _ in range(5)]
    ends = [patience.work(), patience.work()]
    refused = [patience.fail(may_pass=False), patience.fail(may_pass=False)]

    assert news == [False, False, True, False, False]
    assert ends == [True, False]
    assert refused == [True, False]
