"""What goes over the wire, as JSON Schema: the components of the OpenAPI description."""

from __future__ import annotations

from typing import Any

from ..status import State

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
STRING_OR_NULL: Schema = {"type": ["string", "null"]}
INTEGER_OR_NULL: Schema = {"type": ["integer", "null"]}
STRINGS: Schema = {"type": "array", "items": STRING}
TYPE: Schema = {"enum": ["source", "sink", "unknown"]}
PLUGIN_TYPE: Schema = {"enum": ["source", "sink"]}
CONFIG_TYPES = ["BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"]
STATES = [state.value for state in State]
TASK_STATES = [state for state in STATES if state != State.STOPPED]


LINES: Schema = {
    "name": "lines",
    "config": {
        "connector.class": "FileStreamSourceConnector",
        "path": "/var/spool/lines",
        "checkpoint.location": "/var/lib/lines/checkpoint",
        "sink.format": "json",
        "sink.options.path": "/data/lines",
    },
}
"""A connector that can be created so; it is the example of the description."""


def ref(name: str) -> Schema:
    """Return a reference to one of :data:`SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


def mapping(values: Schema) -> Schema:
    """Return the schema of an object with any keys."""
    return {"type": "object", "additionalProperties": values}


def record(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of an object that has *properties*, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


SCHEMAS: dict[str, Schema] = {
    "Error": record(error_code=INTEGER, message=STRING),
    "ServerInfo": record(version=STRING, commit=STRING, kafka_cluster_id=STRING),
    "Health": record(status={"enum": ["healthy", "starting", "unhealthy"]}, message=STRING),
    "Config": mapping(STRING)
    | {"description": "A config as it was given: references in it are not resolved."},
    "ConfigRequest": mapping({"type": ["string", "number", "boolean"]})
    | {"description": "Numbers and booleans are kept as text."},
    "ConfigPatch": mapping({"type": ["string", "number", "boolean", "null"]})
    | {"description": "Null removes a key."},
    "CreateConnectorRequest": record(
        ("initial_state",),
        name={"type": ["string", "number"], "minLength": 1},
        config=ref("ConfigRequest"),
        initial_state={
            "type": ["string", "null"],
            "pattern": "^([Rr][Uu][Nn][Nn][Ii][Nn][Gg]|[Pp][Aa][Uu][Ss][Ee][Dd]"
            "|[Ss][Tt][Oo][Pp][Pp][Ee][Dd])$",
            "description": "RUNNING, PAUSED or STOPPED, in any case.",
        },
    )
    | {"examples": [LINES]},
    "ConnectorTaskId": record(connector=STRING, task=INTEGER),
    "ConnectorInfo": record(
        name=STRING, config=ref("Config"), tasks=array(ref("ConnectorTaskId")), type=TYPE
    ),
    "ConnectorState": record(("trace",), state={"enum": STATES}, worker_id=STRING, trace=STRING),
    "TaskState": record(
        ("trace",), id=INTEGER, state={"enum": TASK_STATES}, worker_id=STRING, trace=STRING
    ),
    "ConnectorStateInfo": record(
        name=STRING, connector=ref("ConnectorState"), tasks=array(ref("TaskState")), type=TYPE
    ),
    "TaskInfo": record(id=ref("ConnectorTaskId"), config=ref("Config")),
    "SecretUse": record(
        reference=STRING,
        config_keys=STRINGS,
        resolved_at=STRING_OR_NULL | {"format": "date-time"},
        changed_at=STRING_OR_NULL | {"format": "date-time"},
    )
    | {"description": "A reference, and the times of its value, which is nowhere shown."},
    "ConnectorOffset": record(partition=mapping({}), offset={}),
    "ConnectorOffsets": record(offsets=array(ref("ConnectorOffset"))),
    "Progress": record(
        rows=INTEGER_OR_NULL,
        rows_per_second={"type": ["number", "null"]},
        offsets=array(ref("ConnectorOffset")),
    ),
    "ConnectorExpanded": record(
        ("status", "info", "secrets", "progress"),
        status=ref("ConnectorStateInfo"),
        info=ref("ConnectorInfo"),
        secrets=array(ref("SecretUse")),
        progress=mapping(ref("Progress")) | {"description": "By number of the task."},
    ),
    "Connectors": {"oneOf": [STRINGS, mapping(ref("ConnectorExpanded"))]},
    "Message": record(message=STRING),
    "PluginInfo": record((), **{"class": STRING, "type": PLUGIN_TYPE, "version": STRING}),
    "ConfigKeyInfo": record(
        name=STRING,
        type={"enum": CONFIG_TYPES},
        required={"type": "boolean"},
        default_value=STRING_OR_NULL,
        importance={"enum": ["HIGH", "MEDIUM", "LOW"]},
        documentation=STRING,
        group=STRING_OR_NULL,
        order=INTEGER,
        width={"enum": ["NONE", "SHORT", "MEDIUM", "LONG"]},
        display_name=STRING,
        dependents=STRINGS,
    ),
    "ConfigValueInfo": record(
        name=STRING,
        value=STRING_OR_NULL,
        recommended_values=STRINGS,
        errors=STRINGS,
        visible={"type": "boolean"},
    ),
    "ConfigInfo": record(
        definition={"oneOf": [ref("ConfigKeyInfo"), {"type": "null"}]},
        value=ref("ConfigValueInfo"),
    ),
    "ConfigInfos": record(
        name=STRING, error_count=INTEGER, groups=STRINGS, configs=array(ref("ConfigInfo"))
    ),
    "ConfigDiff": record(
        added=mapping(STRING),
        removed=mapping(STRING),
        changed=mapping(record(before=STRING, after=STRING)),
    ),
    "Preview": record(
        name=STRING,
        action={"enum": ["create", "update", "none"]},
        config=ref("Config"),
        diff=ref("ConfigDiff"),
        validation=ref("ConfigInfos"),
    )
    | {"description": "What would happen; an invalid config would not be stored: none."},
    "LoggerLevel": record(level=STRING_OR_NULL, last_modified=INTEGER_OR_NULL),
    "LevelRequest": {
        "type": "object",
        "properties": {"level": {"type": "string"}},
        "required": ["level"],
    },
}
"""By name, as Kafka Connect calls them where it has them."""
