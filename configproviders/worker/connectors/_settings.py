"""The settings of a pipeline, for its own definition and for those of the connectors on top."""

from __future__ import annotations

from collections.abc import Mapping

from ...config_def import (
    LIST,
    MILLISECONDS,
    NO_DEFAULT,
    PASSWORD,
    STRING,
    ConfigDef,
    ConfigKey,
    not_empty,
    one_of,
)
from ...data import Password
from ..connector_keys import FUNCTION

BATCH, SCHEDULE, STREAMING = "batch", "schedule", "streaming"
BATCH_SINK_MODES = ("append", "overwrite", "ignore", "error")
STREAM_SINK_MODES = ("append", "update", "complete")
SOURCE_OPTIONS_PREFIX, SINK_OPTIONS_PREFIX = "source.options.", "sink.options."
TABLE = "{table}"
"""What the name of each table is put in the place of; ``${…}`` would be a reference."""

_SOURCE, _TRANSFORM, _SINK, _RUN = "Source", "Transform", "Sink", "Run"


def options_of(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the options under *prefix* in *config*, names in lower case: Spark takes any."""
    return {
        key.removeprefix(prefix).lower(): text
        for key, text in config.items()
        if key.startswith(prefix)
    }


def _password(prefix: str, group: str) -> ConfigKey[Password, None]:
    doc = "The password of the user, an option as any other, but for being hidden."
    return ConfigKey(f"{prefix}password", PASSWORD, None, "high", doc, group=group, width="MEDIUM")


SOURCE_FORMAT = ConfigKey(
    "source.format",
    STRING,
    NO_DEFAULT,
    "high",
    "The format that Spark reads: jdbc, parquet, json, csv, kafka, or another that is installed.",
    validator=not_empty,
    group=_SOURCE,
    width="SHORT",
    display_name="Source format",
    recommended=("jdbc", "parquet", "json", "csv", "text", "orc", "kafka"),
)
SOURCE_OPTIONS = (
    _password(SOURCE_OPTIONS_PREFIX, _SOURCE),
    ConfigKey(
        f"{SOURCE_OPTIONS_PREFIX}<name>",
        STRING,
        None,
        "high",
        "An option of the reader, as Spark's documentation of the format lists them: path, url,"
        " user, dbtable. A reference is resolved whenever something is read.",
        group=_SOURCE,
        width="LONG",
    ),
)
SOURCE_SCHEMA = ConfigKey(
    "source.schema",
    STRING,
    None,
    "medium",
    "The schema of the source as DDL: 'id BIGINT, name STRING'. A stream of files needs it.",
    group=_SOURCE,
    width="LONG",
    display_name="Source schema",
)
SOURCE_TABLES = ConfigKey(
    "source.tables",
    LIST,
    (),
    "medium",
    "Tables that are copied one by one, dealt over tasks.max tasks. With jdbc each is the dbtable;"
    f" elsewhere, and in the sink's path, dbtable or table, write {TABLE} where its name belongs.",
    group=_SOURCE,
    width="LONG",
    display_name="Source tables",
)
SOURCE_SELECT: ConfigKey[str, str | None] = ConfigKey(
    "source.select",
    STRING,
    None,
    "low",
    "What is taken of what was read, as the list of a SELECT, before it is transformed.",
    group=_SOURCE,
    width="LONG",
    display_name="Source columns",
)
TRANSFORM_SQL = ConfigKey(
    "transform.sql",
    STRING,
    None,
    "medium",
    "A query over what was read, which is the view source: SELECT id, upper(name) FROM source."
    " What runs other code, as reflect and scripts, is refused, and so are variables of Spark.",
    group=_TRANSFORM,
    width="LONG",
    display_name="SQL",
)
TRANSFORM_FUNCTION = ConfigKey(
    "transform.function",
    FUNCTION,
    None,
    "medium",
    "A function module:function that takes and returns a DataFrame, of a module that the worker"
    " allows (plugin.allowed.modules).",
    group=_TRANSFORM,
    width="MEDIUM",
    display_name="Function",
)
SINK_FORMAT = ConfigKey(
    "sink.format",
    STRING,
    NO_DEFAULT,
    "high",
    "The format that Spark writes: parquet, jdbc, kafka, or another that is installed.",
    validator=not_empty,
    group=_SINK,
    width="SHORT",
    display_name="Sink format",
    recommended=("parquet", "jdbc", "json", "csv", "orc", "kafka"),
)
SINK_OPTIONS = (
    _password(SINK_OPTIONS_PREFIX, _SINK),
    ConfigKey(
        f"{SINK_OPTIONS_PREFIX}<name>",
        STRING,
        None,
        "high",
        "An option of the writer: path, url, dbtable, user. A reference is resolved whenever"
        " something is written; the options of a stream, but for jdbc, when it starts.",
        group=_SINK,
        width="LONG",
    ),
)
SINK_TABLE = ConfigKey(
    "sink.table",
    STRING,
    None,
    "medium",
    "A table of Spark's catalog to write to, in the place of the option path.",
    group=_SINK,
    width="MEDIUM",
    display_name="Sink table",
)
SINK_SELECT: ConfigKey[str, str | None] = ConfigKey(
    "sink.select",
    STRING,
    None,
    "low",
    "What is written, as the list of a SELECT, after it is transformed.",
    group=_SINK,
    width="LONG",
    display_name="Sink columns",
)
SINK_MODE = ConfigKey(
    "sink.mode",
    one_of(*BATCH_SINK_MODES, *STREAM_SINK_MODES[1:], errorifexists="error"),
    "append",
    "medium",
    "What happens to what is there: append, overwrite, ignore or error in a batch; append, update"
    " or complete in a stream.",
    group=_SINK,
    width="SHORT",
    display_name="Sink mode",
)
MODE = ConfigKey(
    "mode",
    one_of(BATCH, SCHEDULE, STREAMING),
    BATCH,
    "high",
    "batch runs once and ends; schedule runs again and again; streaming goes on for ever.",
    group=_RUN,
    width="SHORT",
    display_name="Mode",
    dependents=("schedule.interval.ms", "trigger.interval.ms", "checkpoint.location", "sink.mode"),
)
SCHEDULE_INTERVAL = ConfigKey(
    "schedule.interval.ms",
    MILLISECONDS,
    None,
    "medium",
    "With mode=schedule, the time from the start of a run to that of the next, which waits for the"
    " end of the one before.",
    group=_RUN,
    width="SHORT",
    display_name="Schedule interval (ms)",
)
TRIGGER_INTERVAL = ConfigKey(
    "trigger.interval.ms",
    MILLISECONDS,
    None,
    "medium",
    "With mode=streaming, the time from one batch to the next; by default there is none between.",
    group=_RUN,
    width="SHORT",
    display_name="Trigger interval (ms)",
)
CHECKPOINT = ConfigKey(
    "checkpoint.location",
    STRING,
    None,
    "high",
    "With mode=streaming, the directory in which Spark notes how far it has come; that of no other"
    " connector.",
    group=_RUN,
    width="LONG",
    display_name="Checkpoint location",
)

SOURCE = (SOURCE_FORMAT, *SOURCE_OPTIONS, SOURCE_SCHEMA, SOURCE_TABLES, SOURCE_SELECT)
TRANSFORM = (TRANSFORM_SQL, TRANSFORM_FUNCTION)
SINK = (SINK_FORMAT, *SINK_OPTIONS, SINK_TABLE, SINK_SELECT, SINK_MODE)
INTERVALS = (SCHEDULE_INTERVAL, TRIGGER_INTERVAL, CHECKPOINT)
RUN = (MODE, *INTERVALS)
PIPELINE_DEF = ConfigDef((*SOURCE, *TRANSFORM, *SINK, *RUN))
"""All settings of a pipeline."""
