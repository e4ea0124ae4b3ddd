"""A worker that runs nothing: it answers the page in the shapes of the REST API."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import configproviders.worker

UI = Path(configproviders.worker.__file__).with_name("ui")
POLICY = {"Content-Security-Policy": "default-src 'self'"}
JDBC = "configproviders.worker.connectors.jdbc.JdbcSourceConnector"
SECRET = "${vault:secret/data/orders/db:password}"
TRACE = """AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/lake/orders.
Traceback (most recent call last):
  File "/srv/worker/connectors/jdbc.py", line 88, in run
    self.frame.write.mode("append").parquet(path)
pyspark.errors.AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/lake/orders."""


def definition(name: str, **more: Any) -> dict[str, Any]:
    """Return a definition as Kafka Connect writes it."""
    preset = more.get("default_value")
    return {
        "name": name,
        "type": "STRING",
        "required": preset is None,
        "default_value": None,
        "importance": "HIGH",
        "documentation": "",
        "group": "Common",
        "width": "MEDIUM",
        "display_name": name,
        "dependents": [],
        "order": 1,
        **more,
    }


DEFINITIONS = [
    definition("connection.url", group="Database", documentation="The JDBC URL."),
    definition("connection.user", group="Database", documentation="Who logs in."),
    definition(
        "connection.password",
        type="PASSWORD",
        group="Database",
        documentation="The password that the user logs in with.",
    ),
    definition(
        "tables", type="LIST", width="LONG", group="Database", documentation="What is read."
    ),
    definition(
        "poll.interval.ms",
        type="LONG",
        default_value="5000",
        importance="MEDIUM",
        group="Database",
        documentation="How often it is looked for new rows.",
    ),
    definition("name", documentation="The name of the connector; no other one has it."),
    definition("connector.class", documentation="What runs."),
    definition("tasks.max", type="INT", default_value="1", documentation="How many tasks at most."),
    definition(
        "config.action.reload",
        default_value="restart",
        importance="LOW",
        documentation="What to do when a secret changes: restart, or none.",
    ),
]


def connector(name: str, state: str = "RUNNING", **config: str) -> dict[str, Any]:
    """Return a connector with one task, as the list has it."""
    failed = {"trace": TRACE} if state == "FAILED" else {}
    tasks = [] if state == "STOPPED" else [{"id": 0, "state": state, "worker_id": "w", **failed}]
    progress = {"0": {"rows": 1283400, "rows_per_second": 842.5}} if state == "RUNNING" else {}
    settings = {
        "name": name,
        "connector.class": JDBC,
        "tasks.max": "1",
        "connection.url": "jdbc:postgresql://db.example.org:5432/orders",
        "connection.user": "orders",
        "connection.password": SECRET,
        **config,
    }
    return {
        "status": {
            "name": name,
            "connector": {"state": "RUNNING" if failed else state, "worker_id": "w"},
            "tasks": tasks,
            "type": "source",
        },
        "info": {"name": name, "config": settings, "tasks": [], "type": "source"},
        "progress": progress,
        "secrets": [
            {
                "reference": SECRET,
                "config_keys": ["connection.password"],
                "resolved_at": "2020-01-01T00:00:00+00:00",
                "changed_at": None,
            }
        ],
    }


class CannedWorker:
    """Connectors that change their state as told, at once."""

    def __init__(self, *connectors: dict[str, Any]) -> None:
        """Take connectors as :func:`connector` makes them."""
        self.connectors = {each["info"]["name"]: each for each in connectors}
        one = "/connectors/{name:path}"
        routes = [
            Route("/connectors", self.list),
            Route("/connectors", self.create, methods=["POST"]),
            Route(f"{one}/pause", self.change("PAUSED"), methods=["PUT"]),
            Route(f"{one}/resume", self.change("RUNNING"), methods=["PUT"]),
            Route(f"{one}/stop", self.change("STOPPED"), methods=["PUT"]),
            Route(f"{one}/restart", self.change("RUNNING"), methods=["POST"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route("/connector-plugins", self.plugins),
            Route("/connector-plugins/{plugin}/config", self.definitions),
            Route("/connector-plugins/{plugin}/config/validate", self.validate, methods=["PUT"]),
            Route("/ui", self.page),
            Mount("/ui", StaticFiles(directory=UI)),
        ]
        self.app = Starlette(routes=routes)

    def state(self, name: str) -> str:
        """Return the state of a connector."""
        state: str = self.connectors[name]["status"]["connector"]["state"]
        return state

    async def page(self, request: Request) -> Response:
        return Response((UI / "index.html").read_text(), media_type="text/html", headers=POLICY)

    async def list(self, request: Request) -> Response:
        return JSONResponse(self.connectors)

    async def create(self, request: Request) -> Response:
        body = await request.json()
        if body["name"] in self.connectors:
            message = f"connector {body['name']!r} is there already"
            return JSONResponse({"error_code": 409, "message": message}, 409)
        made = connector(body["name"])
        made["info"]["config"] = body["config"]
        self.connectors[body["name"]] = made
        return JSONResponse(made["info"], 201)

    def change(self, state: str) -> Any:
        async def endpoint(request: Request) -> Response:
            name = request.path_params["name"]
            found = copy.deepcopy(self.connectors[name])
            found["status"] = connector(name, state)["status"]
            self.connectors[name] = found
            return Response(status_code=202)

        return endpoint

    async def delete(self, request: Request) -> Response:
        del self.connectors[request.path_params["name"]]
        return Response(status_code=204)

    async def plugins(self, request: Request) -> Response:
        return JSONResponse([{"class": JDBC, "type": "source", "version": "1"}])

    async def definitions(self, request: Request) -> Response:
        return JSONResponse(DEFINITIONS)

    async def validate(self, request: Request) -> Response:
        config = await request.json()
        values = [finding(each, config.get(each["name"])) for each in DEFINITIONS]
        count = sum(len(each["value"]["errors"]) for each in values)
        answer = {"name": JDBC, "error_count": count, "groups": [], "configs": values}
        return JSONResponse(answer)


def finding(each: dict[str, Any], value: str | None) -> dict[str, Any]:
    """Return what is wrong with one setting."""
    errors = []
    if value is None and each["required"]:
        errors.append(f"missing required configuration {each['name']!r} which has no default value")
    if value is not None and each["type"] in {"INT", "LONG"} and not value.isdigit():
        errors.append(f"invalid value {value!r} for configuration {each['name']!r}: write digits")
    found = {"name": each["name"], "value": value, "recommended_values": [], "errors": errors}
    return {"definition": each, "value": {**found, "visible": True}}
