from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from configproviders import ConfigTransformer, UnresolvedError
from configproviders.known_values import REDACTED
from configproviders.spark import cleaning
from configproviders.testing import StaticConfigProvider
from configproviders.worker.tracking import Tracked, turn_back

PASSWORD, USER, PIN = "${s:db:password}", "${s:db:user}", "${s:db:pin}"
VALUES = {"password": "tr0ub4dor&3", "user": "postgres", "pin": "4711"}
RAW = {
    "connection.url": "jdbc:postgresql://db/orders",
    "connection.password": PASSWORD,
    "connection.user": USER,
    "connection.pin": f"no. {PIN}",
}


def transformer(values: Mapping[str, str]) -> ConfigTransformer:
    return ConfigTransformer({"s": StaticConfigProvider({"db": values})})


def tracked(
    task_config: Mapping[str, str],
    *,
    raw: Mapping[str, str] = RAW,
    values: Mapping[str, str] = VALUES,
) -> Tracked:
    return turn_back(task_config, raw, transformer(values).transform(raw))


def rotated(found: Tracked) -> dict[str, str]:
    """Return the config after each secret has changed to its own key, in capitals."""
    return found.resolve(transformer({key: key.upper() for key in VALUES}))


def test_a_config_that_is_handed_on_is_the_raw_one_again() -> None:
    found = tracked(transformer(VALUES).transform(RAW).data)

    assert found.shown == RAW
    assert rotated(found) == {
        "connection.url": "jdbc:postgresql://db/orders",
        "connection.password": "PASSWORD",
        "connection.user": "USER",
        "connection.pin": "no. PIN",
    }


@pytest.mark.parametrize(
    ("text", "shown", "later"),
    [
        ("tr0ub4dor&3", PASSWORD, "PASSWORD"),
        ("4711", PIN, "4711"),  # So short a text may be the same by chance.
        ("a=tr0ub4dor&3;b=postgres", f"a={PASSWORD};b={USER}", "a=PASSWORD;b=USER"),
        ("tr0ub4dor&3:tr0ub4dor&3", f"{PASSWORD}:{PASSWORD}", "PASSWORD:PASSWORD"),
        ("", "", ""),
        ("as it is", "as it is", "as it is"),
    ],
)
def test_a_value_is_found_under_another_key(text: str, shown: str, later: str) -> None:
    found = tracked({"renamed": text})

    assert found.shown == {"renamed": shown}
    assert rotated(found) == {"renamed": later}


def test_a_short_value_within_a_text_is_found_under_its_own_key_only() -> None:
    found = tracked({"connection.pin": "pin 4711.", "port": "port 4711."})

    assert found.shown == {"connection.pin": f"pin {PIN}.", "port": "port 4711."}
    assert rotated(found) == {"connection.pin": "pin PIN.", "port": "port 4711."}


def test_a_value_within_a_word_is_hidden_but_stays_when_it_changes() -> None:
    found = tracked({"driver": "org.postgresql.Driver", "url": "jdbc:postgresql://other"})

    assert found.shown == {
        "driver": f"org.{REDACTED}ql.Driver",
        "url": f"jdbc:{REDACTED}ql://other",
    }
    assert rotated(found) == {"driver": "org.postgresql.Driver", "url": "jdbc:postgresql://other"}


@pytest.mark.parametrize("url", ["jdbc:postgresql://db/orders", "jdbc:postgresql://db/postgres"])
def test_what_was_typed_under_another_key_is_shown_though_a_value_stands_in_it(url: str) -> None:
    found = tracked({"source.options.url": url}, raw={**RAW, "connection.url": url})

    assert found.shown == {"source.options.url": url}
    assert rotated(found) == {"source.options.url": url}


def test_what_was_typed_is_hidden_where_it_is_a_value() -> None:
    found = tracked({"source.options.user": "postgres"}, raw={**RAW, "owner": "postgres"})

    assert found.shown == {"source.options.user": USER}
    assert rotated(found) == {"source.options.user": "USER"}


@pytest.mark.parametrize("encode", [lambda text: quote(text, safe=""), lambda text: repr([text])])
def test_an_encoded_value_is_hidden_and_stays(encode: object) -> None:
    value = "it's \\ a/secret"
    text = f"x={encode(value)}&y"  # type: ignore[operator]  # mypy sees no callable in a lambda.

    found = tracked({"blob": text}, values=VALUES | {"password": value})

    assert REDACTED in found.shown["blob"]
    assert "secret" not in found.shown["blob"]
    assert rotated(found) == {"blob": text}


