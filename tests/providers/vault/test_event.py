"""What an event of Vault concerns."""

from __future__ import annotations

import json

import pytest
from servers.vault_events import event

from configproviders.providers.vault.event import Event, parse


def parsed(kind: str, mount: str, **metadata: object) -> Event:
    found = parse(json.dumps(event(kind, mount, **metadata)))
    assert found
    return found


@pytest.mark.parametrize("path", ["secret/db", "secret/data/db"])
@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        ("kv-v2/data-write", {"data_path": "secret/data/db", "path": "secret/data/db"}),
        ("kv-v2/data-patch", {"data_path": "secret/data/db", "modified": "true"}),
        ("kv-v2/data-delete", {"path": "secret/data/db", "modified": True}),
        ("kv-v2/undelete", {"path": "secret/undelete/db"}),
        ("kv-v2/destroy", {"path": "secret/destroy/db"}),
        ("kv-v2/metadata-delete", {"path": "secret/metadata/db"}),
        ("kv-v2/data-write", {"path": "data/db"}),  # As Vault 1.13 has it.
        ("kv-v1/write", {"data_path": "secret/db"}),
    ],
)
def test_each_spelling_of_the_secret_is_concerned(
    kind: str, metadata: dict[str, object], path: str
) -> None:
    assert parsed(kind, "secret/", **metadata).concerns(path)


@pytest.mark.parametrize("path", ["secret/db2", "secret/db/deeper", "other/db", "db", ""])
def test_another_secret_is_not_concerned(path: str) -> None:
    written = parsed("kv-v2/data-write", "secret/", data_path="secret/data/db")

    assert not written.concerns(path)


def test_a_mount_of_several_parts_and_a_secret_called_data() -> None:
    written = parsed("kv-v2/data-write", "team/data/kv/", data_path="team/data/kv/data/data")

    assert written.concerns("team/data/kv/data")
    assert written.concerns("team/data/kv/data/data")
    assert not written.concerns("team/data/kv/db")


def test_a_role_is_found_by_its_name_within_its_mount() -> None:
    rotated = parsed("database/rotate", "database/", path="", name="orders", modified="true")

    assert rotated.concerns("database/static-creds/orders")
    assert not rotated.concerns("database/static-creds/others")
    assert not rotated.concerns("other/static-creds/orders")


@pytest.mark.parametrize("kind", ["creds-create", "static-creds-create", "creds-create-fail"])
def test_who_is_issued_credentials_changes_nothing_for_others(kind: str) -> None:
    told = event(f"database/{kind}", "database/", path="database/creds/a", name="a", modified=True)

    assert parse(json.dumps(told)) is None


def test_what_modified_nothing_concerns_nothing() -> None:
    told = event("kv-v2/data-write", "kv/", path="kv/data/a", modified="false")

    assert parse(json.dumps(told)) is None


@pytest.mark.parametrize(
    "message",
    ["", "no JSON", b"\xff", "[]", "{}", '{"data": 1}', '{"data": {"event": []}}', "[" * 100_000],
)
def test_what_is_no_event_is_passed_over(message: str | bytes) -> None:
    assert parse(message) is None
