"""What connectors there are, and what they take."""

from __future__ import annotations

import pytest
from worker.rest.orders import CLASS, CONFIG, REFERENCE, Client

FILE = "configproviders.worker.connectors.file_stream.FileStreamSourceConnector"


def test_connectors_that_are_installed_are_listed_sinks_first(ask: Client) -> None:
    plugins = ask("GET", "/connector-plugins").json

    assert {"class", "type", "version"} == plugins[0].keys()
    assert [each["type"] for each in plugins] == sorted(each["type"] for each in plugins)
    assert FILE in [each["class"] for each in plugins]


def test_there_are_no_plugins_but_connectors(ask: Client) -> None:
    all_plugins = ask("GET", "/connector-plugins?connectorsOnly=false").json

    assert all_plugins == ask("GET", "/connector-plugins").json


def test_the_settings_of_a_connector_begin_with_its_own(ask: Client) -> None:
    settings = ask("GET", f"/connector-plugins/{CLASS}/config").json

    names = [each["name"] for each in settings]
    assert names[:5] == ["table", "rate", "password", "name", "connector.class"]
    assert settings[1] == {
        "name": "rate",
        "type": "INT",
        "required": False,
        "default_value": "1",
        "importance": "HIGH",
        "documentation": "How often.",
        "group": None,
        "order": -1,
        "width": "NONE",
        "display_name": "rate",
        "dependents": [],
    }


@pytest.mark.parametrize("name", ["FileStreamSource", "FileStreamSourceConnector", FILE])
def test_a_connector_has_several_names(ask: Client, name: str) -> None:
    config = {"connector.class": FILE}

    assert ask("GET", f"/connector-plugins/{name}/config").status == 200
    assert ask("PUT", f"/connector-plugins/{name}/config/validate", config).status == 200


@pytest.mark.parametrize("name", ["Nothing", "os:system", "os%3Asystem", "%20", "a:b:c"])
def test_a_connector_that_is_not_installed_is_not_found(ask: Client, name: str) -> None:
    assert ask("GET", f"/connector-plugins/{name}/config").status == 404
    assert ask("PUT", f"/connector-plugins/{name}/config/validate", CONFIG).status == 404


def test_what_is_wrong_with_a_config_is_told_with_200(ask: Client) -> None:
    config = {**CONFIG, "name": "orders", "rate": "fast", "table": None}

    answer = ask("PUT", f"/connector-plugins/{CLASS}/config/validate", config)

    assert answer.status == 200
    assert (answer.json["name"], answer.json["error_count"]) == (CLASS, 2)
    values = {each["value"]["name"]: each["value"] for each in answer.json["configs"]}
    assert values["rate"]["errors"]
    assert values["table"]["errors"]
    assert values["password"]["errors"] == []
    assert values["password"]["value"] in {REFERENCE, "[hidden]"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "no connector.class"),
        ({"connector.class": "FileStreamSource"}, "does not match request type"),
        ({"connector.class": "Nothing"}, "Nothing"),
    ],
)
def test_a_config_for_another_connector_is_refused(
    ask: Client, config: dict[str, str], message: str
) -> None:
    answer = ask("PUT", f"/connector-plugins/{CLASS}/config/validate", config)

    assert answer.status == 400
    assert message in answer.error
    assert "orders" not in answer.error.replace(CLASS, "")
