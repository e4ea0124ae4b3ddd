from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from servers.postgres import Postgres
from servers.vault import Vault
from servers.vault_events import VaultEvents, vault_events

from configproviders.providers.vault import VaultConfigProvider


@pytest.fixture(scope="session")
def server(vault_server: Vault) -> Vault:
    """Name the one that is a server here."""
    return vault_server


@dataclass(frozen=True, slots=True)
class Engine:
    """A database engine of a Vault: the role ``orders`` is dynamic, ``rotating`` is static."""

    mount: str
    database: Postgres
    static_user: str

    def lets_in(self, credentials: dict[str, str]) -> bool:
        """Ask PostgreSQL."""
        return self.database.valid(credentials["username"], credentials["password"])


@pytest.fixture
def engine(server: Vault, database: Postgres) -> Iterator[Engine]:
    """Have Vault make credentials that live for two seconds, and rotate others every five."""
    with database_engine(server, database, ttl="2s", max_ttl="6s") as engine:
        yield engine


@contextmanager
def database_engine(
    server: Vault, database: Postgres, *, ttl: str, max_ttl: str
) -> Iterator[Engine]:
    """Mount a database engine, and take it away with all that it made."""
    mount, static_user = server.mount("database"), f"static_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(database.dsn(database.superuser, database.password)) as connection:
        connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(static_user)))
    server.write(
        f"{mount}/config/orders",
        plugin_name="postgresql-database-plugin",
        connection_url=database.dsn("{{username}}", "{{password}}"),
        username=database.superuser,
        password=database.password,
        allowed_roles="*",
    )
    create = "CREATE ROLE \"{{name}}\" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'"
    server.write(
        f"{mount}/roles/orders",
        db_name="orders",
        creation_statements=create,
        default_ttl=ttl,
        max_ttl=max_ttl,
    )
    rotation = {"username": static_user, "rotation_period": "5s"}
    server.write(f"{mount}/static-roles/rotating", db_name="orders", **rotation)
    yield Engine(mount, database, static_user)
    server.call("DELETE", f"sys/mounts/{mount}")


Configured = Callable[..., VaultConfigProvider]


@pytest.fixture
def configured() -> Iterator[Configured]:
    """Make providers, and close them at the end."""
    made: list[VaultConfigProvider] = []

    def configure(settings: dict[str, str], **more: str) -> VaultConfigProvider:
        provider = VaultConfigProvider({})
        made.append(provider)
        provider.configure({**settings, **more})
        return provider

    yield configure
    for provider in made:
        provider.close()


def eventually(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until *condition* is true; fail if it takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    """Mount a KV engine of version 2 with a secret in it."""
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    return mount


@pytest.fixture(scope="module")
def policy(server: Vault, mount: str) -> str:
    """Make a policy that lets read all there."""
    return server.allow(f"{mount}/data/*")


def password(server: Vault, mount: str, settings: dict[str, str], **environ: str) -> str:
    """Return the password at ``db`` in *mount*, as a provider with *settings* reads it."""
    provider = VaultConfigProvider(environ)
    provider.configure({"vault.addr": server.address, **settings})
    with provider:
        return provider.get(f"{mount}/db", {"password"}).data["password"]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have who loses Vault's events come back soon."""
    module = "configproviders.providers.vault.events"
    monkeypatch.setattr(f"{module}._FIRST_PAUSE", 0.05)
    monkeypatch.setattr(f"{module}._LONGEST_PAUSE", 0.2)


@pytest.fixture
def events(soon: None) -> Iterator[VaultEvents]:
    """Run a server of events that lets in the token ``t``."""
    with vault_events("t") as running:
        yield running
