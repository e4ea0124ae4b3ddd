from __future__ import annotations

import pytest

from configproviders import ConfigException
from configproviders.worker.connector_keys import CONNECTOR_DEF, refused, reload_action, tasks_max

GOOD = {"name": "orders", "connector.class": "FileStreamSource"}


def test_a_config_of_kafka_connect_is_taken_with_what_has_no_effect() -> None:
    config = GOOD | {
        "tasks.max": "4",
        "tasks.max.enforce": "false",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "header.converter": "x",
        "transforms": "",
        "errors.tolerance": "all",
        "config.action.reload": "NONE",
    }

    assert CONNECTOR_DEF.errors(config) == {}
    assert refused(config) == {}


@pytest.mark.parametrize("key", ["transforms", "predicates"])
def test_transforms_are_refused_since_nothing_would_be_transformed(key: str) -> None:
    assert CONNECTOR_DEF.errors(GOOD | {key: "mask"}).keys() == {key}


@pytest.mark.parametrize("name", ["", "a\nb", "a\x7fb", "a\x85b"])
def test_a_name_is_not_empty_and_has_no_control_characters(name: str) -> None:
    assert CONNECTOR_DEF.errors(GOOD | {"name": name}).keys() == {"name"}


@pytest.mark.parametrize("name", ["a/b c", "größe", "50%", " "])
def test_a_name_may_be_anything_else(name: str) -> None:
    assert CONNECTOR_DEF.errors(GOOD | {"name": name}) == {}


def test_name_and_class_must_be_given() -> None:
    assert CONNECTOR_DEF.errors({}).keys() == {"name", "connector.class"}
    assert CONNECTOR_DEF.errors(GOOD | {"connector.class": " "}).keys() == {"connector.class"}


@pytest.mark.parametrize("count", ["0", "-1", "many", "1.5"])
def test_there_is_at_least_one_task(count: str) -> None:
    with pytest.raises(ConfigException):
        tasks_max({"tasks.max": count})


def test_one_task_is_the_default() -> None:
    assert tasks_max({}) == 1
    assert tasks_max({"tasks.max": "3"}) == 3


def test_the_reload_action_has_two_spellings() -> None:
    assert reload_action({}) == "restart"
    assert reload_action({"config.action.reload": "None"}) == "none"
    assert reload_action({"config.reload.action": "none"}) == "none"
    assert reload_action({"config.action.reload": "none", "config.reload.action": "NONE"}) == "none"


def test_two_reload_actions_that_differ_are_an_error() -> None:
    config = GOOD | {"config.action.reload": "none", "config.reload.action": "restart"}

    assert "differ" in CONNECTOR_DEF.errors(config)["config.action.reload"][0]


@pytest.mark.parametrize(
    "config",
    [
        {"config.providers": "env"},
        {"config.providers.env.class": "os:system"},
        {"config.provider": "env"},
        {"spark.master": "local"},
        {"spark.driver.extraJavaOptions": "-Dx=1"},
        {"spark.sqlx": "1"},
        {"spark.sql.redaction.options.regex": "none"},
        {"spark.sql.session.timeZone": "${env::TZ}"},
        {"spark.sql.session.timeZone": "a$<env::TZ>b"},
        {"connector.class": "${env::CLASS}"},
        {"name": "${env::NAME}"},
        {"config.action.reload": "${env::ACTION}"},
        {"config.reload.action": "${env::ACTION}"},
    ],
    ids=str,
)
def test_who_may_change_a_connector_does_not_choose_code_nor_the_application(
    config: dict[str, str],
) -> None:
    assert refused(config).keys() == config.keys()


def test_confs_of_a_session_and_references_elsewhere_are_not_refused() -> None:
    config = {"spark.sql.shuffle.partitions": "4", "sink.options.password": "${env::PW}"}

    assert refused({**config, "sparkle": "x", "note": None}) == {}
