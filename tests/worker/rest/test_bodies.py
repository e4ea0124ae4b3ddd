"""What clients send."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest
from worker.rest.orders import CONFIG, Client

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is empty"),
        (b"{", "the body is not JSON"),
        (b'{"a": hunter2}', "line 1, column 7"),
        (b"[]", "the body is an array"),
        (b"null", "the body is null"),
        (b"true", "the body is a boolean"),
        (b'"{}"', "the body is text or a number"),
        (b'{"a": 1, "a": 2}', "keys more than once: ['a']"),
        (b'{"a": {"b": 1, "b": 2}}', "keys more than once: ['b']"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": -Infinity}', "-Infinity is no number"),
        (b'{"a": "\xff"}', "not Unicode"),
        (b'{"a": "\\ud800"}', "not Unicode"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_body_that_is_no_object_of_json_is_refused(
    ask: Client, body: bytes, message: str
) -> None:
    for method, path in [
        ("POST", "/connectors"),
        ("PUT", "/connectors/orders/config"),
        ("PATCH", "/connectors/orders/config"),
        ("PATCH", "/connectors/orders/offsets"),
        ("PUT", "/connector-plugins/any/config/validate"),
        ("PUT", "/admin/loggers/any"),
    ]:
        answer = ask(method, path, body, JSON)

        assert answer.status == 400, path
        assert message in answer.error
        assert "hunter2" not in answer.error


@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""],
)
def test_a_body_of_another_type_is_refused(ask: Client, kind: str) -> None:
    answer = ask("PUT", "/connectors/orders/config", b'{"a": "b"}', {"Content-Type": kind})

    assert answer.status == 415
    assert answer.error == "HTTP 415 Unsupported Media Type"


def test_a_type_may_say_its_characters(ask: Client) -> None:
    kind = {"Content-Type": "Application/JSON; charset=UTF-8"}

    assert ask("PUT", "/connectors/orders/config", CONFIG, kind).status == 201


def test_a_large_number_is_kept(ask: Client) -> None:
    number = "9" * 10_000

    ask("PUT", "/connectors/orders/config", {**CONFIG, "more": number})

    assert ask("GET", "/connectors/orders/config").json["more"] == number


def test_a_body_that_is_too_large_is_refused(ask: Client) -> None:
    body = b'{"a": "' + b"x" * (1 << 20) + b'"}'

    answer = ask("PUT", "/connectors/orders/config", body, JSON)

    assert answer.status == 413
    assert answer.error == "a body is 1 MiB at most"


def test_a_body_that_never_ends_is_refused_before_it_does(ask: Client) -> None:
    address = urlsplit(ask.url)
    head = (
        "PUT /connectors/orders/config HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(head.encode() + chunk * 17)
        answer = connection.recv(100)

    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/connectors/orders/pause"),
        ("PUT", "/connectors/orders/resume"),
        ("POST", "/connectors/orders/restart"),
        ("POST", "/connectors/orders/tasks/0/restart"),
    ],
)
def test_where_no_body_is_asked_for_a_type_without_one_does_no_harm(
    orders: Client, method: str, path: str
) -> None:
    assert orders(method, path, headers=JSON).status in {202, 204}


def test_a_login_that_nobody_asked_for_does_no_harm(ask: Client) -> None:
    headers = {"Authorization": "Basic Tm9uZTpOb25l"}

    assert ask("GET", "/connectors", headers=headers).status == 200
