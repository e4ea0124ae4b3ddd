"""How listening to Vault's events ends: with its connection, its thread, its process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from providers.vault.conftest import Configured, eventually
from providers.vault.listening import WRITTEN, Watching, settings, threads
from servers.crossing import crossing
from servers.processes import open_sockets
from servers.vault_events import VaultEvents

from configproviders.errors import PathNotFound
from configproviders.providers.vault.events import Receiver
from configproviders.providers.vault.websocket import Line, WebSocket


@contextmanager
def no_threads() -> Iterator[None]:
    """Have no thread to be had in this process: each would need too large a stack."""
    before = threading.stack_size(1 << 46)
    try:
        yield
    finally:
        threading.stack_size(before)


def test_closing_ends_the_thread_and_the_connection(
    events: VaultEvents, configured: Configured
) -> None:
    before, sockets = set(threading.enumerate()), open_sockets()
    provider = configured(settings(events))
    stop = provider.listen(Watching())
    events.wait_for(1)
    during = threads()

    provider.close()

    assert len(during) == 1
    assert threads() == []
    events.wait_for(0)
    assert stop
    stop()
    provider.close()
    assert provider.listen(Watching()) is None
    eventually(lambda: set(threading.enumerate()) <= before)
    eventually(lambda: open_sockets() <= sockets)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_closing_waits_for_no_server_that_is_silent(configured: Configured, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        provider = configured(
            {"vault.addr": address, "vault.token": "t", "vault.events": "true"},
        )
        provider.listen(Watching())
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(1)  # It has said something, and waits for the answer.

            provider.close()

            assert threads() == []


def test_a_connection_that_came_to_nothing_is_closed_before_the_next_try() -> None:
    ours, theirs = socket.socketpair()

    def connect(line: Line) -> WebSocket:
        with ours:
            line.hold(ours)
        raise PathNotFound("no events here")

    receiver = Receiver(connect, lambda _: None)
    receiver.start()

    with theirs:
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
    assert len(threads()) == 1
    receiver.stop()


def test_who_gets_no_thread_can_listen_later(events: VaultEvents, configured: Configured) -> None:
    provider, watching = configured(settings(events)), Watching()

    with pytest.raises(RuntimeError), no_threads():
        provider.listen(Watching())
    provider.listen(watching)

    watching.wait_for(1)
    assert len(threads()) == 1


def test_who_got_no_thread_can_be_closed(events: VaultEvents, configured: Configured) -> None:
    provider = configured(settings(events))
    with pytest.raises(RuntimeError), no_threads():
        provider.listen(Watching())

    provider.close()

    assert threads() == []


def test_closing_waits_for_no_pause_between_two_tries(
    events: VaultEvents, configured: Configured
) -> None:
    events.refusal = 503
    provider = configured(settings(events))
    provider.listen(Watching())
    eventually(lambda: len(events.asked) >= 3)

    provider.close()

    assert threads() == []


def test_all_who_listen_share_a_thread_that_ends_with_the_last(
    events: VaultEvents, configured: Configured
) -> None:
    provider, one, other = configured(settings(events)), Watching(), Watching()
    stops = [provider.listen(each) for each in (one, other)]
    events.wait_for(1)
    shared = threads()
    for stop in (stops[0], stops[0]):
        assert stop
        stop()
    told = len(one.told)
    events.send(WRITTEN)

    eventually(lambda: len(other.told) > 1)
    assert other.told[-1]("secret/db")
    assert not other.told[-1]("secret/other")
    assert len(one.told) == told
    assert len(shared) == 1
    assert threads() == shared
    assert stops[1]
    stops[1]()
    assert threads() == []


def test_who_listens_again_is_told_again(events: VaultEvents, configured: Configured) -> None:
    provider, watching = configured(settings(events)), Watching()
    stop = provider.listen(watching)
    watching.wait_for(1)
    assert stop
    stop()

    provider.listen(watching)

    assert watching.wait_for(2)("secret/db")


def test_who_listens_may_end_that_when_told(events: VaultEvents, configured: Configured) -> None:
    ready = threading.Event()
    stops: list[Callable[[], None] | None] = []

    def changed(concerns: Callable[[str], bool]) -> None:
        ready.wait(20)
        if stop := stops[0]:
            stop()

    stops.append(configured(settings(events)).listen(changed))
    ready.set()

    eventually(lambda: threads() == [])


def test_a_connection_that_has_gone_silent_is_noticed(
    events: VaultEvents, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.providers.vault.events._SILENCE_SECONDS", 0.2)
    watching = Watching()
    with crossing({"": events.address}) as way:
        configured(settings(events, **{"vault.addr": way.address})).listen(watching)
        watching.wait_for(1)
        way.flows.clear()
        eventually(lambda: way.taken > 1)
        way.flows.set()

        eventually(lambda: len(watching.told) > 1)


def test_a_connection_in_which_nothing_happens_is_kept(
    events: VaultEvents, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.providers.vault.events._SILENCE_SECONDS", 0.05)
    watching = Watching()
    with crossing({"": events.address}) as way:
        configured(settings(events, **{"vault.addr": way.address})).listen(watching)
        watching.wait_for(1)
        eventually(lambda: way.pieces > 20)

    assert len(watching.told) == 1
    assert len(events.asked) == 1
