"""Sessions that do not die, against a real server and a real PostgreSQL."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from providers.vault.conftest import Configured, Engine, database_engine, eventually
from servers.fault_proxy import FaultProxy
from servers.postgres import Postgres
from servers.vault import Vault

from configproviders.errors import LookupDenied

pytestmark = [pytest.mark.vault, pytest.mark.postgres]
LONG = "SOAK" in os.environ


def test_dynamic_credentials_are_those_of_one_lease_until_it_is_replaced(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    provider = configured(server.app_role(server.allow(path)))

    user, password = provider.get(path, ["username"]), provider.get(path, ["password"])

    assert user.lease == password.lease
    assert user.ttl
    assert user.ttl <= timedelta(seconds=2)
    assert engine.lets_in(user.data | password.data)


def test_closing_revokes_what_was_leased(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    provider = configured(server.app_role(server.allow(path)))
    credentials = provider.get(path).data

    provider.close()

    eventually(lambda: not engine.lets_in(credentials))


def test_closing_leaves_the_leases_of_values_that_outlive_the_provider(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with database_engine(server, database, ttl="1m", max_ttl="1m") as engine:
        path = f"{engine.mount}/creds/orders"
        provider = configured(server.app_role(server.allow(path)))
        provider.values_outlive_it = True
        credentials = provider.get(path).data

        provider.close()

        assert engine.lets_in(credentials)


def test_leases_of_a_token_that_was_given_are_revoked_where_a_policy_allows_it(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    policies = server.allow(path), server.allow("sys/leases/revoke", capabilities=["update"])
    token = server.token(*policies)
    provider = configured({"vault.addr": server.address, "vault.token": token})
    credentials = provider.get(path).data

    provider.close()

    eventually(lambda: not engine.lets_in(credentials))
    assert server.write("auth/token/lookup", token=token)["data"]["id"] == token


def test_a_static_role_has_the_ttl_of_its_rotation(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/static-creds/rotating"
    provider = configured(server.app_role(server.allow(path)))

    answer = provider.get(path, ["username", "password"])

    assert answer.data["username"] == engine.static_user
    assert answer.lease is None
    assert answer.ttl
    assert timedelta(seconds=1) < answer.ttl <= timedelta(seconds=6)
    assert engine.lets_in(answer.data)


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


@pytest.mark.soak
def test_a_short_token_serves_a_reader_for_long_with_credentials_that_are_always_valid(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    ttl, max_ttl, seconds = ("5s", "20s", 60) if LONG else ("2s", "6s", 15)
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    with database_engine(server, database, ttl=ttl, max_ttl="1h") as engine:
        path = f"{engine.mount}/creds/orders"
        policy = server.allow(f"{mount}/data/*", path)
        provider = configured(server.app_role(policy, token_ttl=ttl, token_max_ttl=max_ttl))
        users = set()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}
            credentials = provider.get(path).data
            assert engine.lets_in(credentials)
            users.add(credentials["username"])
            time.sleep(0.05)

    assert len(users) >= 3
