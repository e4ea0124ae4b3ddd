from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import closing
from typing import Any
from urllib.request import urlopen

import pytest

from configproviders.worker.errors import ConnectException
from configproviders.worker.listener import Listener
from configproviders.worker.server import Server, bind, url_of

LOOPBACK = Listener("127.0.0.1", 0)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")


async def hello(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def port_of(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        pytest.param("::1", "[::1]", marks=ipv6),
        ("", "127.0.0.1"),
        pytest.param("", "[::1]", marks=ipv6),
        ("0.0.0.0", "127.0.0.1"),
    ],
)
def test_a_listener_is_reached_by_its_addresses(host: str, asked: str) -> None:
    bound = bind(Listener(host, 0))
    server = Server([(hello, [bound])], lambda: None)
    port = port_of(bound)

    server.start()

    with closing(server), urlopen(f"http://{asked}:{port}", timeout=60) as answer:
        assert answer.read() == b"hello"


@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param("::1", marks=ipv6)])
def test_the_parts_of_an_answer_do_not_wait_for_each_other(host: str) -> None:
    # asyncio turns Nagle's algorithm off, which costs 40 ms, only where it sees that it is TCP.
    async def served(bound: socket.socket) -> int:
        found = asyncio.get_running_loop().create_future()

        async def look(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            found.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        server = await asyncio.start_server(look, sock=bound)
        async with server:
            _, writer = await asyncio.open_connection(host, port_of(bound))
            writer.close()
            return int(await found)

    with bind(Listener(host, 0)) as bound:
        assert asyncio.run(served(bound)) != 0


@ipv6
def test_the_url_has_the_port_that_is_bound() -> None:
    with bind(Listener("::1", 0)) as bound:
        assert url_of(Listener("::1", 0), bound) == f"http://[::1]:{port_of(bound)}"


@ipv6
def test_one_address_of_two_protocols_is_two_listeners() -> None:
    with bind(LOOPBACK) as one, bind(Listener("::1", port_of(one))) as other:
        assert port_of(one) == port_of(other)


@pytest.mark.parametrize("host", ["x" * 64, "192.0.2.1"])
def test_a_host_that_is_none_of_this_machine_is_an_error(host: str) -> None:
    with pytest.raises(ConnectException, match=f"cannot listen on http://{host}:0: "):
        bind(Listener(host, 0))


def test_a_port_that_another_took_meanwhile_is_an_error() -> None:
    with bind(LOOPBACK) as one, bind(Listener("127.0.0.1", port_of(one))) as other:
        one.listen()

        with pytest.raises(ConnectException, match="Address already in use"):
            Server([(hello, [other])], lambda: None).start()


def test_its_end_is_told() -> None:
    ended = threading.Event()
    server = Server([(hello, [bind(LOOPBACK)])], ended.set)
    server.start()

    server.close()

    assert ended.is_set()


def test_its_end_is_told_too_if_nobody_asked_for_it() -> None:
    ended = threading.Event()
    bound = bind(LOOPBACK)
    server = Server([(hello, [bound])], ended.set)
    bound.listen()
    bound.close()  # What uvicorn is about to serve is gone.

    server._thread.start()

    assert ended.wait(60)
    server.close()
