from __future__ import annotations

import pytest

from configproviders import ConfigException, properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb=2\rc=3\r\nd=4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("a=1\u20282\u0085\x0b3", {"a": "1\u20282\u0085\x0b3"}),
        (" \t\fa \t\f= \t\f1 \t\f", {"a": "1 \t\f"}),
        ("\u00a0a=1", {"\u00a0a": "1"}),
        ("# c\n  ! c\na=#1\n#c\\\nb=2", {"a": "#1", "b": "2"}),
        ("a = = 1", {"a": "= 1"}),
        ("a:=1", {"a": "=1"}),
        ("a 1\nb", {"a": "1", "b": ""}),
        ("a=1\\\n  2\\\r\n\t3", {"a": "123"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n#2", {"a": "1#2"}),
        ("a=1\\\n\nb=2", {"a": "1", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("\\", {"": ""}),
        ("\\\n", {"": ""}),
        ("\\\r\n", {}),
        ("\\\n\n", {}),
        ("\\\n# x", {}),
        ("\\\n  b=2", {"b": "2"}),
        ("=v", {"": "v"}),
        ("a\\u003db=1", {"a=b": "1"}),
        ("a\\=b\\:c\\ d=1", {"a=b:c d": "1"}),
        ("a=\\ud83d\\ude00", {"a": "\U0001f600"}),
        ("a=\\ud83d!", {"a": "\ud83d!"}),
        ("a=\\t\\n\\r\\f\\x\\0\\U\\\\", {"a": "\t\n\r\fx0U\\"}),
        ("#\\u12\na=1", {"a": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("\ufeffa=1", {"\ufeffa": "1"}),
        ("", {}),
    ],
)
def test_a_text_is_read_as_java_reads_it(text: str, expected: dict[str, str]) -> None:
    assert properties.loads(text) == expected


@pytest.mark.parametrize("escape", ["\\u", "\\u12", "\\u12g4", "\\uu0041", "\\u 041", "\\u１234"])
def test_a_malformed_escape_is_an_error_that_names_the_line_and_no_value(escape: str) -> None:
    with pytest.raises(ConfigException, match=r"^line 3: ") as caught:
        properties.loads(f"# c\nfine=1\nsecret=hunter2{escape}")

    assert "hunter2" not in str(caught.value)


def test_the_line_of_an_error_is_where_its_entry_starts() -> None:
    with pytest.raises(ConfigException, match=r"^line 2: "):
        properties.loads("a=1\nb=\\\n\\\n\\u1\nc=3")


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ({"b": "2", "a": "1"}, "b=2\na=1\n"),
        ({"a b": " x  y "}, "a\\ b=\\ x  y \n"),
        ({"k": "=:#!\\"}, "k=\\=\\:\\#\\!\\\\\n"),
        ({"k": "\t\n\r\f"}, "k=\\t\\n\\r\\f\n"),
        ({"ключ": "\U0001f600\x00\x7f"}, "ключ=\U0001f600\x00\x7f\n"),
        ({"": ""}, "=\n"),
        ({}, ""),
    ],
)
def test_pairs_are_written_as_java_writes_them_in_their_own_order(
    pairs: dict[str, str], text: str
) -> None:
    assert properties.dumps(pairs) == text


def test_what_was_written_is_read_back() -> None:
    pairs = {"a b": "\\u0041 \n# x = ${file:/a:b}", "": " ", "!": "\ufeff", "k": "\ud800"}

    assert properties.loads(properties.dumps(pairs)) == pairs
