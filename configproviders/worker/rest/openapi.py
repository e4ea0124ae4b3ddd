"""The description of the API for tools: ``/openapi.json``, OpenAPI 3.1."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ... import __version__
from .schemas import SCHEMAS, STRING, STRINGS, Schema, array, mapping, ref

Part = dict[str, Any]

_ALWAYS = (403, 500)  # A foreign Host or Origin; what nobody foresaw.
_NO_JSON = 406  # What the client does not accept.
_BODY = (400, 413, 415)


def description() -> Part:
    """Return the description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Connectors on Spark",
            "description": "Kafka Connect's REST API; no answer holds the value of a secret.",
            "version": __version__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _PATHS,
        "components": {
            "schemas": SCHEMAS,
            "responses": {"Error": _content("It failed.", ref("Error"))},
        },
    }


def _content(text: str, schema: Schema, kind: str = "application/json") -> Part:
    return {"description": text, "content": {kind: {"schema": schema}}}


def _operation(
    name: str,
    summary: str,
    answers: dict[int, Schema | None],
    *errors: int,
    body: str = "",
    query: tuple[Part, ...] = (),
) -> Part:
    """Return an operation; *answers* are schemas, or none for an empty answer, by status."""
    refused = (*errors, *_ALWAYS, _NO_JSON, *(_BODY if body else ()))
    found = {str(code): _answer(code, schema) for code, schema in answers.items()}
    operation: Part = {
        "operationId": name,
        "summary": summary,
        "responses": found | _errors(*refused),
    }
    if query:
        operation["parameters"] = list(query)
    if body:
        content = {"application/json": {"schema": ref(body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _answer(code: int, schema: Schema | None) -> Part:
    phrase = HTTPStatus(code).phrase
    answer: Part = {"description": phrase} if schema is None else _content(phrase, schema)
    if code == HTTPStatus.CREATED:
        answer["headers"] = {"Location": {"schema": STRING}}
    return answer


def _errors(*codes: int) -> Part:
    return {str(code): {"$ref": "#/components/responses/Error"} for code in sorted(set(codes))}


def _file(name: str, summary: str, kind: str) -> Part:
    """Return an operation whose answer is not JSON."""
    found = {"200": _content("OK", STRING, kind)}
    return {"operationId": name, "summary": summary, "responses": found | _errors(*_ALWAYS)}


def _of(part: str, **operations: Part) -> Part:
    """Return the operations of a path that names *part*, which is percent-encoded in it."""
    schema = {"type": "string", "minLength": 1}
    parameter = {"name": part, "in": "path", "required": True, "schema": schema}
    return {"parameters": [parameter], **operations}


def _of_task(**operations: Part) -> Part:
    """Return the operations of a task's path."""
    (connector,) = _of("connector")["parameters"]
    schema = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
    task = {"name": "task", "in": "path", "required": True, "schema": schema}
    return {"parameters": [connector, task], **operations}


def _query(name: str, text: str, schema: Schema = STRING) -> Part:
    return {"name": name, "in": "query", "description": text, "schema": schema}


_EXPAND = _query(
    "expand", "What to show: status, info, secrets, progress; others are passed over.", STRINGS
)
_DRY_RUN = _query("dryRun", "true in any case: say what would happen, with 200, and store nothing.")
_ONLY_CONNECTORS = _query("connectorsOnly", "There are no others here.")
_INCLUDE_TASKS = _query("includeTasks", "true in any case: restart the tasks too.")
_ONLY_FAILED = _query("onlyFailed", "true in any case: restart only what has failed.")
_SCOPE = _query("scope", "worker or cluster, which is the same here but for the answer.")

_PATHS: Part = {
    "/": {"get": _operation("root", "What this is", {200: ref("ServerInfo")})},
    "/health": {"get": _operation("health", "Whether the worker works", {200: ref("Health")})},
    "/connectors": {
        "get": _operation(
            "listConnectors", "All connectors", {200: ref("Connectors")}, query=(_EXPAND,)
        ),
        "post": _operation(
            "createConnector",
            "Create a connector",
            {201: ref("ConnectorInfo"), 200: ref("Preview")},
            409,
            body="CreateConnectorRequest",
            query=(_DRY_RUN,),
        ),
    },
    "/connectors/{connector}": _of(
        "connector",
        get=_operation("getConnector", "A connector", {200: ref("ConnectorInfo")}, 400, 404),
        delete=_operation("deleteConnector", "Delete a connector", {204: None}, 400, 404),
    ),
    "/connectors/{connector}/config": _of(
        "connector",
        get=_operation("getConfig", "Its config, with references", {200: ref("Config")}, 400, 404),
        put=_operation(
            "putConfig",
            "Give it another config, or create it",
            {200: {"oneOf": [ref("ConnectorInfo"), ref("Preview")]}, 201: ref("ConnectorInfo")},
            409,
            body="ConfigRequest",
            query=(_DRY_RUN,),
        ),
        patch=_operation(
            "patchConfig",
            "Change some of its settings",
            {200: {"oneOf": [ref("ConnectorInfo"), ref("Preview")]}},
            404,
            409,
            body="ConfigPatch",
            query=(_DRY_RUN,),
        ),
    ),
    "/connectors/{connector}/status": _of(
        "connector",
        get=_operation(
            "getStatus", "Its state, and its tasks'", {200: ref("ConnectorStateInfo")}, 400, 404
        ),
    ),
    "/connectors/{connector}/restart": _of(
        "connector",
        post=_operation(
            "restartConnector",
            "Restart it, or parts of it",
            {202: ref("ConnectorStateInfo"), 204: None},
            400,
            404,
            409,
            query=(_INCLUDE_TASKS, _ONLY_FAILED),
        ),
    ),
    "/connectors/{connector}/pause": _of(
        "connector",
        put=_operation("pauseConnector", "Have it rest", {202: None}, 400, 404, 409),
    ),
    "/connectors/{connector}/resume": _of(
        "connector",
        put=_operation("resumeConnector", "Have it run again", {202: None}, 400, 404, 409),
    ),
    "/connectors/{connector}/stop": _of(
        "connector",
        put=_operation("stopConnector", "Stop it", {204: None}, 400, 404, 409),
    ),
    "/connectors/{connector}/tasks": _of(
        "connector",
        get=_operation("getTasks", "Its tasks", {200: array(ref("TaskInfo"))}, 400, 404),
    ),
    "/connectors/{connector}/tasks/{task}/status": _of_task(
        get=_operation("getTaskStatus", "A task's state", {200: ref("TaskState")}, 400, 404),
    ),
    "/connectors/{connector}/tasks/{task}/restart": _of_task(
        post=_operation("restartTask", "Restart a task", {204: None}, 400, 404, 409),
    ),
    "/connectors/{connector}/secrets": _of(
        "connector",
        get=_operation("getSecrets", "What it refers to", {200: array(ref("SecretUse"))}, 400, 404),
    ),
    "/connectors/{connector}/offsets": _of(
        "connector",
        get=_operation(
            "getOffsets", "How far it has come", {200: ref("ConnectorOffsets")}, 400, 404
        ),
        patch=_operation(
            "patchOffsets", "Not supported on Spark", {}, 404, body="ConnectorOffsets"
        ),
        delete=_operation(
            "resetOffsets", "Have it begin anew; it is stopped", {200: ref("Message")}, 400, 404
        ),
    ),
    "/connectors/{connector}/topics": _of(
        "connector", get=_operation("getTopics", "Not tracked here", {})
    ),
    "/connectors/{connector}/topics/reset": _of(
        "connector", put=_operation("resetTopics", "Not tracked here", {})
    ),
    "/connector-plugins": {
        "get": _operation(
            "listPlugins",
            "The connectors that are installed",
            {200: array(ref("PluginInfo"))},
            query=(_ONLY_CONNECTORS,),
        )
    },
    "/connector-plugins/{plugin}/config": _of(
        "plugin",
        get=_operation(
            "getPluginConfig", "What it takes", {200: array(ref("ConfigKeyInfo"))}, 400, 404
        ),
    ),
    "/connector-plugins/{plugin}/config/validate": _of(
        "plugin",
        put=_operation(
            "validateConfig",
            "What is wrong with a config",
            {200: ref("ConfigInfos")},
            404,
            body="ConfigPatch",
        ),
    ),
    "/admin/loggers": {
        "get": _operation("listLoggers", "Levels of loggers", {200: mapping(ref("LoggerLevel"))})
    },
    "/admin/loggers/{logger}": _of(
        "logger",
        get=_operation("getLogger", "The level of one", {200: ref("LoggerLevel")}, 400, 404),
        put=_operation(
            "setLevel",
            "Set the level of one and those below it",
            {200: STRINGS, 204: None},
            404,
            body="LevelRequest",
            query=(_SCOPE,),
        ),
    ),
    "/metrics": {"get": _file("metrics", "For Prometheus", "text/plain")},
    "/ui": {"get": _file("page", "The page for people", "text/html")},
    "/openapi.json": {"get": _operation("describe", "This description", {200: {"type": "object"}})},
}
for _code in ("500", "503"):
    _PATHS["/health"]["get"]["responses"][_code] = _content("It does not.", ref("Health"))
