"""Directories of files: :class:`FileStreamSourceConnector` and :class:`FileStreamSinkConnector`.

::

    connector.class=FileStreamSourceConnector
    path=/var/spool/orders
    format=json
    schema=id BIGINT, price DOUBLE
    checkpoint.location=/var/lib/orders/checkpoint
    sink.format=parquet
    sink.options.path=/data/orders

Kafka's connectors of this name follow the lines of one file; Spark follows the files of a
directory. A file has to be there as a whole: write it elsewhere, and move it in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from ...config_def import INT, NO_DEFAULT, STRING, ConfigDef, ConfigKey, at_least, not_empty
from ..connector import ConnectorType
from . import _settings as settings
from .pipeline import SparkPipelineConnector

_FILES = "Files"
_FORMATS = ("text", "json", "csv", "parquet", "orc")
_STREAMING = {settings.MODE.name: settings.STREAMING}
_CHECKPOINT = ConfigKey(
    settings.CHECKPOINT.name,
    STRING,
    NO_DEFAULT,
    "high",
    settings.CHECKPOINT.doc,
    validator=not_empty,
    group=settings.CHECKPOINT.group,
    width="LONG",
    display_name=settings.CHECKPOINT.display_name,
)
_PATH = ConfigKey(
    "path",
    STRING,
    NO_DEFAULT,
    "high",
    "The directory of the files: a path, or the URL of any file system that the worker knows.",
    validator=not_empty,
    group=_FILES,
    width="LONG",
    display_name="Path",
)
_FORMAT = ConfigKey(
    "format",
    STRING,
    "text",
    "high",
    "The format of the files.",
    validator=not_empty,
    group=_FILES,
    width="SHORT",
    display_name="Format",
    recommended=_FORMATS,
)
_SCHEMA = ConfigKey(
    "schema",
    STRING,
    None,
    "high",
    "The schema of the files as DDL: 'id BIGINT, name STRING'. All but text needs it.",
    group=_FILES,
    width="LONG",
    display_name="Schema",
)
_MAX_FILES = ConfigKey(
    "max.files.per.trigger",
    INT,
    None,
    "low",
    "How many files a batch has at most; by default all that are new.",
    validator=at_least(1),
    group=_FILES,
    width="SHORT",
    display_name="Max files per trigger",
)


class FileStreamSourceConnector(SparkPipelineConnector):
    """Follows a directory, and writes what is in its files to any sink, for ever."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        (
            *(_PATH, _FORMAT, _SCHEMA, _MAX_FILES, *settings.SOURCE_OPTIONS),
            *settings.TRANSFORM,
            *settings.SINK,
            *(settings.TRIGGER_INTERVAL, _CHECKPOINT),
        )
    )
    renamed: ClassVar[Mapping[str, str]] = {
        "path": "source.options.path",
        "format": "source.format",
        "schema": "source.schema",
        "max.files.per.trigger": "source.options.maxFilesPerTrigger",
    }
    preset: ClassVar[Mapping[str, str]] = {"source.format": "text", **_STREAMING}


class FileStreamSinkConnector(SparkPipelineConnector):
    """Writes what comes from any source that streams to files, each row once."""

    type: ClassVar[ConnectorType] = "sink"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        (
            *(_PATH, replace(_FORMAT, default="parquet"), *settings.SINK_OPTIONS),
            *(settings.SOURCE_FORMAT, *settings.SOURCE_OPTIONS, settings.SOURCE_SCHEMA),
            settings.SOURCE_SELECT,
            *settings.TRANSFORM,
            *(settings.TRIGGER_INTERVAL, _CHECKPOINT),
        )
    )
    renamed: ClassVar[Mapping[str, str]] = {"path": "sink.options.path", "format": "sink.format"}
    preset: ClassVar[Mapping[str, str]] = {"sink.format": "parquet", **_STREAMING}
