from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from configproviders import ConfigException
from configproviders.config_def import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    MILLISECONDS,
    NO_DEFAULT,
    PASSWORD,
    SECONDS,
    SHORT,
    STRING,
    WHOLE_NUMBER,
    Alias,
    ConfigDef,
    ConfigKey,
    ConfigType,
    at_least,
    between,
    not_empty,
    one_of,
)
from configproviders.data import Password

TIMEOUT = ConfigKey(
    "timeout.ms",
    MILLISECONDS,
    timedelta(seconds=30),
    "medium",
    "How long a lookup may take.",
    (Alias("timeout.seconds", "csid", SECONDS), Alias("timeout", "Lenses")),
)


def test_an_alias_counts_in_its_own_unit() -> None:
    assert TIMEOUT.read({"timeout.seconds": "2"}) == timedelta(seconds=2)
    assert TIMEOUT.read({"timeout": "2"}) == timedelta(milliseconds=2)
    assert TIMEOUT.read({}) == timedelta(seconds=30)


def test_two_names_may_say_the_same() -> None:
    assert TIMEOUT.read({"timeout.seconds": "2", "timeout.ms": "2000"}) == timedelta(seconds=2)


def test_two_names_that_differ_are_an_error_that_names_both() -> None:
    with pytest.raises(ConfigException, match=r"'timeout\.ms' and 'timeout\.seconds' differ"):
        TIMEOUT.read({"timeout.seconds": "2", "timeout.ms": "2"})


def test_an_alias_is_a_known_setting() -> None:
    ConfigDef((TIMEOUT,)).validate({"timeout.seconds": "2"})

    with pytest.raises(ConfigException, match=r"did you mean 'timeout\.ms'"):
        ConfigDef((TIMEOUT,)).validate({"timeout.mss": "2"})


@pytest.mark.parametrize("text", ["-1", "1.5", "", "٣", "s3cr3t"])
def test_a_whole_number_is_digits(text: str) -> None:
    with pytest.raises(ConfigException, match="write digits") as caught:
        ConfigKey("n", WHOLE_NUMBER, 0, "low", "A number.").read({"n": text})

    assert "s3cr3t" not in str(caught.value)


def test_a_word_counts_in_any_case_and_by_its_synonyms() -> None:
    method = ConfigKey("m", one_of("cert", "aws", tls="cert"), None, "low", "A method.")

    assert method.read({"m": "CERT"}) == method.read({"m": "tls"}) == "cert"
    with pytest.raises(ConfigException, match="write one of cert"):
        method.read({"m": "password"})


RATE = ConfigKey("rate", INT, NO_DEFAULT, "high", "Ticks.", validator=between(1, 10))
OPTION = ConfigKey("options.<name>", INT, None, "low", "An option.")


@pytest.mark.parametrize(
    ("config_type", "text", "value"),
    [
        (INT, " -2147483648 ", -(2**31)),
        (SHORT, "32767", 32767),
        (LONG, "+9223372036854775807", 2**63 - 1),
        (DOUBLE, "1.5e3", 1500.0),
        (BOOLEAN, "True", True),
        (LIST, "a, b ,c", ("a", "b", "c")),
        (LIST, " ", ()),
        (PASSWORD, "s3cr3t", Password("s3cr3t")),
    ],
)
def test_texts_of_kafkas_types_are_read(
    config_type: ConfigType[object], text: str, value: object
) -> None:
    assert ConfigKey("k", config_type, None, "low", "It.").read({"k": text}) == value


@pytest.mark.parametrize(
    ("config_type", "text"),
    [(INT, "4000000000"), (SHORT, "40000"), (INT, "1.0"), (LONG, "9" * 5000), (DOUBLE, "s3cr3t")],
)
def test_what_is_no_number_of_the_type_is_refused_without_the_text(
    config_type: ConfigType[object], text: str
) -> None:
    with pytest.raises(ConfigException, match="write a ") as caught:
        ConfigKey("k", config_type, None, "low", "It.").read({"k": text})

    assert text not in str(caught.value)
    assert text not in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("validator", "value"),
    [(at_least(1), 0), (at_least(0), float("nan")), (between(1, 2), 3), (not_empty, "")],
)
def test_a_validator_refuses_what_it_says(validator: Callable[[object], None], value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        validator(value)


def test_a_setting_without_a_default_must_be_given() -> None:
    with pytest.raises(ConfigException, match=r"rate.*no default"):
        RATE.read({})

    assert RATE.read({"rate": "3"}) == 3


def test_a_setting_that_its_validator_refuses_is_an_error() -> None:
    with pytest.raises(ConfigException, match="'rate' cannot be that: value must be from 1 to 10"):
        RATE.read({"rate": "11"})


def test_a_name_stands_for_all_settings_that_begin_as_it_does() -> None:
    config = {"options.a": "1", "options.b.c": "2", "options.": "x", "option": "x"}

    assert OPTION.members(config) == {"a": 1, "b.c": 2}
    assert [key.name for key in ConfigDef((OPTION,)).expanded(config)] == [
        "options.a",
        "options.b.c",
    ]


def test_a_setting_with_a_definition_of_its_own_is_none_of_a_family() -> None:
    own = ConfigKey("options.path", STRING, None, "high", "Where.")
    config_def = ConfigDef((OPTION, own))

    assert config_def.errors({"options.path": "/data", "options.a": "x"}).keys() == {"options.a"}


def test_the_strict_check_takes_families_and_refuses_other_names() -> None:
    config_def = ConfigDef((OPTION, TIMEOUT))

    config_def.validate({"options.a": "1", "timeout": "2"})

    with pytest.raises(ConfigException, match="no setting named 'optiens"):
        config_def.validate({"optiens.a": "1"})
    with pytest.raises(ConfigException, match=r"'options\.a' is not a whole number"):
        config_def.validate({"options.a": "one"})


def test_all_that_is_wrong_is_said_by_key_in_kafkas_words() -> None:
    errors = ConfigDef((RATE, TIMEOUT, OPTION)).errors(
        {"timeout": "soon", "options.a": "x\n", "unknown": "y"}
    )

    assert errors == {
        "rate": ['Missing required configuration "rate" which has no default value'],
        "timeout.ms": ["Invalid value soon for configuration timeout: write digits, 12 at most"],
        "options.a": [
            (
                r"Invalid value x\n for configuration options.a: write a whole number from"
                " -2147483648 to 2147483647"
            )
        ],
    }


def test_a_value_that_is_hidden_is_in_no_message() -> None:
    password = ConfigKey("pin", PASSWORD, None, "high", "It.", validator=refuse)
    errors = ConfigDef((RATE, password)).errors({"rate": "s3cr3t", "pin": "s3cr3t"}, {"rate"})

    assert errors.keys() == {"rate", "pin"}
    assert "s3cr3t" not in str(errors)
    assert errors["pin"] == ["Invalid value [hidden] for configuration pin: too weak"]


def test_a_type_that_quotes_the_text_does_not_give_it_away() -> None:
    quoting = ConfigKey("n", ConfigType("number", int), None, "low", "It.")

    assert quoting.error({"n": "pin"}) is not None
    assert "pin" not in str(quoting.error({"n": "pin"}, {"n"}))


def refuse(_: object) -> None:
    raise ValueError("too weak")
