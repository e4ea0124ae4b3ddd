from __future__ import annotations

import re
import time

import pytest

from configproviders import ConfigException
from configproviders.reference import Reference, find, substitute

# The table of facts: text, then provider, path and key of each reference in it.
GRAMMAR = [
    ("${p:a:k}", [("p", "a", "k")]),
    ("${p:k}", [("p", "", "k")]),
    ("${p::k}", [("p", "", "k")]),
    ("${p:C:\\x:k}", [("p", "C", "\\x:k")]),
    ("${p:https://h/s:k}", [("p", "https", "//h/s:k")]),
    ("${p:arn:aws:sm:eu:1:secret:n:k}", [("p", "arn", "aws:sm:eu:1:secret:n:k")]),
    ("${ p:k }", [(" p", "", "k ")]),
    ("$${p:k}", [("p", "", "k")]),
    ("\\${p:k}", [("p", "", "k")]),
    ("${a:${b:c}}", [("a", "${b", "c")]),
    ("costs ${5 or ${env:X}", [("5 or ${env", "", "X")]),
    ("${::}", [("", "", "")]),
    ("${:}", [("", "", "")]),
    ("${:/a:somevar}", [("", "/a", "somevar")]),
    ("${file:/a/b/c:}", [("file", "/a/b/c", "")]),
    ("${p:a\nb:k\n}", [("p", "a\nb", "k\n")]),
    ("${p:k", []),
    ("${p}", []),
    ("${}", []),
    ("{p:k}", []),
    ("$ {p:k}", []),
    ("$", []),
    ("${topic}-${timestamp}", []),
    ("${topic}${p:k}", [("p", "", "k")]),
    ("${a:b}x${c:d:e}", [("a", "", "b"), ("c", "d", "e")]),
    ("$<p:a:k>", [("p", "a", "k")]),
    ("$<p:a}b:k}>", [("p", "a}b", "k}")]),
    ("${p:a>b:k>}", [("p", "a>b", "k>")]),
    ("${a $<p:k> b:c}", [("a $<p", "k> b", "c")]),
    ("$<a ${p:k} b:c>", [("a ${p", "k} b", "c")]),
    ("${a $<p:k>", [("p", "", "k")]),
    ("${a} $<p:k>", [("p", "", "k")]),
    ("$<p> ${p:k}", [("p", "", "k")]),
    ("${p:k>", []),
    ("$<p:k}", []),
]


@pytest.mark.parametrize(("text", "expected"), GRAMMAR)
def test_the_grammar(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(r.provider, r.path, r.key) for r in find(text)] == expected


def test_a_reference_knows_its_text_and_where_it_stands() -> None:
    assert find("x ${a:b:c}$<d:e>") == (
        Reference("a", "b", "c", "${a:b:c}", 2),
        Reference("d", "", "e", "$<d:e>", 10),
    )


@pytest.mark.parametrize(
    "unit",
    ["${a:", "$<a:", "${", "$", "$<${:>", "${$<:}", "${a:}$<", "$<a:${b>:", "a:${", "}${", ":"],
)
def test_the_time_is_linear_whatever_the_text(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        start = time.process_time()
        find(text)
        return time.process_time() - start

    # Kafka's pattern needs 24 s for 1,000 characters; a quadratic scan would need minutes here.
    assert seconds(100_000) < 1
    assert seconds(1_000_000) < 10


def test_a_pattern_of_the_user_replaces_the_grammar() -> None:
    named = re.compile(r"%\((?P<provider>\w+)/(?P<key>\w+)\)")
    kafka = re.compile(r"@\[(.*?):((.*?):)?(.*?)\]")

    assert find("%(env/X) ${a:b}", named) == (Reference("env", "", "X", "%(env/X)", 0),)
    assert find("@[a:b:c] @[d:e]", kafka) == (
        Reference("a", "b", "c", "@[a:b:c]", 0),
        Reference("d", "", "e", "@[d:e]", 9),
    )


def test_a_pattern_without_the_groups_is_an_error_that_names_them() -> None:
    with pytest.raises(ConfigException, match="no groups named 'provider' and 'key'"):
        find("x", re.compile("x"))


def test_values_are_put_in_once_and_never_looked_into() -> None:
    text = "${a:b} and ${a:c}${a:d}"
    values = {("a", ""): {"b": "${a:c}", "c": "${a:", "d": "b}"}}

    done, complete = substitute({"k": text}, {"k": find(text)}, values)

    assert done == {"k": "${a:c} and ${a:b}"}
    assert complete


def test_a_reference_without_a_value_stays_as_typed() -> None:
    text = "<${a:b}|${a:c}|$<a:d>>"

    done, complete = substitute({"k": text}, {"k": find(text)}, {("a", ""): {"c": ""}})

    assert done == {"k": "<${a:b}||$<a:d>>"}
    assert not complete
