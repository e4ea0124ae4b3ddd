"""Credentials that Vault leases, revoked while they are used: who is refused gets new ones."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from providers.vault.conftest import database_engine
from psycopg.sql import SQL, Identifier
from servers.postgres import Postgres
from servers.vault import Vault

from configproviders import VaultConfigProvider
from configproviders.spark import LiveConfigs, retrying

pytestmark = [pytest.mark.vault, pytest.mark.postgres]


def test_revoked_credentials_are_issued_anew_once_for_all_who_are_refused(
    vault_server: Vault, database: Postgres
) -> None:
    with (
        database_engine(vault_server, database, ttl="1h", max_ttl="2h") as engine,
        VaultConfigProvider({}) as provider,
        LiveConfigs(providers={"vault": provider}) as live,
    ):
        path = f"{engine.mount}/creds/orders"
        token = vault_server.token(vault_server.allow(path))
        provider.configure({"vault.addr": vault_server.address, "vault.token": token})
        options = live.options({key: f"${{vault:{path}:{name}}}" for key, name in KEYS.items()})
        login = retrying(logging_in(database, options), options)
        revoked = login()
        with administrator(database) as connection:
            connection.execute(SQL("DROP ROLE {}").format(Identifier(revoked)))

        with ThreadPoolExecutor(8) as pool:
            users = [job.result() for job in [pool.submit(login) for _ in range(8)]]

    assert len(set(users)) == 1
    assert users[0] != revoked


KEYS = {"user": "username", "password": "password"}


def logging_in(database: Postgres, options: Callable[[], dict[str, str]]) -> Callable[[], str]:
    """Return what logs in with the *options* of then, and says as whom."""

    def log_in() -> str:
        now = options()
        psycopg.connect(database.dsn(now["user"], now["password"])).close()
        return str(now["user"])

    return log_in


def administrator(database: Postgres) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(database.dsn(database.superuser, database.password), autocommit=True)
