"""The thread that listens to events: when it begins and ends, and what it leaves behind."""

from __future__ import annotations

import os
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from servers.aws import Aws, secrets_manager, ssm
from servers.aws_events import heard, label_update, parameter_change, reports, wait_until
from servers.certificates import make_certificates
from servers.processes import open_sockets

from configproviders.testing import CANARY

pytestmark = pytest.mark.aws

FORKING = pytest.mark.filterwarnings("ignore:This process .* multi-threaded:DeprecationWarning")
NAME = "/app/db"


def listeners() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "aws-events"]


def polls(aws: Aws) -> int:
    """Count those of this test: others may come late."""
    mine = [each.action for each in aws.requests if each.access_key == aws.key]
    return mine.count("ReceiveMessage")


def test_a_long_poll_under_way_is_ended_at_once_and_leaves_nothing(aws: Aws) -> None:
    provider = ssm(aws_events_queue_url=aws.queue())
    before, start = open_sockets(), time.monotonic()

    end = provider.listen(print)
    wait_until(lambda: polls(aws) == 1)
    (thread,) = listeners()
    assert end is not None
    end()

    wait_until(lambda: not thread.is_alive())
    # What is open in the server's thread is not ours.
    wait_until(lambda: open_sockets() <= before + 1)
    assert time.monotonic() - start < 15


def test_closing_the_provider_ends_it_and_what_ends_it_may_be_called_again(aws: Aws) -> None:
    provider = ssm(aws_events_queue_url=aws.queue())
    end = provider.listen(print)

    provider.close()
    provider.close()

    assert end is not None
    end()
    end()
    wait_until(lambda: listeners() == [])


def test_one_may_listen_again_after_the_end(aws: Aws) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)
    with heard(provider) as before:
        pass
    with heard(provider), heard(provider):
        provider.close()

    with heard(provider) as events:
        # What is handed to a poll that was ended is lost for a while, here as with AWS.
        while events.empty():
            aws.send(url, parameter_change(NAME))

    assert events.get()(NAME)
    assert before.empty()


def test_an_event_tells_who_subscribed_long_before_the_next_poll(aws: Aws) -> None:
    name, _ = aws.secret("before")
    url = aws.queue()
    told: queue.Queue[str] = queue.Queue()

    with secrets_manager(aws_events_queue_url=url) as provider:
        provider.poll_interval = timedelta(days=1)
        provider.subscribe(name, {"value"}, lambda _, data: told.put(data.data["value"]))
        aws.put_secret(name, "after")
        aws.send(url, label_update(name))

        assert told.get(timeout=30) == "after"
    wait_until(lambda: listeners() == [])


def test_two_who_listen_share_a_thread_that_ends_with_the_last(aws: Aws) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)

    with heard(provider) as first:
        with heard(provider) as second:
            aws.send(url, parameter_change(NAME))
            both = [first.get(timeout=30)(NAME), second.get(timeout=30)(NAME)]
            assert len(listeners()) == 1
        aws.send(url, parameter_change("/other"))
        alone = first.get(timeout=30)
        assert len(listeners()) == 1

    assert both == [True, True]
    assert (alone("/other"), second.empty()) == (True, True)
    wait_until(lambda: listeners() == [])


def test_who_listens_may_close_the_provider_when_told(aws: Aws) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)
    provider.listen(lambda _: provider.close())

    aws.send(url, parameter_change(NAME))

    wait_until(lambda: listeners() == [])


def test_who_fails_when_told_does_not_keep_others_from_hearing(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)

    def fail(_: object) -> None:
        raise RuntimeError(CANARY)

    provider.listen(fail)
    with heard(provider) as events:
        aws.send(url, parameter_change(NAME))
        assert events.get(timeout=30)(NAME)
        wait_until(lambda: aws.left_in(url) == 0)
    provider.close()

    assert reports(caplog) == ["who listens to events of AWS fails with RuntimeError"]
    assert CANARY not in caplog.text


@contextmanager
def silent(context: ssl.SSLContext | None) -> Iterator[tuple[int, threading.Event]]:
    """Give a port where nobody answers, and what is set once somebody is there."""
    is_there, over = threading.Event(), threading.Event()

    def accept(server: socket.socket) -> None:
        connection, _ = server.accept()
        with closing(connection):
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
                connection.recv(1)
            is_there.set()
            over.wait(60)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, args=(server,))
        thread.start()
        try:
            yield server.getsockname()[1], is_there
        finally:
            over.set()
            thread.join()


def test_who_waits_for_an_encrypted_answer_ends_at_once(
    aws: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make_certificates(tmp_path)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(files.ca))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.server, files.server_key)

    with silent(context) as (port, is_there):
        provider = ssm(aws_events_queue_url=f"https://127.0.0.1:{port}/123456789012/q")
        start = time.monotonic()
        provider.listen(print)
        assert is_there.wait(timeout=30)
        provider.close()
        wait_until(lambda: listeners() == [])

    assert time.monotonic() - start < 15


def test_who_is_still_connecting_is_not_waited_for(aws: Aws) -> None:
    with silent(None) as (port, is_there):
        queue = f"https://127.0.0.1:{port}/123456789012/q"
        provider = ssm(aws_events_queue_url=queue, timeout_ms="200000")
        start = time.monotonic()
        provider.listen(print)
        assert is_there.wait(timeout=30)
        provider.close()
        took = time.monotonic() - start

    assert took < 15
    wait_until(lambda: listeners() == [])


@FORKING
def test_a_forked_child_leaves_queue_and_thread_to_its_parent(aws: Aws) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)
    end = provider.listen(print)
    assert end is not None

    with heard(provider) as events:
        wait_until(lambda: polls(aws) == 1)
        child = os.fork()
        if child == 0:
            end()
            provider.close()
            os._exit(len(listeners()))
        status = os.waitpid(child, 0)[1]
        aws.send(url, parameter_change(NAME))
        concerned = events.get(timeout=30)
    end()

    assert status == 0
    assert concerned(NAME)
    assert polls(aws) <= 2


@FORKING
def test_the_thread_itself_may_fork(aws: Aws) -> None:
    url = aws.queue()
    provider = ssm(aws_events_queue_url=url)
    forked: list[int] = []
    provider.listen(lambda _: forked.append(os.fork()))

    aws.send(url, parameter_change(NAME))
    wait_until(lambda: forked != [])
    status = os.waitpid(forked[0], 0)[1]
    provider.close()

    assert status == 0
