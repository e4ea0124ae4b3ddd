from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from configproviders import ConfigTransformer
from configproviders.config_def import (
    INT,
    NO_DEFAULT,
    PASSWORD,
    STRING,
    ConfigDef,
    ConfigKey,
    between,
    one_of,
)
from configproviders.data import Password
from configproviders.known_values import REDACTED
from configproviders.spark.cleaning import clean
from configproviders.testing import CANARY, StaticConfigProvider
from configproviders.worker.config_infos import ConfigInfos, written
from configproviders.worker.connector import Connector, Task
from configproviders.worker.plugins import Plugins
from configproviders.worker.validation import Validation

SECRETS = {"password": f"pass-{CANARY}", "url": f"url-{CANARY}", "rate": "7", "fast": CANARY}
CLASS = "ticking:TickerConnector"
GOOD = {"name": "t1", "connector.class": CLASS, "rate": "3"}


class Ticking(Task):
    def run(self) -> None:
        pass


class TickerConnector(Connector):
    type = "source"
    task_class = Ticking
    config_def = ConfigDef(
        (
            ConfigKey(
                "rate",
                INT,
                NO_DEFAULT,
                "high",
                "ticks per second",
                validator=between(1, 10),
                group="Pace",
                width="SHORT",
                display_name="Rate",
                dependents=("unit",),
            ),
            ConfigKey("password", PASSWORD, None, "high", "It."),
            ConfigKey("unit", one_of("s", "ms"), "s", "low", "It.", group="Pace"),
            ConfigKey("options.<name>", STRING, None, "low", "An option.", group="Pace"),
        )
    )

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        if config.get("url") == "broken":
            raise OSError(f"cannot reach {config['password']}")
        return {"url": [f"no host in {config['url']}"]} if "url" in config else {}


class Unmakeable(TickerConnector):
    def __init__(self) -> None:
        raise ValueError(CANARY)


class Talkative(TickerConnector):
    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        logging.getLogger("of.a.driver").warning("config: %s", config)
        return {f"of {config['password']}": [config["password"]]}


class Careless(TickerConnector):
    def validate(self, config: Mapping[str, str]) -> Any:
        return {"rate": "one text", "unit": ()} if config["rate"] == "3" else None


@pytest.fixture(autouse=True)
def ticking() -> Iterator[None]:
    module = ModuleType("ticking")
    for each in (TickerConnector, Unmakeable, Careless, Talkative):
        setattr(module, each.__name__, each)
        each.__module__ = "ticking"
    sys.modules["ticking"] = module
    yield
    del sys.modules["ticking"]


def validate(config: Mapping[str, str | None]) -> ConfigInfos:
    transformer = ConfigTransformer({"s": StaticConfigProvider({"db": SECRETS})})
    infos = Validation(Plugins(["ticking"]), transformer).validate(config)
    assert CANARY not in json.dumps(infos.to_json())
    assert CANARY not in repr(infos)
    return infos


def values(infos: ConfigInfos) -> dict[str, str | None]:
    return {each.name: each.value for each in infos.configs}


def test_a_good_config_has_no_errors_and_is_shown_with_defaults() -> None:
    infos = validate(GOOD)

    assert infos.errors == []
    assert values(infos).items() >= {"name": "t1", "tasks.max": "1", "unit": "s"}.items()


def test_a_connector_gets_values_that_hide_themselves_and_are_cleaned_from_what_it_says(
    caplog: pytest.LogCaptureFixture,
) -> None:
    config = {**GOOD, "connector.class": "ticking:Talkative", "password": "${s:db:password}"}

    infos = validate(config)

    assert infos.errors == [(f"of {REDACTED}", REDACTED)]
    assert "'password': [hidden]" in caplog.text
    assert clean(SECRETS["password"]) == REDACTED


def test_the_answer_is_that_of_kafka_connect() -> None:
    answer = validate({"name": "t1", "connector.class": CLASS, "rate": "fast", "zz": "1"}).to_json()

    assert (answer["name"], answer["error_count"]) == (CLASS, 1)
    assert answer["groups"] == ["Common", "Transforms", "Predicates", "Pace"]
    assert answer["configs"][0]["value"] == {
        "name": "name",
        "value": "t1",
        "recommended_values": [],
        "errors": [],
        "visible": True,
    }
    rate = next(each for each in answer["configs"] if each["value"]["name"] == "rate")
    assert rate == {
        "definition": {
            "name": "rate",
            "type": "INT",
            "required": True,
            "default_value": None,
            "importance": "HIGH",
            "documentation": "ticks per second",
            "group": "Pace",
            "order": 1,
            "width": "SHORT",
            "display_name": "Rate",
            "dependents": ["unit"],
        },
        "value": {
            "name": "rate",
            "value": None,
            "recommended_values": [],
            "errors": [
                (
                    "Invalid value fast for configuration rate: write a whole number from"
                    " -2147483648 to 2147483647"
                )
            ],
            "visible": True,
        },
    }


def test_settings_without_a_group_and_defaults_are_written_as_kafka_does() -> None:
    found = {each.name: each for each in validate(GOOD | {"options.a": "x"}).configs}

    definitions = {name: each.definition or {} for name, each in found.items()}
    assert definitions["password"]["order"] == -1
    assert definitions["password"]["group"] is None
    assert definitions["tasks.max"]["default_value"] == "1"
    assert definitions["tasks.max.enforce"]["default_value"] == "true"
    assert definitions["options.a"]["order"] == 3
    assert definitions["options.a"]["display_name"] == "options.a"
    assert found["unit"].recommended == ("s", "ms")
    assert "zz" not in found


