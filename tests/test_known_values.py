from __future__ import annotations

import html
import json
import re
import threading
from urllib.parse import quote, quote_plus

import pytest

from configproviders.known_values import REDACTED, KnownValues

VALUE = "pä/ss w\"rd<'\\&\n+%"


def known(*values: str) -> KnownValues:
    them = KnownValues()
    them.add(values)
    return them


@pytest.mark.parametrize(
    "written",
    [
        VALUE,
        quote(VALUE),
        quote(VALUE, safe=""),
        quote_plus(VALUE),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        json.dumps(VALUE)[1:-1].replace("/", "\\/"),
        json.dumps(VALUE)[1:-1].replace("00e4", "00E4"),
        re.sub("%..", lambda found: found[0].lower(), quote(VALUE)),
        html.escape(VALUE),
        VALUE.replace("'", "''"),
        repr(VALUE)[1:-1],
    ],
)
def test_a_value_is_found_as_other_programs_write_it(written: str) -> None:
    assert known(VALUE).clean(f"url={written}&x") == f"url={REDACTED}&x"


def test_a_short_value_is_hidden_only_where_it_is_all_there_is() -> None:
    them = known("1234567", "12345678")

    assert them.clean("1234567") == REDACTED
    assert them.clean("port 1234567.") == "port 1234567."
    assert them.clean("port 12345678.") == f"port {REDACTED}."


def test_of_two_values_that_begin_alike_the_longer_is_hidden_whole() -> None:
    them = known("password1", "password12345")

    assert them.clean("password12345 password1") == f"{REDACTED} {REDACTED}"


def test_values_may_be_added_at_any_time_and_empty_ones_are_none() -> None:
    them = known()
    them.add([""])
    assert them.clean("a first-value b") == "a first-value b"

    them.add(["first-value"])
    assert them.clean("a first-value b") == f"a {REDACTED} b"
    them.add(["other-value"])
    assert them.clean("first-value other-value") == f"{REDACTED} {REDACTED}"


def test_a_value_is_no_pattern_and_no_repr_shows_it() -> None:
    them = known(".*.*.*.*", "half a pair: \ud800")

    assert them.clean("any other text") == "any other text"
    assert "pair" not in repr(them)


def test_of_very_many_the_newest_are_known() -> None:
    them = known("the first value", "the second value")
    them.add(["the first value"])
    them.add(f"number {number:06}" for number in range(999))

    assert them.clean("the first value") == REDACTED
    assert them.clean("the second value") == "the second value"


def test_values_are_added_while_others_clean() -> None:
    them = known()
    added = [f"secret-value-{number}" for number in range(200)]

    def add() -> None:
        for value in added:
            them.add([value])
            them.clean("text")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {them.clean(value) for value in added} == {REDACTED}
