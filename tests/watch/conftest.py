"""A secret to rotate, in each of eight backends."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from providers.vault.conftest import database_engine
from servers.aws import Aws
from servers.fault_proxy import AWS_ERRORS, FaultProxy
from servers.postgres import Postgres
from servers.vault import Vault
from watch.backends import DirectorySecret, FileSecret, MemorySecret, MountSecret, Secret
from watch.remote_backends import (
    KvSecret,
    ParameterSecret,
    SecretsManagerSecret,
    StaticRoleSecret,
)


@pytest.fixture(
    params=[
        "file",
        "directory",
        "mount",
        "polled",
        pytest.param("kv", marks=pytest.mark.vault),
        pytest.param("static_role", marks=[pytest.mark.vault, pytest.mark.postgres]),
        pytest.param("secrets_manager", marks=pytest.mark.aws),
        pytest.param("parameter", marks=pytest.mark.aws),
    ]
)
def secret(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[Secret]:
    """Make a secret in one of the backends, while all that is logged is kept."""
    caplog.set_level(logging.INFO, "watchdog")  # It says slowly what it sees, which is no value.
    caplog.set_level(logging.DEBUG)
    secret: Secret = request.getfixturevalue(f"{request.param}_secret")
    secret.rotate()
    with secret.provider:
        yield secret


@pytest.fixture
def file_secret(tmp_path: Path) -> FileSecret:
    return FileSecret(tmp_path)


@pytest.fixture
def directory_secret(tmp_path: Path) -> DirectorySecret:
    return DirectorySecret(tmp_path)


@pytest.fixture
def mount_secret(tmp_path: Path) -> MountSecret:
    return MountSecret(tmp_path)


@pytest.fixture
def polled_secret() -> MemorySecret:
    return MemorySecret()


@pytest.fixture
def kv_secret(vault_server: Vault) -> Iterator[KvSecret]:
    with FaultProxy(vault_server.address) as proxy:
        yield KvSecret(vault_server, proxy)


@pytest.fixture
def static_role_secret(vault_server: Vault, database: Postgres) -> Iterator[StaticRoleSecret]:
    with (
        database_engine(vault_server, database, ttl="1m", max_ttl="1m") as engine,
        FaultProxy(vault_server.address) as proxy,
    ):
        yield StaticRoleSecret(vault_server, engine, proxy)


@pytest.fixture
def secrets_manager_secret(aws: Aws) -> Iterator[SecretsManagerSecret]:
    with FaultProxy(aws.moto.url, errors=AWS_ERRORS) as proxy:
        yield SecretsManagerSecret(aws, proxy)


@pytest.fixture
def parameter_secret(aws: Aws) -> Iterator[ParameterSecret]:
    with FaultProxy(aws.moto.url, errors=AWS_ERRORS) as proxy:
        yield ParameterSecret(aws, proxy)
