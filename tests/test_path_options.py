from __future__ import annotations

from datetime import timedelta

import pytest

from configproviders import ConfigException
from configproviders.path_options import (
    merged,
    split_any_options,
    split_options,
    ttl_of,
    with_options,
)

KNOWN = ("version", "ttl")


@pytest.mark.parametrize(
    ("text", "path", "options"),
    [
        ("secret/db", "secret/db", {}),
        ("secret/db?version=2", "secret/db", {"version": "2"}),
        ("db?version=2&ttl=5000", "db", {"version": "2", "ttl": "5000"}),
        ("what?/db?ttl=1", "what?/db", {"ttl": "1"}),
        ("what?", "what?", {}),
        ("what? a question", "what? a question", {}),
        ("?ttl=1", "", {"ttl": "1"}),
    ],
)
def test_options_stand_behind_the_last_question_mark(
    text: str, path: str, options: dict[str, str]
) -> None:
    assert split_options(text, KNOWN) == (path, options)


@pytest.mark.parametrize(
    "text", ["db?versoin=2", "db?version=1&version=2", "db?version=", "db?ttl=1&version="]
)
def test_an_unknown_repeated_or_empty_option_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(ConfigException, match="version"):
        split_options(text, KNOWN)


def test_options_can_be_split_off_whatever_they_are() -> None:
    assert split_any_options("db?colour=&ttl=1") == ("db", {"colour": "", "ttl": "1"})


def test_the_options_of_path_and_key_are_one() -> None:
    assert merged({"version": "1"}, {"ttl": "5", "version": "1"}, "db") == {
        "version": "1",
        "ttl": "5",
    }


@pytest.mark.parametrize(
    ("path_options", "key_options"),
    [
        ({"version": "1"}, {"version": "2"}),
        ({"version": "1"}, {"v": "2"}),
        ({"v": "1", "version": "2"}, {}),
    ],
)
def test_an_option_with_one_value_at_the_path_and_another_at_the_key_is_an_error(
    path_options: dict[str, str], key_options: dict[str, str]
) -> None:
    with pytest.raises(ConfigException, match=r"option 'v(ersion)?' stands twice for 'kv/db'"):
        merged(path_options, key_options, "kv/db", {"v": "version"})


def test_options_are_written_in_one_order() -> None:
    assert with_options("db", {"version": "2", "ttl": "1"}) == "db?ttl=1&version=2"
    assert with_options("db", {}) == "db"


def test_a_ttl_is_in_milliseconds() -> None:
    assert ttl_of({"ttl": "1500"}) == timedelta(seconds=1.5)
    assert ttl_of({}) is None


def test_a_ttl_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ConfigException, match="milliseconds"):
        ttl_of({"ttl": "5m"})
