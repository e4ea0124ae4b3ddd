"""Where things are, whatever their names."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from worker.rest.orders import CONFIG, Client


@pytest.mark.parametrize(
    "name",
    ["a/b", "a%b", "a%2Fb", "a b", "a+b", "a?b", "a#b", "ä", "a/../b", "a\\b", "☃;x=1"],
)
def test_any_name_is_found_where_it_is_percent_encoded(ask: Client, name: str) -> None:
    created = ask("POST", "/connectors", {"name": name, "config": CONFIG})
    place = f"/connectors/{quote(name, safe='')}"

    found = ask("GET", place)

    assert created.headers["Location"] == place
    assert found.json["name"] == name
    assert ask("GET", f"{place}/status").json["name"] == name
    assert ask("DELETE", place).status == 204


def test_a_slash_that_is_not_encoded_is_no_part_of_a_name(ask: Client) -> None:
    ask("POST", "/connectors", {"name": "a/b", "config": CONFIG})

    assert ask("GET", "/connectors/a/b").status == 404


def test_a_path_that_is_no_text_is_refused(ask: Client) -> None:
    answer = ask("GET", "/connectors/%FF")

    assert answer.status == 400
    assert "UTF-8" in answer.error


@pytest.mark.parametrize("path", ["/connectors", "/connectors/orders", "/health", "/ui"])
def test_a_slash_at_the_end_means_the_same(orders: Client, path: str) -> None:
    assert orders("GET", f"{path}/").status == 200
    assert orders("GET", f"{path}/").text == orders("GET", path).text


@pytest.mark.parametrize(
    "path", ["/nothing", "/connectors//status", "/connectors/orders/", "/ui/a/b"]
)
def test_what_is_not_there_is_said_like_everything_else(ask: Client, path: str) -> None:
    answer = ask("GET", path)

    assert answer.status == 404
    assert "not found" in answer.error.lower()


def test_a_method_that_is_not_there_is_refused_with_those_that_are(ask: Client) -> None:
    answer = ask("DELETE", "/connectors")

    assert answer.status == 405
    assert answer.error == "HTTP 405 Method Not Allowed"
    assert answer.headers["Allow"] == "GET, HEAD, POST, OPTIONS"


def test_options_say_what_there_is(ask: Client) -> None:
    answer = ask("OPTIONS", "/connectors/orders/config")

    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["Allow"] == "GET, HEAD, PUT, PATCH, OPTIONS"


def test_head_is_get_without_a_body(orders: Client) -> None:
    answer = orders("HEAD", "/connectors/orders")

    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["Content-Length"] == str(
        len(orders("GET", "/connectors/orders").text.encode())
    )


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/json", "application/*;q=0.5", "text/html, */*; q=0.1", "TEXT/*,*/*"],
)
def test_who_takes_json_gets_it(ask: Client, accept: str) -> None:
    answer = ask("GET", "/connectors", headers={"Accept": accept})

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/json;q=0.0"])
def test_who_takes_no_json_is_told_so_in_json(ask: Client, accept: str) -> None:
    answer = ask("GET", "/connectors", headers={"Accept": accept})

    assert answer.status == 406
    assert answer.error == "HTTP 406 Not Acceptable"
