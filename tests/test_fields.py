from __future__ import annotations

import pytest

from configproviders import fields
from configproviders.errors import MalformedText

SECRET = """{
  "user": "orders", "port": 5432, "rate": 1.10, "huge": 12345678901234567890123456789, "tls": true,
  "none": null, "nested": {"b": [1, {"c~/d": "deep"}], "a": "é"}, "/literal": "wins", "": "empty"
}"""


def select(*keys: str) -> dict[str, str]:
    document = fields.parse(SECRET)
    assert isinstance(document, dict)
    return fields.select(document, keys)


def test_text_stays_and_numbers_stay_as_typed() -> None:
    assert select("user", "port", "rate", "huge", "tls") == {
        "user": "orders",
        "port": "5432",
        "rate": "1.10",
        "huge": "12345678901234567890123456789",
        "tls": "true",
    }


def test_what_is_nested_becomes_canonical_json() -> None:
    assert select("nested") == {"nested": '{"a":"é","b":[1,{"c~/d":"deep"}]}'}


def test_a_null_is_no_value() -> None:
    assert select("none", "absent") == {}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/nested/a", "é"),
        ("/nested/b/0", "1"),
        ("/nested/b/1/c~0~1d", "deep"),
        ("/nested/b", '[1,{"c~/d":"deep"}]'),
        ("/user", "orders"),
        ("/", "empty"),
        ("/literal", "wins"),
    ],
)
def test_a_pointer_reaches_inside(pointer: str, value: str) -> None:
    assert select(pointer) == {pointer: value}


@pytest.mark.parametrize("pointer", ["/nested/b/2", "/nested/b/01", "/nested/b/-", "/user/0"])
def test_a_pointer_to_nothing_is_no_value(pointer: str) -> None:
    assert select(pointer) == {}


@pytest.mark.parametrize("text", ['{"a": s3cr3t}', b"\xff", "[" * 100_000])
def test_a_text_that_is_not_json_is_an_error_without_it(text: str | bytes) -> None:
    with pytest.raises(MalformedText) as caught:
        fields.parse(text)

    assert "s3cr3t" not in str(caught.value)