def test_values_are_validated_and_references_are_shown() -> None:
    config = GOOD | {"rate": "${s:db:rate}", "options.url": "x=${s:db:url}"}

    infos = validate(config)

    assert infos.errors == []
    assert values(infos).items() >= {"rate": "${s:db:rate}", "options.url": "x=${s:db:url}"}.items()


def test_a_password_is_hidden_however_it_is_given() -> None:
    assert values(validate(GOOD | {"password": f"{CANARY}-2"}))["password"] == "[hidden]"
    assert values(validate(GOOD | {"password": "${s:db:password}"}))["password"] == "[hidden]"
    assert values(validate(GOOD))["password"] is None


def test_a_value_from_a_reference_is_in_no_message() -> None:
    infos = validate(GOOD | {"rate": "${s:db:fast}"})

    assert [message.partition(":")[0] for _, message in infos.errors] == [
        "Invalid value [hidden] for configuration rate"
    ]


def test_what_the_connector_says_is_cleaned_and_stands_first_without_a_definition() -> None:
    infos = validate(GOOD | {"url": "${s:db:url}"})

    assert infos.errors == [("url", f"no host in {REDACTED}")]
    assert infos.to_json()["configs"][0]["definition"] is None


def test_all_that_cannot_be_resolved_is_said_at_once_on_its_key() -> None:
    infos = validate(
        GOOD
        | {
            "rate": "${s:db:rat}",
            "options.a": "${s:nowhere:a} ${t:db:a}",
            "password": "${s:db:password}",
        }
    )

    assert [key for key, _ in infos.errors] == ["rate", "options.a", "options.a"]
    assert infos.errors[0][1].startswith("${s:db:rat}: no key 'rat' at 'db'")
    assert values(infos)["rate"] == "${s:db:rat}"


@pytest.mark.parametrize("name", ["nobody", "os:system", "ticking2:Ticker", ""])
def test_an_unknown_class_is_an_error_on_its_key(name: str) -> None:
    infos = validate(GOOD | {"connector.class": name, "tasks.max": "0"})

    assert infos.name == name
    assert [key for key, _ in infos.errors] == ["connector.class", "tasks.max"]


def test_a_config_without_a_class_lacks_it() -> None:
    infos = validate({})

    assert [key for key, _ in infos.errors] == ["name", "connector.class"]


def test_a_null_is_an_error() -> None:
    infos = validate(GOOD | {"rate": None, "zz": None, "name": None})

    assert [key for key, _ in infos.errors] == ["zz", "name", "rate"]
    assert {message for _, message in infos.errors} == {
        "Null value can not be supplied as the configuration value"
    }


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"url": "broken", "password": "${s:db:password}"}, "OSError"),
        ({"connector.class": "ticking:Unmakeable"}, "ValueError"),
        ({"connector.class": "ticking:Careless", "rate": "4"}, "AttributeError"),
    ],
)
def test_a_connector_that_fails_is_an_error_on_its_class(
    config: dict[str, str], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    infos = validate(GOOD | config)

    assert [key for key, _ in infos.errors] == ["connector.class"]
    assert kind in infos.errors[0][1]
    assert [each.levelno for each in caplog.records] == [logging.ERROR]
    assert CANARY not in caplog.text


def test_one_text_in_the_place_of_several_is_one_message() -> None:
    infos = validate(GOOD | {"connector.class": "ticking:Careless"})

    assert infos.errors == [("rate", "one text")]


def test_what_is_refused_is_neither_looked_up_nor_handed_on() -> None:
    provider = StaticConfigProvider({"db": SECRETS})
    validation = Validation(Plugins(["ticking"]), ConfigTransformer({"s": provider}))

    infos = validation.validate(
        GOOD | {"spark.sql.x": "${s:db:url}", "config.providers.a.class": "${s:db:url}"}
    )

    assert [key for key, _ in infos.errors] == ["spark.sql.x", "config.providers.a.class"]
    assert provider.calls == []


def test_confs_that_a_session_cannot_set_are_refused_by_who_knows() -> None:
    asked: list[set[str]] = []

    def refused_confs(keys: Any) -> dict[str, str]:
        asked.append(set(keys))
        return {"spark.sql.warehouse.dir": "it is static"}

    validation = Validation(Plugins(["ticking"]), ConfigTransformer({}), refused_confs)
    confs = {"spark.sql.warehouse.dir": "/x", "spark.sql.ansi.enabled": "true", "spark.x": "1"}

    infos = validation.validate(GOOD | confs)

    assert asked == [{"spark.sql.warehouse.dir", "spark.sql.ansi.enabled"}]
    assert dict(infos.errors).keys() == {"spark.sql.warehouse.dir", "spark.x"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (1.5, "1.5"),
        (("a", "b"), "a,b"),
        (timedelta(seconds=2), "2000"),
        (Password(CANARY), "[hidden]"),
    ],
    ids=str,
)
def test_a_default_is_written_as_a_config_has_it(value: object, text: str | None) -> None:
    assert written(value) == text
