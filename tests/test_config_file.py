from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from configproviders import ConfigException
from configproviders.config_file import read_configs
from configproviders.testing import CANARY


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.properties", "a.b=1\n"),
        ("a.conf", "a.b=1\n"),
        ("a.json", '{"a": {"b": 1}}'),
        ("a.yml", "a:\n  b: 1\n"),
        ("a.toml", "[a]\nb = 1\n"),
    ],
)
def test_the_suffix_says_the_format(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    assert read_configs(str(tmp_path / name)) == {"a.b": "1"}


def test_the_format_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "job").write_text('{"a": "1"}')

    assert read_configs(str(tmp_path / "job"), text_format="json") == {"a": "1"}


@pytest.mark.parametrize("more", [{}, {"tasks": [{"connector": "c", "task": 0}], "type": "sink"}])
def test_the_json_of_a_connector_is_its_config_with_the_name(
    tmp_path: Path, more: dict[str, object]
) -> None:
    body = {"name": "c", "config": {"connector.class": "X", "tasks.max": 1}, **more}
    (tmp_path / "c.json").write_text(json.dumps(body))

    assert read_configs(str(tmp_path / "c.json")) == {
        "name": "c",
        "connector.class": "X",
        "tasks.max": "1",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"name": "n", "config": {"a": "1"}, "more": "2"}',
            {"name": "n", "config.a": "1", "more": "2"},
        ),
        (
            '{"name": {"a": "1"}, "config": {"b": "2"}}',
            {"name.a": "1", "config.b": "2"},
        ),
        (
            '{"name": "n", "config": "scalar", "type": "sink"}',
            {"name": "n", "config": "scalar", "type": "sink"},
        ),
        (
            '{"name": "n", "config.action.reload": "none", "tasks.max": "2"}',
            {"name": "n", "config.action.reload": "none", "tasks.max": "2"},
        ),
    ],
)
def test_json_that_only_resembles_a_connector_is_taken_as_it_is(
    tmp_path: Path, text: str, expected: dict[str, str]
) -> None:
    (tmp_path / "c.json").write_text(text)

    assert read_configs(str(tmp_path / "c.json")) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"config.providers.f.param.allowed.paths": []}', "allowed.paths' is empty: write text"),
        ('{"name": "a", "config": {"name": "b"}}', "the connector has one name, and another"),
    ],
)
def test_what_would_be_lost_is_an_error(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "c.json").write_text(text)

    with pytest.raises(ConfigException, match=reason):
        read_configs(str(tmp_path / "c.json"))


def test_a_format_that_does_not_exist_is_an_error_that_lists_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigException, match="no format named 'ini'; there are: 'json'"):
        read_configs(str(tmp_path / "a"), text_format="ini")


def test_standard_input_is_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfa=\xc3\xa4")))

    assert read_configs("-") == {"a": "ä"}


def test_a_broken_file_is_an_error_with_path_and_line_and_no_text(tmp_path: Path) -> None:
    file = tmp_path / "a.properties"
    file.write_bytes(b"a=1\nb=" + CANARY.encode() + b"\\uXXXX")

    with pytest.raises(ConfigException, match=r"a\.properties: line 2: ") as caught:
        read_configs(str(file))

    assert CANARY not in str(caught.value)


def test_an_endless_file_is_an_error() -> None:
    with pytest.raises(ConfigException, match="larger than 16 MiB"):
        read_configs("/dev/zero")
