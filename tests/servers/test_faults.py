from __future__ import annotations

import http.client

import pytest
import urllib3
from servers.echo import CONTENT, UpstreamServer, ask, client
from servers.fault_proxy import AWS_ERRORS, FaultProxy
from servers.faults import (
    Delay,
    Fault,
    HalfAnswer,
    Reset,
    ResetInBody,
    Silence,
    SlowBody,
    Status,
    WrongJson,
)


@pytest.mark.parametrize("code", [412, 429, 500, 502, 503])
def test_a_status_comes_without_asking_the_server(
    proxy: FaultProxy, server: UpstreamServer, code: int
) -> None:
    before = server.accepted
    proxy.script = [Status(code)]

    assert ask(proxy) == (code, b'{"errors": []}')
    assert server.accepted == before
    assert proxy.requests == [("GET", "/x")]


def test_a_status_says_when_to_come_again_and_keeps_the_connection(proxy: FaultProxy) -> None:
    proxy.script = [Status(429, retry_after=0), Status(503)]

    with client(proxy) as connection:
        connection.request("HEAD", "/x")
        first = connection.getresponse()
        first.read()
        connection.request("GET", "/x")
        second = connection.getresponse()

    assert (first.status, first.getheader("Retry-After")) == (429, "0")
    assert (second.status, second.getheader("Retry-After")) == (503, None)


def test_the_body_of_a_status_is_that_of_the_backend(upstream: str) -> None:
    with FaultProxy(upstream, faults={Status(429): 1.0}, errors=AWS_ERRORS) as proxy:
        assert ask(proxy) == (429, b'{"__type": "ThrottlingException"}')


def test_a_reset_comes_before_the_answer(proxy: FaultProxy, server: UpstreamServer) -> None:
    before = server.accepted
    proxy.script = [Reset()]

    with pytest.raises(ConnectionResetError):
        ask(proxy)
    assert server.accepted == before


@pytest.mark.parametrize("method", ["GET", "chunks", "old"])
def test_a_reset_in_the_body_comes_after_half_of_it(proxy: FaultProxy, method: str) -> None:
    proxy.script = [ResetInBody()]

    with client(proxy) as connection:
        connection.request(method, "/x")
        answer = connection.getresponse()

        assert answer.read(10) == CONTENT[:10]
        with pytest.raises(ConnectionResetError):
            answer.read()


def test_half_an_answer_ends_in_good_order(proxy: FaultProxy) -> None:
    proxy.script = [HalfAnswer()]

    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(proxy)

    assert caught.value.partial == CONTENT[: len(CONTENT) // 2]


@pytest.mark.parametrize("fault", [HalfAnswer(), ResetInBody()])
def test_an_answer_without_a_body_is_cut_in_its_head(proxy: FaultProxy, fault: Fault) -> None:
    proxy.script = [fault]

    with pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(proxy, "DELETE")


def test_urllib3_sees_half_an_answer_as_an_error_of_the_protocol(proxy: FaultProxy) -> None:
    proxy.script = [HalfAnswer()]

    with urllib3.PoolManager() as pool, pytest.raises(urllib3.exceptions.ProtocolError):
        pool.request("GET", f"{proxy.url}/x", retries=False)


def test_a_slow_body_is_whole_in_the_end(proxy: FaultProxy) -> None:
    proxy.script = [SlowBody(0.05, pieces=7), None]

    with client(proxy) as connection:
        for _ in range(2):
            connection.request("GET", "/x")

            assert connection.getresponse().read() == CONTENT


def test_a_slow_body_outlasts_an_impatient_client(proxy: FaultProxy) -> None:
    proxy.script = [SlowBody(60)]

    with client(proxy, timeout=0.1) as connection:
        connection.request("GET", "/x")
        answer = connection.getresponse()

        with pytest.raises(TimeoutError):
            answer.read()


def test_wrong_json_is_a_whole_message(proxy: FaultProxy) -> None:
    proxy.script = [WrongJson(), WrongJson()]

    status, body = ask(proxy)

    assert (status, body) == (200, CONTENT[: len(CONTENT) // 2])
    assert ask(proxy, "DELETE") == (200, b"{")


def test_silence_lasts_until_the_client_goes_away(proxy: FaultProxy) -> None:
    proxy.script = [Silence()]

    with client(proxy, timeout=0.1) as connection:
        connection.request("GET", "/x")
        with pytest.raises(TimeoutError):
            connection.getresponse()

    assert ask(proxy) == (200, CONTENT)


def test_a_delay_is_followed_by_the_right_answer(proxy: FaultProxy) -> None:
    proxy.script = [Delay(0.01)]

    assert ask(proxy) == (200, CONTENT)
