"""Tables of a database: :class:`JdbcSourceConnector`.

::

    connector.class=JdbcSourceConnector
    connection.url=jdbc:postgresql://db/orders
    connection.user=reader
    connection.password=${vault:secret/data/orders:password}
    table.whitelist=orders,customers
    tasks.max=2
    sink.format=parquet
    sink.options.path=/data/{table}
    sink.mode=overwrite

The driver is on the class path of the worker (``spark.jars`` or ``spark.jars.packages``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from ...config_def import (
    LIST,
    MILLISECONDS,
    NO_DEFAULT,
    PASSWORD,
    STRING,
    Alias,
    ConfigDef,
    ConfigKey,
    not_empty,
    one_of,
)
from . import _settings as settings
from .pipeline import SparkPipelineConnector

_DATABASE = "Database"
_URL = ConfigKey(
    "connection.url",
    STRING,
    NO_DEFAULT,
    "high",
    "The JDBC URL of the database, without credentials: errors quote it.",
    validator=not_empty,
    group=_DATABASE,
    width="LONG",
    display_name="JDBC URL",
)
_USER = ConfigKey(
    "connection.user",
    STRING,
    None,
    "high",
    "The user who logs in.",
    group=_DATABASE,
    width="MEDIUM",
    display_name="User",
)
_PASSWORD = ConfigKey(
    "connection.password",
    PASSWORD,
    None,
    "high",
    "The password of the user; each run logs in with that of now.",
    group=_DATABASE,
    width="SHORT",
    display_name="Password",
)
_TABLES = ConfigKey(
    "table.whitelist",
    LIST,
    (),
    "high",
    "The tables to copy, dealt over tasks.max tasks.",
    (Alias("table.include.list", "Debezium"),),
    group=_DATABASE,
    width="LONG",
    display_name="Tables",
)
_QUERY = ConfigKey(
    "query",
    STRING,
    None,
    "medium",
    "A query to copy the rows of, in the place of tables.",
    group=_DATABASE,
    width="LONG",
    display_name="Query",
)
_MODE = ConfigKey(
    "mode",
    one_of("bulk"),
    "bulk",
    "medium",
    "bulk copies whole tables each time; there is no other.",
    group=_DATABASE,
    width="SHORT",
    display_name="Mode",
)
_POLL_INTERVAL = ConfigKey(
    "poll.interval.ms",
    MILLISECONDS,
    None,
    "medium",
    "The time from one copy to the next; without it there is one. With sink.mode=append each adds"
    " all rows again, so that overwrite is what you want.",
    group=_DATABASE,
    width="SHORT",
    display_name="Poll interval (ms)",
)


class JdbcSourceConnector(SparkPipelineConnector):
    """Copies tables of a database, or what a query gives, to files or tables."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        (
            *(_URL, _USER, _PASSWORD, _TABLES, _QUERY, _MODE, _POLL_INTERVAL),
            *settings.SOURCE_OPTIONS,
            *settings.TRANSFORM,
            *settings.SINK,
        )
    )
    renamed: ClassVar[Mapping[str, str]] = {
        "connection.url": "source.options.url",
        "connection.user": "source.options.user",
        "connection.password": "source.options.password",
        "table.whitelist": "source.tables",
        "table.include.list": "source.tables",
        "query": "source.options.query",
        "poll.interval.ms": "schedule.interval.ms",
    }
    preset: ClassVar[Mapping[str, str]] = {"source.format": "jdbc"}

    def validate(self, config: Mapping[str, str]) -> Mapping[str, Collection[str]]:
        """Return what is wrong with a pipeline, and if there is nothing to copy."""
        found = dict(super().validate(config))
        given = settings.options_of(config, settings.SOURCE_OPTIONS_PREFIX).keys()
        if not (_TABLES.read(config) or _QUERY.read(config) or given & {"dbtable", "query"}):
            found[_TABLES.name] = [*found.get(_TABLES.name, ()), "name tables, or write a query"]
        return found

    def pipeline(self, config: Mapping[str, str]) -> dict[str, str]:
        """Return the settings of a pipeline, which runs on a schedule if there is an interval."""
        mode = settings.BATCH if _POLL_INTERVAL.read(config) is None else settings.SCHEDULE
        return {**super().pipeline(config), settings.MODE.name: mode}
