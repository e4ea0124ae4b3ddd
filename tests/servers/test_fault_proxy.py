from __future__ import annotations

import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from servers.echo import CONTENT, TOGETHER, UpstreamServer, ask, client, running_upstream
from servers.fault_proxy import FaultProxy
from servers.faults import Delay, Fault, Reset, Silence, SlowBody, Status


def test_a_request_and_its_answer_come_through_unchanged(proxy: FaultProxy) -> None:
    with client(proxy) as connection:
        connection.request("POST", "/v1/x?list=true", b"\x00binary", {"X-Vault-TOKEN": "t"})
        answer = connection.getresponse()

        assert (answer.status, answer.read()) == (200, b"\x00binary")
        assert ("X-Odd-CASE", "kept") in answer.getheaders()
    assert proxy.requests == [("POST", "/v1/x?list=true")]


def test_any_method_and_the_names_of_headers_come_through(proxy: FaultProxy) -> None:
    with client(proxy) as connection:
        connection.request("LIST", "/", headers={"X-Vault-TOKEN": "t", "x-lower": "l"})
        headers = json.loads(connection.getresponse().read())

    assert ["X-Vault-TOKEN", "t"] in headers
    assert ["x-lower", "l"] in headers


def test_a_body_in_chunks_is_read_in_both_directions(proxy: FaultProxy) -> None:
    with client(proxy) as connection:
        connection.request("POST", "/", iter([b"one ", b"two"]), encode_chunked=True)
        sent = connection.getresponse().read()

    assert sent == b"one two"
    assert ask(proxy, "chunks") == (200, CONTENT)


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("DELETE", 204)])
def test_an_answer_without_a_body_does_not_hold_up_the_next(
    proxy: FaultProxy, method: str, status: int
) -> None:
    with client(proxy) as connection:
        connection.request(method, "/x")
        first = connection.getresponse()
        nothing = first.read()
        connection.request("GET", "/x")
        second = connection.getresponse().read()

    assert (first.status, nothing, second) == (status, b"", CONTENT)


def test_both_sides_keep_their_connections(proxy: FaultProxy, server: UpstreamServer) -> None:
    before = server.accepted

    with client(proxy) as connection:
        for _ in range(5):
            connection.request("GET", "/x")
            connection.getresponse().read()
            used = connection.sock  # None, had the answer closed it.

    assert used is not None
    assert server.accepted == before + 1


def test_a_server_that_closes_each_connection_leaves_that_of_the_client_open(
    proxy: FaultProxy,
) -> None:
    with client(proxy) as connection:
        for _ in range(2):
            connection.request("old", "/x")
            answer = connection.getresponse()

            assert answer.read() == CONTENT
            assert not answer.will_close


def test_a_client_that_wants_to_close_is_let_go(proxy: FaultProxy) -> None:
    address = urlsplit(proxy.url)

    with socket.create_connection((address.hostname, address.port), timeout=20) as raw:
        raw.sendall(b"GET /x HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(4096), b""))

    assert answer.endswith(CONTENT)


def test_a_client_that_asks_whether_to_go_on_is_told_so(proxy: FaultProxy) -> None:
    with client(proxy) as connection:
        connection.request("POST", "/x", b"body", {"Expect": "100-continue"})

        assert connection.getresponse().read() == b"body"


def test_a_server_that_is_not_there_resets_the_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]

    with FaultProxy(f"http://127.0.0.1:{port}") as proxy, pytest.raises(ConnectionResetError):
        ask(proxy)


def test_many_requests_wait_at_the_same_time(proxy: FaultProxy) -> None:
    proxy.latency = 0.02

    with ThreadPoolExecutor(TOGETHER) as pool:  # The server answers when all of them are there.
        answers = list(pool.map(lambda _: ask(proxy, path="/together"), range(TOGETHER)))

    assert answers == [(200, CONTENT)] * TOGETHER


def test_the_script_goes_before_the_probabilities(proxy: FaultProxy) -> None:
    proxy.script = [Status(500), None]
    proxy.faults = {Status(503): 1.0}

    assert [ask(proxy)[0] for _ in range(3)] == [500, 200, 503]


def test_the_same_seed_strikes_the_same_requests(upstream: str) -> None:
    def statuses(seed: int) -> list[int]:
        faults: dict[Fault, float] = {Status(429): 0.3, Status(503): 0.2}
        with FaultProxy(upstream, faults=faults, seed=seed) as proxy:
            return [ask(proxy)[0] for _ in range(40)]

    first = statuses(7)

    assert first == statuses(7)
    assert first != statuses(8)
    assert set(first) == {200, 429, 503}


def test_nothing_is_left_over() -> None:
    threads, files = threading.active_count(), open_files()

    with ExitStack() as clients, running_upstream() as server:
        with FaultProxy(f"http://localhost:{server.server_port}") as proxy:
            proxy.script = [Silence(), SlowBody(60), Delay(60), Reset(), None]
            for _ in proxy.script[:]:
                clients.enter_context(client(proxy)).request("GET", "/x")
            assert ask(proxy) == (200, CONTENT)
        with pytest.raises(ConnectionRefusedError):
            ask(proxy)

    assert threading.active_count() == threads
    assert open_files() == files


def open_files() -> list[str]:
    """Name the files and the sockets of this process, without the directory that it lists."""
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return sorted(os.readlink(link) for link in links if os.path.lexists(link))
