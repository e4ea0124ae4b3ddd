"""Servers that tests in several directories share: one of each for all tests of a process."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from servers.aws import Aws
    from servers.moto import Moto
    from servers.postgres import Postgres
    from servers.vault import Vault

_numbers = itertools.count()


@pytest.fixture(scope="session")
def vault_server() -> Iterator[Vault]:
    """Run a Vault; tests keep to mounts and roles of their own."""
    from servers.vault import vault

    with vault() as running:
        yield running


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    """Run a PostgreSQL."""
    from servers.postgres import postgres

    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    """Run moto."""
    from botocore.loaders import JSONFileLoader
    from servers.moto import run_moto

    loader = JSONFileLoader()
    with run_moto() as server, pytest.MonkeyPatch.context() as patch:
        # The SDK reads large files for each new client, and there are hundreds here.
        load = functools.cache(loader.load_file)
        patch.setattr(JSONFileLoader, "load_file", lambda _, file_path: load(file_path))
        yield server


@pytest.fixture
def aws(moto: Moto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aws:
    """Have nothing around that boto3 takes credentials from, but the environment."""
    from servers.aws import HOME, Aws

    key = f"KEY{next(_numbers)}"
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    monkeypatch.setenv("AWS_REGION", HOME)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return Aws(moto, key)