def test_a_text_in_json_that_needs_no_encoding_is_put_back() -> None:
    found = tracked({"json": json.dumps({"pw": "tr0ub4dor&3"})})

    assert rotated(found) == {"json": '{"pw": "PASSWORD"}'}


def test_of_two_values_that_overlap_neither_is_shown_in_part() -> None:
    values = {"user": "abcdefgh-1", "password": "gh-12345678", "pin": "abcdefgh"}

    found = tracked({"a": "(abcdefgh-12345678)", "b": "abcdefgh-1", "c": "abcdefgh"}, values=values)

    assert found.shown == {"a": f"({REDACTED})", "b": USER, "c": PIN}


def test_of_two_references_with_one_value_that_of_the_same_key_is_taken() -> None:
    raw = {"first": USER, "second": PASSWORD}
    values = VALUES | {"user": "the-same-value", "password": "the-same-value"}

    found = tracked(
        {"second": "x the-same-value", "third": "x the-same-value"}, raw=raw, values=values
    )

    assert found.shown == {"second": f"x {PASSWORD}", "third": f"x {USER}"}


def test_a_value_that_looks_like_a_reference_is_not_resolved_again() -> None:
    values = VALUES | {"password": "${s:db:user}", "user": "${s:db:pin}x"}
    task_config = {"a": "see ${s:db:user}", "b": "x${s:db:pin}x", "c": "${s:db:unknown}"}

    found = tracked(task_config, values=values)

    assert found.shown["a"] == f"see {PASSWORD}"
    assert found.resolve(transformer(values)) == task_config


def test_an_unresolved_reference_fails_when_the_task_is_restarted() -> None:
    found = tracked({"a": "tr0ub4dor&3", "b": "user postgres", "c": "c"})

    with pytest.raises(UnresolvedError) as caught:
        found.resolve(transformer({"user": "root"}))

    assert [(each.config_key, each.reference.text) for each in caught.value.unresolved] == [
        ("a", PASSWORD)
    ]


def test_what_is_resolved_again_is_cleaned_from_then_on() -> None:
    tracked({"a": "tr0ub4dor&3"}).resolve(transformer({"password": "new-after-rotation"}))

    assert cleaning.clean("pw=new-after-rotation") == f"pw={REDACTED}"


def test_the_repr_shows_no_value() -> None:
    found = tracked({"a": "xtr0ub4dor&3x", "b": quote(VALUES["password"])})

    assert "tr0ub4dor" not in repr(found)


UNTIMED = settings(deadline=None, derandomize=True, database=None)
CHARACTERS = st.text("ab1_-:/ ${}'\"\\%\näß", max_size=14)
SECRETS = st.fixed_dictionaries(dict.fromkeys(VALUES, CHARACTERS))
PIECES = st.lists(st.one_of(CHARACTERS, st.sampled_from(sorted(VALUES))), max_size=5)


@UNTIMED
@given(SECRETS, st.dictionaries(st.sampled_from(["connection.pin", "a", "b"]), PIECES))
def test_resolved_with_the_same_values_a_config_is_the_same(
    values: dict[str, str], texts: dict[str, list[str]]
) -> None:
    task_config = {key: joined(pieces, values) for key, pieces in texts.items()}

    found = tracked(task_config, values=values)

    assert found.resolve(transformer(values)) == task_config


@UNTIMED
@given(SECRETS, PIECES)
def test_no_value_is_ever_shown(values: dict[str, str], pieces: list[str]) -> None:
    typed = [piece for piece in pieces if piece not in values]
    long_values = [value for value in values.values() if len(value) >= 8]
    assume(not any(value in text for value in long_values for text in (*RAW.values(), REDACTED)))

    shown = tracked({"other": joined(pieces, values)}, values=values).shown["other"]

    for reference in (PASSWORD, USER, PIN, REDACTED):
        shown = shown.replace(reference, "\0")
    assert not any(value in shown for value in long_values), typed


@UNTIMED
@given(SECRETS, SECRETS, st.lists(st.sampled_from(sorted(VALUES)), max_size=4))
def test_values_that_stand_by_themselves_follow_a_rotation(
    before: dict[str, str], after: dict[str, str], keys: list[str]
) -> None:
    before = {key: f"<secret {key} {text}>" for key, text in before.items()}
    text = "|".join(before[key] for key in keys)

    found = tracked({"other": text}, values=before)

    assert found.shown["other"] == "|".join(f"${{s:db:{key}}}" for key in keys)
    assert found.resolve(transformer(after)) == {"other": "|".join(after[key] for key in keys)}


def joined(pieces: list[str], values: Mapping[str, str]) -> str:
    return "".join(values.get(piece, piece) for piece in pieces)
