"""The description of the API says what the API does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from worker.rest.orders import CLASS, CONFIG, Client, InstantWorker

from configproviders.worker.rest.app import create_app
from configproviders.worker.rest.openapi import description

NEW = {"name": "new", "config": CONFIG}
CONNECTOR = "/connectors/{connector}"
NOT_DESCRIBED = {"/ui/{file}"}


def test_all_resources_are_described_with_all_their_methods(ask: Client) -> None:
    for path, operations in description()["paths"].items():
        named = path.format(connector="orders", task=0, plugin=CLASS, logger="root")

        allowed = ask("OPTIONS", named).headers["Allow"].split(", ")

        described = {method.upper() for method in operations if method != "parameters"}
        assert set(allowed) - {"HEAD", "OPTIONS"} == described, path


def test_nothing_is_served_that_is_not_described(worker: InstantWorker) -> None:
    served = {getattr(route, "path", "") for route in create_app(worker).routes}

    assert served - NOT_DESCRIBED == description()["paths"].keys()


def test_the_example_of_the_description_is_valid(ask: Client) -> None:
    schema = ask("GET", "/openapi.json").json["components"]["schemas"]["CreateConnectorRequest"]

    (example,) = schema["examples"]

    assert ask("POST", "/connectors", example).status == 201


@pytest.mark.parametrize(
    ("method", "path", "status", "more"),
    [
        ("GET", "/", 200, {}),
        ("GET", "/health", 200, {}),
        ("GET", "/connectors", 200, {}),
        (
            "GET",
            "/connectors",
            200,
            {"query": {"expand": ["status", "info", "secrets", "progress"]}},
        ),
        ("POST", "/connectors", 201, {"body": NEW}),
        ("POST", "/connectors", 409, {"body": {**NEW, "name": "orders"}}),
        ("POST", "/connectors", 200, {"body": NEW, "query": {"dryRun": "true"}}),
        ("GET", CONNECTOR, 200, {}),
        ("DELETE", CONNECTOR, 204, {}),
        ("GET", f"{CONNECTOR}/config", 200, {}),
        ("PUT", f"{CONNECTOR}/config", 200, {"body": CONFIG}),
        ("PUT", f"{CONNECTOR}/config", 200, {"body": CONFIG, "query": {"dryRun": "true"}}),
        ("PATCH", f"{CONNECTOR}/config", 200, {"body": {"rate": 2, "table": None}}),
        ("PATCH", f"{CONNECTOR}/config", 200, {"body": {}, "query": {"dryRun": "true"}}),
        ("GET", f"{CONNECTOR}/status", 200, {}),
        ("POST", f"{CONNECTOR}/restart", 204, {}),
        ("POST", f"{CONNECTOR}/restart", 202, {"query": {"includeTasks": "true"}}),
        ("PUT", f"{CONNECTOR}/pause", 202, {}),
        ("PUT", f"{CONNECTOR}/resume", 202, {}),
        ("PUT", f"{CONNECTOR}/stop", 204, {}),
        ("GET", f"{CONNECTOR}/tasks", 200, {}),
        ("GET", f"{CONNECTOR}/tasks/{{task}}/status", 200, {}),
        ("POST", f"{CONNECTOR}/tasks/{{task}}/restart", 204, {}),
        ("GET", f"{CONNECTOR}/secrets", 200, {}),
        ("GET", f"{CONNECTOR}/offsets", 200, {}),
        ("DELETE", f"{CONNECTOR}/offsets", 400, {}),
        ("GET", f"{CONNECTOR}/topics", 403, {}),
        ("GET", "/connector-plugins", 200, {}),
        ("GET", "/connector-plugins/{plugin}/config", 200, {}),
        ("PUT", "/connector-plugins/{plugin}/config/validate", 200, {"body": CONFIG}),
        ("GET", "/admin/loggers", 200, {}),
        ("GET", "/admin/loggers/{logger}", 200, {}),
        ("GET", "/metrics", 200, {}),
        ("GET", "/ui", 200, {}),
    ],
)
def test_answers_are_as_described(
    orders: Client, method: str, path: str, status: int, more: dict[str, Any]
) -> None:
    parts = {"connector": "orders", "task": 0, "plugin": CLASS, "logger": "root"}
    named = {name: value for name, value in parts.items() if f"{{{name}}}" in path}
    operation = schemathesis.openapi.from_url(f"{orders.url}/openapi.json")[path][method]
    media_type = "application/json" if "body" in more else None

    response = operation.Case(path_parameters=named, media_type=media_type, **more).call()

    assert response.status_code == status
    assert str(status) in description()["paths"][path][method.lower()]["responses"]
    operation.validate_response(response)


def test_no_request_that_can_be_made_up_is_answered_otherwise(
    orders: Client, tmp_path: Path
) -> None:
    examples = ["--generation-deterministic", "--max-examples=5"]
    if "SOAK" in os.environ:
        examples = ["--max-examples=200"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{orders.url}/openapi.json"]
    options = [
        "--phases=coverage,fuzzing",
        "--exclude-checks=positive_data_acceptance",  # A schema does not know what is valid.
        "--warnings=off",
        "--no-color",
    ]

    done = subprocess.run(
        [*command, *options, *examples], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
