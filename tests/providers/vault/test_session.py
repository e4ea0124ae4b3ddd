"""Sessions that do not die, against a real server and a real PostgreSQL."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from providers.vault.conftest import Configured, eventually
from servers.fault_proxy import FaultProxy
from servers.faults import Status
from servers.vault import Vault

from configproviders import ConfigTransformer, UnresolvedError
from configproviders.errors import LookupDenied

pytestmark = [pytest.mark.vault, pytest.mark.postgres]


def test_one_403_makes_one_login_and_one_retry(server: Vault, configured: Configured) -> None:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*")) | {"vault.addr": proxy.url}
        provider = configured(settings)
        provider.get(f"{mount}/data/db")
        for accessor in server.call("LIST", "auth/token/accessors")["data"]["keys"]:
            if server.write("auth/token/lookup-accessor", accessor=accessor)["data"]["path"] == (
                f"auth/{settings['vault.auth.mount']}/login"
            ):
                server.write("auth/token/revoke-accessor", accessor=accessor)
        proxy.requests.clear()

        assert provider.get(f"{mount}/data/db").data == {"password": "s3cr3t"}

        read = ("GET", f"/v1/{mount}/data/db")
        login = ("POST", f"/v1/auth/{settings['vault.auth.mount']}/login")
        assert proxy.requests == [read, login, read]


def test_many_forbidden_paths_are_no_storm_of_logins(server: Vault, configured: Configured) -> None:
    with FaultProxy(server.address) as proxy:
        settings = server.app_role("default") | {"vault.addr": proxy.url, "vault.kv.version": "2"}
        provider = configured(settings)

        for number in range(20):
            with pytest.raises(LookupDenied, match="refused by Vault"):
                provider.get(f"secret/data/{number}")

        logins = [path for _, path in proxy.requests if path.endswith("/login")]
        assert len(logins) == 2


def test_a_batch_token_is_replaced_before_it_ends(server: Vault, configured: Configured) -> None:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    role = {"token_type": "batch", "token_ttl": "2s"}
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*"), **role)
        provider = configured(settings | {"vault.addr": proxy.url})
        provider.get(f"{mount}/data/db")

        logins = f"/v1/auth/{settings['vault.auth.mount']}/login"
        eventually(lambda: Counter(path for _, path in proxy.requests)[logins] == 3)

        assert provider.get(f"{mount}/data/db").data == {"password": "s3cr3t"}
        assert {path.rpartition("/")[2] for _, path in proxy.requests} == {"login", "db"}


def test_a_token_for_few_uses_is_used_for_reads_alone(
    server: Vault, configured: Configured
) -> None:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*"), token_num_uses=3)
        provider = configured(settings | {"vault.addr": proxy.url})

        for _ in range(7):
            provider.get(f"{mount}/data/db")

        count = Counter(path.rpartition("/")[2] for _, path in proxy.requests)
        assert count == {"login": 3, "db": 7}


def test_health_says_how_the_session_is(server: Vault, configured: Configured) -> None:
    provider = configured(server.app_role("default", token_ttl="1h"))
    before = provider.health()
    with pytest.raises(LookupDenied):
        provider.get("secret/data/db")
    ready = provider.health()
    provider.close()

    assert before.state == "new"
    assert ready.state == "ready"
    assert ready.token_ttl
    assert timedelta(minutes=59) < ready.token_ttl <= timedelta(hours=1)
    assert (ready.leases, ready.last_error) == (0, None)
    assert provider.health().state == "closed"


def test_no_thread_is_left(server: Vault, configured: Configured) -> None:
    before = set(threading.enumerate())
    provider = configured(server.app_role("default"))
    with pytest.raises(LookupDenied):
        provider.get("secret/data/db")
    during = set(threading.enumerate()) - before

    provider.close()

    assert [thread.name for thread in during] == ["vault-session"]
    assert set(threading.enumerate()) <= before


def test_a_token_that_vault_does_not_renew_is_replaced_before_it_ends(
    server: Vault, configured: Configured
) -> None:
    auth = server.enable("userpass")
    user = f"auth/{auth}/users/orders"
    server.write(user, password="pw", token_policies="default", token_ttl="3s")
    with FaultProxy(server.address) as proxy:
        provider = configured(
            {
                "vault.addr": proxy.url,
                "vault.auth.method": "userpass",
                "vault.auth.mount": auth,
                "vault.username": "orders",
                "vault.password": "pw",
                "retry.max": "0",
            }
        )
        with pytest.raises(LookupDenied):
            provider.get("secret/data/db")
        server.write(user, token_policies="other")  # From now on, renewing is a 500.
        proxy.requests.clear()

        eventually(lambda: ("POST", f"/v1/auth/{auth}/login/orders") in proxy.requests, 8)

        ttl = provider.health().token_ttl
        assert ttl
        assert ("POST", "/v1/auth/token/renew-self") in proxy.requests


def test_a_forbidden_path_that_is_polled_is_no_login_each_time(
    server: Vault, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.providers.vault.session._REFUSAL_SECONDS", 0)
    with FaultProxy(server.address) as proxy:
        provider = configured(server.app_role("default") | {"vault.addr": proxy.url})

        for _ in range(5):
            with pytest.raises(LookupDenied):
                provider.get("secret/data/forbidden")

        assert sum(path.endswith("/login") for _, path in proxy.requests) <= 3


def test_forbidden_paths_are_no_storm_where_a_token_may_not_ask_about_itself(
    server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow("none"), token_no_default_policy=True)
        provider = configured(settings | {"vault.addr": proxy.url})

        for number in range(10):
            with pytest.raises(LookupDenied):
                provider.get(f"secret/data/{number}")

        assert sum(path.endswith("/login") for _, path in proxy.requests) == 2


def test_a_given_token_is_renewed_after_an_outage_however_late(
    server: Vault, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.providers.vault.session._LOOK_AFTER_SECONDS", 0.1)
    token = server.token("default", period="5s")
    with FaultProxy(server.address) as proxy:
        settings = {"vault.addr": proxy.url, "vault.token": token, "retry.max": "0"}
        provider = configured(settings)
        with pytest.raises(LookupDenied):
            provider.get("secret/data/db")
        eventually(lambda: provider.health().token_ttl is not None)
        proxy.faults = {Status(503): 1.0}
        eventually(lambda: provider.health().state == "failing")

        eventually(lambda: (provider.health().token_ttl or timedelta(9)) < timedelta(seconds=1.1))
        proxy.faults = {}

        eventually(lambda: (provider.health().token_ttl or timedelta(0)) > timedelta(seconds=3))


def test_a_refusal_is_told_as_such_when_no_other_login_is_to_be_had(
    server: Vault, configured: Configured
) -> None:
    settings = server.app_role("default", secret_id_num_uses=1)
    provider = configured(settings | {"vault.kv.version": "2"})

    with pytest.raises(LookupDenied, match="'secret/data/db' is refused by Vault"):
        provider.get("secret/data/db")


def test_those_who_wait_for_a_login_share_its_failure(
    server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        proxy.script = [Status(500)] * 100
        settings = server.app_role("default") | {"vault.addr": proxy.url, "retry.max": "0"}
        transformer = ConfigTransformer({"vault": configured(settings)})
        proxy.latency = 0.2

        with pytest.raises(UnresolvedError) as caught:
            transformer.transform({f"c{n}": f"${{vault:a/data/{n}:k}}" for n in range(16)})

        assert len(caught.value.unresolved) == 16
        assert len(proxy.requests) < 4


def test_closing_ends_the_token_that_was_made_for_it(server: Vault, configured: Configured) -> None:
    with FaultProxy(server.address) as proxy:
        provider = configured(server.app_role("default") | {"vault.addr": proxy.url})
        provider.values_outlive_it = True  # Values that no lease stands behind.
        with pytest.raises(LookupDenied):
            provider.get("secret/data/db")

        provider.close()

        assert proxy.requests[-1] == ("POST", "/v1/auth/token/revoke-self")
