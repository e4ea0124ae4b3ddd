"""Credentials that dynamic engines make, and PostgreSQL's word on whether they are valid."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import NamedTuple

import pytest
from providers.vault.conftest import Configured, Engine, database_engine, eventually
from servers.fault_proxy import FaultProxy
from servers.faults import ResetInBody, Silence, Status
from servers.postgres import Postgres
from servers.vault import Vault

from configproviders import VaultConfigProvider
from configproviders.errors import LookupDenied, ProviderUnavailable

pytestmark = [pytest.mark.vault, pytest.mark.postgres]


ROLE = ("db_name", "creation_statements", "default_ttl", "max_ttl")
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


def test_leases_are_issued_anew_when_a_refusal_made_us_log_in_although_nobody_reads_them(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    provider = configured(server.app_role(server.allow(path)))
    first = provider.get(path).lease

    with pytest.raises(LookupDenied):
        provider.get("secret/data/forbidden")

    engine_leases = f"sys/leases/lookup/{engine.mount}/creds/orders"
    eventually(lambda: len(server.call("LIST", engine_leases)["data"]["keys"]) == 2)
    assert provider.get(path).lease != first


def test_leases_are_renewed_while_others_hang_on_an_old_token(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with database_engine(server, database, ttl="2s", max_ttl="1m") as engine:
        path = f"{engine.mount}/creds/orders"
        provider = configured(server.app_role(server.allow(path)))
        provider.get(path)
        with pytest.raises(LookupDenied):
            provider.get("secret/data/forbidden")
        credentials = provider.get(path).data

        time.sleep(4)  # Twice the time of the lease.

        assert engine.lets_in(credentials)


def test_credentials_on_the_last_use_of_a_token_are_read_with_another(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    policy = server.allow(path, f"{mount}/data/*")
    provider = configured(server.app_role(policy, token_num_uses=2))
    provider.get(f"{mount}/data/db")

    credentials = provider.get(path).data

    assert engine.lets_in(credentials)


def test_reading_credentials_is_not_tried_again_when_they_may_have_been_made(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    with FaultProxy(server.address) as proxy:
        settings = {"vault.addr": proxy.url, "vault.token": server.root}
        provider = configured(settings, **{"vault.kv.version": "2"})
        with pytest.raises(LookupDenied):
            configured({**settings, "vault.token": "none"}).get("a/data/b")
        proxy.requests.clear()
        proxy.script = [None, ResetInBody()]

        with pytest.raises(ProviderUnavailable):
            provider.get(path)

        assert proxy.requests.count(("GET", f"/v1/{path}")) == 1


def test_one_lease_that_cannot_be_revoked_keeps_no_other(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    with FaultProxy(server.address) as proxy:
        settings = {"vault.addr": proxy.url, "vault.token": server.root, "retry.max": "0"}
        provider = configured(settings)
        first = provider.get(path).data
        provider.invalidate(path)
        second = provider.get(path).data
        proxy.script = [Status(400)]

        provider.close()

        revoked = [path for _, path in proxy.requests if path == "/v1/sys/leases/revoke"]
        assert len(revoked) == 2
        assert first != second


def test_settings_for_kv_leave_other_engines_alone(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    settings = {"vault.addr": server.address, "vault.token": server.root}
    provider = configured(settings, **{"vault.engine.version": "2"})

    for path in ("creds/orders", "static-creds/rotating"):
        assert engine.lets_in(provider.get(f"{engine.mount}/{path}").data)


def test_a_forked_child_ends_nothing_of_its_parent(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with database_engine(server, database, ttl="1m", max_ttl="1m") as engine:
        path = f"{engine.mount}/creds/orders"
        provider = configured(server.app_role(server.allow(path)))
        credentials = provider.get(path).data

        child = os.fork()
        if child == 0:
            try:
                provider.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)

        assert engine.lets_in(credentials)
        assert provider.get(path).data == credentials


def test_a_failing_database_keeps_no_lease_of_another_from_being_renewed(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with (
        database_engine(server, database, ttl="2s", max_ttl="1m") as good,
        database_engine(server, database, ttl="2s", max_ttl="2s") as bad,
    ):
        paths = [f"{each.mount}/creds/orders" for each in (good, bad)]
        settings = server.app_role(server.allow(*paths)) | {"retry.max": "0"}
        provider = configured(settings)
        credentials, _ = [provider.get(path).data for path in paths]
        server.call("DELETE", f"{bad.mount}/roles/orders")  # From now on, it issues nothing.

        time.sleep(6)  # Three times the time of the lease.

        assert good.lets_in(credentials)


def test_credentials_of_a_token_for_few_uses_are_not_made_in_a_circle(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    paths = [f"{engine.mount}/creds/orders", f"{engine.mount}/creds/others"]
    role = server.read(f"{engine.mount}/roles/orders")
    server.write(f"{engine.mount}/roles/others", **{name: role[name] for name in ROLE})
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow(*paths), token_num_uses=3)
        provider = configured(settings | {"vault.addr": proxy.url})
        for path in [*paths, *paths]:
            provider.get(path)
        proxy.requests.clear()

        time.sleep(2)

        assert proxy.requests == []


def test_a_path_that_leases_no_more_is_not_asked_in_a_circle(
    server: Vault, engine: Engine, configured: Configured
) -> None:
    path = f"{engine.mount}/creds/orders"
    with FaultProxy(server.address) as proxy:
        provider = configured(server.app_role(server.allow(path)) | {"vault.addr": proxy.url})
        provider.get(path)
        server.call("DELETE", f"sys/mounts/{engine.mount}")
        server.write(f"sys/mounts/{engine.mount}", type="kv", options={"version": "1"})
        server.write(path, username="u", password="p")
        time.sleep(2.5)
        proxy.requests.clear()

        time.sleep(1)

        assert proxy.requests == []
        assert provider.get(path).data == {"username": "u", "password": "p"}
        assert provider.get(path).ttl is None


def test_closing_ends_the_leases_of_earlier_tokens_too(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with database_engine(server, database, ttl="1m", max_ttl="1m") as engine:
        path = f"{engine.mount}/creds/orders"
        provider = configured(server.app_role(server.allow(path)))
        first = provider.get(path)
        with pytest.raises(LookupDenied):
            provider.get("secret/data/forbidden")
        eventually(lambda: provider.get(path).lease != first.lease)

        provider.close()

        eventually(lambda: not engine.lets_in(first.data))


def test_closing_revokes_although_vault_was_silent_before(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    with (
        database_engine(server, database, ttl="1m", max_ttl="1m") as engine,
        FaultProxy(server.address) as proxy,
    ):
        path = f"{engine.mount}/creds/orders"
        settings = server.app_role(server.allow(path)) | {"vault.addr": proxy.url}
        provider = configured(settings | {"timeout.ms": "500"})
        credentials = provider.get(path).data
        proxy.script = [Silence()]
        with pytest.raises(ProviderUnavailable):
            provider.get("secret/data/other")

        provider.close()

        eventually(lambda: not engine.lets_in(credentials))


@pytest.mark.soak
def test_a_short_token_serves_a_reader_for_long_with_credentials_that_are_always_valid(
    server: Vault, database: Postgres, configured: Configured
) -> None:
    ttl, max_ttl, seconds = ("5s", "20s", 60) if LONG else ("3s", "8s", 20)
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    with (
        database_engine(server, database, ttl=ttl, max_ttl="1h") as engine,
        database_engine(server, database, ttl=ttl, max_ttl="1h") as unread,
    ):
        paths = [f"{each.mount}/creds/orders" for each in (engine, unread)]
        policy = server.allow(f"{mount}/data/*", *paths)
        provider = configured(server.app_role(policy, token_ttl=ttl, token_max_ttl=max_ttl))
        held = {held_by(provider, paths[1])}
        users = set()
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}
            held.add(held_by(provider, paths[0]))
            held = {each for each in held if each.until > now + 0.3}  # As they were told to hold.
            assert all(database.valid(each.user, each.password) for each in held)
            users |= {each.user for each in held}
            time.sleep(0.1)

    assert len(users) >= 4


class Held(NamedTuple):
    """Credentials as their holder knows them."""

    user: str
    password: str
    until: float


def held_by(provider: VaultConfigProvider, path: str) -> Held:
    now = time.monotonic()
    answer = provider.get(path)
    assert answer.ttl
    until = now + answer.ttl.total_seconds()
    return Held(answer.data["username"], answer.data["password"], until)
