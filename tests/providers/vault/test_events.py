"""Listening to Vault's events: a server of ours sends them, since only Vault Enterprise has any."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from providers.vault.conftest import Configured, eventually
from providers.vault.listening import WRITTEN, Watching, settings, threads
from servers.vault import Vault
from servers.vault_events import VaultEvents, vault_events

from configproviders.testing import CANARY

LOGGER = "configproviders.providers.vault.events"


def test_an_event_concerns_its_secret_however_it_is_written(
    events: VaultEvents, configured: Configured
) -> None:
    watching = Watching()
    provider = configured(settings(events), **{"vault.prefix": "secret/"})
    provider.listen(watching)
    events.wait_for(1)
    events.send(WRITTEN)

    concerns = watching.wait_for(2)

    assert all(map(concerns, ["db", "data/db", "/db", "db?version=2", "data/db?ttl=5&version=1"]))
    assert not any(map(concerns, ["db2", "data/other", "db?version=x", "../db", ""]))


def test_everything_is_concerned_after_each_connect_since_events_may_be_lost(
    events: VaultEvents, configured: Configured
) -> None:
    watching = Watching()
    configured(settings(events)).listen(watching)
    first = watching.wait_for(1)

    events.drop()

    again = watching.wait_for(2)
    assert first("secret/db")
    assert again("any/path?version=1")


def test_it_asks_as_the_settings_say(configured: Configured) -> None:
    with vault_events("t", namespace="team") as events:
        more = {"vault.namespace": "team", "vault.events.type": "kv-v2/*"}
        configured(settings(events, **more)).listen(Watching())

        events.wait_for(1)

    assert [(each.type, each.namespace, each.token) for each in events.asked] == [
        ("kv-v2/*", "team", "t")
    ]


def test_nobody_listens_unless_it_is_set(events: VaultEvents, configured: Configured) -> None:
    provider = configured({"vault.addr": events.address, "vault.token": "t"})

    assert provider.listen(Watching()) is None
    assert threads() == []


def test_what_is_no_event_and_who_raises_end_nothing(
    events: VaultEvents, configured: Configured
) -> None:
    watching, raised = Watching(), threading.Event()

    def raises(concerns: Callable[[str], bool]) -> None:
        watching(concerns)
        if not raised.is_set():
            raised.set()
            raise ValueError(CANARY)

    configured(settings(events)).listen(raises)
    watching.wait_for(2)
    events.wait_for(1)

    events.send("garbage", b"\x00\xff", "[]", {"data": None}, WRITTEN)

    assert watching.wait_for(3)("secret/db")


def test_lost_and_received_again_are_each_said_once(
    events: VaultEvents, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    watching = Watching()
    with caplog.at_level(logging.INFO, LOGGER):
        configured(settings(events)).listen(watching)
        watching.wait_for(1)
        events.refusal = 503
        events.end()
        eventually(lambda: events.statuses.count(503) >= 3)
        events.refusal = 0
        watching.wait_for(2)

    assert [each.levelname for each in caplog.records] == ["WARNING", "INFO"]
    assert caplog.messages[0].startswith("no events of Vault for now; polling goes on: ")
    assert caplog.messages[1] == "events of Vault are received again"


def test_a_server_without_events_is_asked_once_and_that_is_said_once(
    events: VaultEvents, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    events.refusal = 404
    with caplog.at_level(logging.INFO, LOGGER):
        configured(settings(events)).listen(Watching())
        eventually(lambda: bool(caplog.records))

    host = events.address.removeprefix("http://")
    assert events.statuses == [404]
    assert caplog.messages == [
        (
            f"no events of Vault for now; polling goes on: Vault at {host} has no events (404):"
            " Vault Enterprise has, from 1.16 on"
        )
    ]


def test_a_package_that_is_missing_is_said(
    events: VaultEvents,
    configured: Configured,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "websockets.client", None)

    configured(settings(events)).listen(Watching())
    eventually(lambda: bool(caplog.records))

    assert "websockets is missing: pip install 'configproviders[vault]'" in caplog.messages[0]


@pytest.mark.vault
def test_a_real_vault_of_the_community_has_no_events(
    server: Vault, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    server.put("secret", "polled", {"password": "s3cr3t"})
    role = server.app_role(server.allow("secret/*", "sys/events/subscribe/*"))
    provider = configured(role | {"vault.events": "true"})
    with caplog.at_level(logging.INFO, LOGGER):
        provider.listen(Watching())
        eventually(lambda: bool(caplog.records))

    assert provider.get("secret/polled").data == {"password": "s3cr3t"}
    (said,) = caplog.messages
    assert "has no events (404): Vault Enterprise has, from 1.16 on" in said


def test_a_refusal_is_said_once_and_another_token_is_taken_at_once(
    events: VaultEvents, configured: Configured, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("old")
    watching = Watching()
    with caplog.at_level(logging.INFO, LOGGER):
        provider = configured(
            settings(events, **{"vault.token.file": str(tmp_path / "token")}),
            **{"vault.token.renew": "false"},
        )
        provider.listen(watching)
        eventually(lambda: events.statuses.count(403) >= 2)
        (tmp_path / "token").write_text("t")
        watching.wait_for(1)

    assert [each.levelname for each in caplog.records] == ["WARNING", "INFO"]
    assert "'sys/events/subscribe/*' is refused by Vault (403): a policy must" in caplog.messages[0]


@pytest.mark.vault
@pytest.mark.usefixtures("soon")
def test_a_403_makes_one_login(server: Vault, configured: Configured) -> None:
    with vault_events(vault=server.address) as events:
        role = server.app_role("default") | {"vault.addr": events.address, "vault.events": "true"}
        watching = Watching()
        configured(role).listen(watching)
        watching.wait_for(1)
        first = events.asked[-1].token
        server.write("auth/token/revoke", token=first)

        events.end()

        watching.wait_for(2)
        assert events.statuses == [101, 403, 101]
        assert [each.token == first for each in events.asked] == [True, True, False]


@pytest.mark.usefixtures("soon")
def test_no_token_is_logged_whatever_logs(
    configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), vault_events(CANARY) as events:
        for name in ("websockets", "websockets.client"):
            caplog.set_level(logging.DEBUG, name)
        provider = configured(settings(events, **{"vault.token": CANARY}))
        watching = Watching()
        provider.listen(watching)
        events.wait_for(1)
        events.send(WRITTEN)
        watching.wait_for(2)
        for status in (403, 500, 307, 200):
            events.refusal = status
            events.drop()
            eventually(lambda: events.statuses[-1] == events.refusal)
        provider.close()

    shown = [caplog.text, *(str(vars(each)) for each in caplog.records), repr(provider)]
    assert events.asked[0].token == CANARY
    assert CANARY not in "".join(shown)
