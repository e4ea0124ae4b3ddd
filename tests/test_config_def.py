from __future__ import annotations

from datetime import timedelta

import pytest

from configproviders import ConfigException
from configproviders.config_def import (
    MILLISECONDS,
    SECONDS,
    WHOLE_NUMBER,
    Alias,
    ConfigDef,
    ConfigKey,
    one_of,
)

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
