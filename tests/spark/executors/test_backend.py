"""Handles that ask the backend, in this process and its children: without Spark."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.cloudpickle import dumps
from spark.executors.counted import Backend

from configproviders.errors import ConfigException, PathNotFound, UnresolvedError
from configproviders.spark import cleaning
from configproviders.spark.executors import BackendSecrets, Secret
from configproviders.testing import CANARY

PASSWORD = "${counted:db:password}"


@pytest.fixture
def backend(tmp_path: Path) -> Backend:
    backend = Backend(tmp_path / "backend")
    backend.put("db", user="orders", password=CANARY)
    return backend


def settings_of(provider: str, **params: str) -> dict[str, str]:
    prefix = "config.providers.p."
    params = {f"{prefix}param.{name.replace('_', '.')}": params[name] for name in params}
    return {"config.providers": "p", f"{prefix}class": provider, **params}


def test_nobody_is_asked_until_a_value_is_wanted(backend: Backend) -> None:
    secret = BackendSecrets(backend.settings).secret(PASSWORD)

    assert backend.fetches() == []
    assert [secret.value(), secret.value()] == [CANARY, CANARY]
    assert backend.fetches() == ["db password"]


def test_what_is_handed_out_together_is_fetched_together(backend: Backend) -> None:
    options = {"user": "${counted:db:user}", "password": PASSWORD, "fetchsize": 100}

    handles = BackendSecrets(backend.settings).secrets(options)

    assert {key: handle.value() for key, handle in handles.items()} == {
        "user": "orders",
        "password": CANARY,
        "fetchsize": "100",
    }
    assert backend.fetches() == ["db password,user"]


@pytest.mark.parametrize("write", [pickle.dumps, dumps])
def test_a_function_that_holds_a_handle_is_pickled_without_its_value(
    backend: Backend, write: Callable[[Secret], bytes]
) -> None:
    secret = BackendSecrets(backend.settings).secret(PASSWORD)
    secret.value()

    written = write(secret)

    assert CANARY.encode() not in written
    assert pickle.loads(written) == secret
    assert pickle.loads(written).value() == CANARY


def test_a_value_that_was_refused_is_fetched_again(backend: Backend) -> None:
    secret = BackendSecrets(backend.settings).secret(PASSWORD)
    old = secret.value()
    backend.put("db", password="new")

    kept = secret.value()
    secret.invalidate()
    secret.invalidate()

    assert [old, kept, secret.value()] == [CANARY, CANARY, "new"]
    assert backend.fetches() == ["db password"] * 2


def test_a_forked_child_has_providers_of_its_own(backend: Backend) -> None:
    secret = BackendSecrets(backend.settings).secret(PASSWORD)
    secret.value()

    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if secret.value() == CANARY else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert len(backend.fetches()) == 2


def test_a_value_is_cleaned_from_messages_as_soon_as_it_is_known(backend: Backend) -> None:
    backend.put("db", password="Tr0ub4dor and three more")

    value = BackendSecrets(backend.settings).secret(PASSWORD).value()

    assert value not in cleaning.clean(f"cannot log in with {value!r}")


def test_a_missing_path_is_an_error_of_ours_where_it_is_wanted(backend: Backend) -> None:
    secret = BackendSecrets(backend.settings).secret("${counted:no:x}")

    with pytest.raises(PathNotFound) as caught:
        secret.value()

    assert str(caught.value) == "${counted:no:x}: nothing at 'no'"


def test_a_provider_that_is_not_declared_is_an_error_at_once(backend: Backend) -> None:
    secrets = BackendSecrets(backend.settings)

    with pytest.raises(UnresolvedError, match=r"a: .*no config provider named 'vault'"):
        secrets.secrets({"a": "${vault:x:y}", "b": PASSWORD})


@pytest.mark.parametrize(
    ("provider", "holding"),
    [
        ("vault", "vault.token"),
        ("vault", "vault.approle.secret.id"),
        ("vault", "secret_id"),
        ("vault", "vault.jwt"),
        ("vault", "ldap.password"),
        ("secretsmanager", "aws.access.key aws.secret.key"),
        ("ssm", "aws.access.key aws.secret.key aws.session.token"),
    ],
)
def test_settings_that_hold_a_secret_are_refused_without_it(provider: str, holding: str) -> None:
    keys = [f"config.providers.p.param.{setting}" for setting in holding.split()]

    with pytest.raises(ConfigException) as caught:
        BackendSecrets(settings_of(provider) | dict.fromkeys(keys, CANARY))

    assert str(caught.value).startswith(f"{', '.join(keys)}: would travel with every task")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "setting", "value"),
    [
        ("vault", "vault.token.file", "/run/token"),
        ("vault", "vault.token.renew", "false"),
        ("vault", "vault.kubernetes.token.path", "/run/token"),
        ("vault", "vault.jwt.role", "jobs"),
        ("vault", "secret.default.ttl.ms", "1000"),
        ("secretsmanager", "secret.prefix", "prod/"),
        ("secretsmanager", "secret.type", "JSON"),
    ],
)
def test_settings_that_say_where_a_secret_is_are_taken(
    provider: str, setting: str, value: str
) -> None:
    settings = settings_of(provider) | {f"config.providers.p.param.{setting}": value}

    assert BackendSecrets(settings).secret("${p:a:b}").text == "${p:a:b}"


@pytest.mark.parametrize(
    "setting",
    ["api.key", "apikey", "passphrase", "pwd", "db.dsn", "private-key", "connection.string", "sas"],
)
def test_settings_of_others_that_sound_secret_are_refused(backend: Backend, setting: str) -> None:
    with pytest.raises(ConfigException, match="would travel with every task"):
        BackendSecrets({**backend.settings, f"config.providers.counted.param.{setting}": CANARY})


def test_a_url_with_a_password_is_refused() -> None:
    address = {"config.providers.p.param.vault.addr": f"https://user:{CANARY}@vault:8200"}

    with pytest.raises(ConfigException, match=r"vault\.addr: would travel") as caught:
        BackendSecrets(settings_of("vault") | address)

    assert CANARY not in str(caught.value)


def test_settings_with_a_reference_are_refused(backend: Backend) -> None:
    settings = settings_of("file", allowed_paths="${env:HOME}")

    with pytest.raises(ConfigException, match=r"p\.param\.allowed\.paths: would travel"):
        BackendSecrets(settings)
