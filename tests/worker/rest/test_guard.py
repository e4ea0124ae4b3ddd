"""Other people's web pages stay out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from worker.rest.orders import Client, InstantWorker

LISTED = {"listeners": "http://127.0.0.1:8083", "rest.advertised.host.name": "connect.example.com"}


@pytest.fixture
def ask(serve: Callable[..., Client]) -> Client:
    return serve(InstantWorker(**LISTED))


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8083",
        "127.0.0.1:8083",
        "[::1]:8083",
        "10.1.2.3",
        "connect.example.com",
    ],
)
def test_a_host_of_the_worker_passes(ask: Client, host: str) -> None:
    assert ask("GET", "/connectors", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "connect.example.com.evil.example",
        "localhost.evil.example:8083",
        "[::1",
        "@",
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(ask: Client, host: str) -> None:
    answer = ask("GET", "/connectors", headers={"Host": host})

    assert answer.status == 403
    assert "rest.allowed.hosts" in answer.error


def test_a_name_that_the_config_lists_passes(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"rest.allowed.hosts": "connect"}))

    assert ask("GET", "/connectors", headers={"Host": "connect:8083"}).status == 200
    assert ask("GET", "/connectors", headers={"Host": "other:8083"}).status == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8083", "http://localhost:8083"),
        ("127.0.0.1:9999", "http://127.0.0.1:9999"),
        ("localhost:8083", "https://connect.example.com"),
    ],
)
def test_the_page_of_the_worker_passes(ask: Client, host: str, origin: str) -> None:
    headers = {"Host": host, "Origin": origin}

    assert ask("GET", "/connectors", headers=headers).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:3000",
        "null",
        "",
        "http://connect.example.com.evil.example",
        "http://[",
    ],
)
def test_the_page_of_another_site_is_refused(ask: Client, origin: str) -> None:
    headers = {"Host": "localhost:8083", "Origin": origin}

    answer = ask("PUT", "/connectors/orders/pause", headers=headers)

    assert answer.status == 403
    assert "access.control.allow.origin" in answer.error


def test_pages_of_sites_that_the_config_lists_pass(serve: Callable[..., Client]) -> None:
    origins = "http://ui.Example.com, https://*.lake.example/"
    ask = serve(InstantWorker(**{"access.control.allow.origin": origins}))

    for origin in ("http://ui.example.com", "https://a.lake.example"):
        answer = ask("GET", "/connectors", headers={"Origin": origin})
        assert answer.headers["Access-Control-Allow-Origin"] == origin

    for origin in ("http://uiXexample.com", "https://lake.example", "http://a.lake.example"):
        assert ask("GET", "/connectors", headers={"Origin": origin}).status == 403


def test_a_page_that_is_let_in_may_read_errors(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"access.control.allow.origin": "*"}))

    answer = ask("GET", "/connectors/nothing", headers={"Origin": "http://any.example"})

    assert answer.status == 404
    assert answer.headers["Access-Control-Allow-Origin"] == "http://any.example"


def test_a_preflight_says_which_methods_are_allowed(serve: Callable[..., Client]) -> None:
    methods = {"access.control.allow.methods": "GET,DELETE"}
    ask = serve(InstantWorker(**{"access.control.allow.origin": "*"}, **methods))
    headers = {"Origin": "http://any.example", "Access-Control-Request-Method": "DELETE"}

    answer = ask("OPTIONS", "/connectors/orders", headers=headers)

    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, DELETE"


def test_without_origins_in_the_config_no_page_is_told_that_it_may_read(ask: Client) -> None:
    headers = {"Host": "localhost", "Origin": "http://localhost"}

    assert "Access-Control-Allow-Origin" not in ask("GET", "/", headers=headers).headers
