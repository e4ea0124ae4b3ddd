"""Which references lead to a place that somebody names."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from configproviders import ConfigException, ConfigProvider
from configproviders.registry import open_providers
from configproviders.usage import leading_to, tracing_settings

ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"
TEXTS = [
    "${vault:secret/db:user}",
    "$<vault:secret/data/db:password>",
    "${vault:secret/data/db?version=2:password?ttl=5000}",
    "${vault:secret/dbs:user}",
    "${vault:no path}",
    f"${{sm:{ARN}:user}}",
    f"${{sm:{ARN}}}",
    f"$<sm:{ARN}?stage=AWSPREVIOUS:password>",
    "${sm:db:password}",
    "${sm:db}",
    "${env:USER}",
    "${mine:a:b}",
    "${odd:a?x=1&x=2:b}",
]


@pytest.fixture(scope="module")
def providers() -> Iterator[dict[str, ConfigProvider]]:
    settings = {"config.providers": "vault,sm,env"}
    settings |= {
        f"config.providers.{name}.class": class_name
        for name, class_name in {"vault": "vault", "sm": "secretsmanager", "env": "env"}.items()
    }
    with open_providers(tracing_settings(settings, "")) as them:
        yield them


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("vault:secret/db", [0, 1, 2]),
        ("vault:secret/data/db", [0, 1, 2]),
        ("vault:secret/db?version=1", [0, 1, 2]),
        ("vault:secret/db:password", [1, 2]),
        ("vault:secret", []),
        (f"sm:{ARN}", [5, 6, 7]),
        (f"sm:{ARN}:password", [6, 7]),
        ("sm:db", [8, 9]),
        ("sm:db:user", [9]),
        ("env:USER", [10]),
        ("mine:a", [11]),
        ("mine:a:b", [11]),
        ("odd:a?x=1&x=2:b", [12]),
        ("nobody:a", []),
    ],
)
def test_a_place_is_found_whatever_it_is_typed_like(
    place: str, found: list[int], providers: dict[str, ConfigProvider]
) -> None:
    leading = leading_to(place, TEXTS, providers)

    assert [number for number, text in enumerate(TEXTS) if text in leading] == found


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("vault", "'vault' is no place: write provider:path or provider:path:key"),
        ("", "'' is no place"),
        ("a:b} ${c:d", "'a:b} \\${c:d' is no place"),
        ("vault:", "'vault:': a reference to Vault has a path and a key"),
    ],
)
def test_what_can_mean_nothing_is_refused(
    place: str, message: str, providers: dict[str, ConfigProvider]
) -> None:
    with pytest.raises(ConfigException, match=message):
        leading_to(place, TEXTS, providers)


@pytest.mark.parametrize(
    ("class_name", "given", "told"),
    [
        ("vault", {}, {"vault.kv.version": "2"}),
        ("io.lenses.connect.secrets.providers.VaultSecretProvider", {}, {"vault.kv.version": "2"}),
        ("vault", {"vault.engine.version": "auto"}, {"vault.kv.version": "2"}),
        ("vault", {"vault.engine.version": "1"}, {"vault.engine.version": "1"}),
        ("vault", {"vault.kv.version": "1"}, {"vault.kv.version": "1"}),
        ("file", {}, {}),
    ],
)
def test_vault_is_taken_for_one_with_data_in_its_paths_unless_settings_say_no(
    class_name: str, given: dict[str, str], told: dict[str, str]
) -> None:
    declared = {"config.providers": "p", "config.providers.p.class": class_name}

    def settings(params: dict[str, str]) -> dict[str, str]:
        return declared | {f"config.providers.p.param.{key}": text for key, text in params.items()}

    assert tracing_settings(settings(given), "p:x") == settings(told)


@pytest.mark.parametrize(
    ("settings", "live", "class_name"),
    [
        ({}, (), "vault"),
        ({"config.providers": "files", "config.providers.files.class": "file"}, (), "vault"),
        ({}, ["vault"], None),
        ({"config.providers": "vault", "config.providers.vault.class": "file"}, (), "file"),
        ({"config.providers.vault.class": "file"}, (), "file"),
    ],
)
def test_a_provider_that_nobody_sets_up_is_ours_of_that_name(
    settings: dict[str, str], live: Collection[str], class_name: str | None
) -> None:
    told = tracing_settings(settings, "vault:secret/db", live)

    assert told.get("config.providers.vault.class") == class_name
    assert ("config.providers.vault.param.vault.kv.version" in told) == (class_name == "vault")
