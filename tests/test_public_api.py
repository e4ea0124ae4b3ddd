"""What is promised. A change here is a decision."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import configproviders
import configproviders.spark
import configproviders.worker

PROMISED = [
    "ConfigChangeCallback",
    "ConfigData",
    "ConfigException",
    "ConfigProvider",
    "ConfigTransformer",
    "ConfigTransformerResult",
    "DirectoryConfigProvider",
    "EnvVarConfigProvider",
    "FileConfigProvider",
    "Location",
    "SecretsManagerConfigProvider",
    "SsmConfigProvider",
    "UnresolvedError",
    "VaultConfigProvider",
    "Watcher",
    "load_providers",
]
PROMISED_FOR_SPARK = [
    "LiveConfigs",
    "LiveOptions",
    "Password",
    "Route",
    "Way",
    "affected_by",
    "check",
    "create_session",
    "is_authentication_failure",
    "references",
    "resolve",
    "resolve_conf",
    "resolve_options",
    "restart_query",
    "retrying",
    "route",
    "run_query",
]
PROMISED_FOR_CONNECTORS = [
    "ConnectException",
    "Connector",
    "Progress",
    "Task",
    "TaskContext",
    "Worker",
    "WorkerConfig",
]


def test_the_public_names_are_these_and_at_most_sixteen() -> None:
    assert sorted(configproviders.__all__) == PROMISED
    assert len(PROMISED) <= 16
    assert set(PROMISED) < set(dir(configproviders))


@pytest.mark.parametrize("name", PROMISED)
def test_every_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    assert getattr(configproviders, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'VaultProvider'"):
        configproviders.VaultProvider  # noqa: B018  To ask is the test.


def test_the_names_for_spark_are_these() -> None:
    assert sorted(configproviders.spark.__all__) == PROMISED_FOR_SPARK


def test_the_names_for_connectors_are_these_and_say_what_they_are() -> None:
    assert sorted(configproviders.worker.__all__) == PROMISED_FOR_CONNECTORS
    assert all(getattr(configproviders.worker, name).__doc__ for name in PROMISED_FOR_CONNECTORS)


def test_the_changelog_speaks_of_this_version() -> None:
    changelog = Path(__file__).parent.parent / "CHANGELOG.md"

    newest = re.search(r"^## \[?([\d.]+)", changelog.read_text(), re.MULTILINE)

    assert newest
    assert newest[1] == configproviders.__version__
