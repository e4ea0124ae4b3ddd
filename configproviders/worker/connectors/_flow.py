"""One way of data from a source through a transformation to a sink: :class:`Flow`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _settings as settings
from ._jdbc_driver import driver
from ._query import columns, select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from ..connector import TaskContext

JDBC = "jdbc"
PLACES = frozenset({"path", "dbtable"})
"""The options in which the name of a table may belong."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Reads and writes as the config of *context* says; options are resolved at that moment."""

    context: TaskContext

    def read(self, table: str = "") -> DataFrame:
        """Return what is to be written; of *table*, if there are several."""
        config = self.context.config
        source_format = settings.SOURCE_FORMAT.read(config)
        spark = self.context.spark
        given = placed(self.context.options(settings.SOURCE_OPTIONS_PREFIX), table)
        options = with_driver(given, source_format, spark)
        if table and source_format.lower() == JDBC:
            options.setdefault("dbtable", table)
        reader = spark.read.format(source_format).options(**options)
        if schema := settings.SOURCE_SCHEMA.read(config):
            reader = reader.schema(schema)
        return self._transformed(reader.load())

    def read_stream(self) -> DataFrame:
        """Return the stream that is to be written."""
        config = self.context.config
        source_format = settings.SOURCE_FORMAT.read(config)
        options = self.context.options(settings.SOURCE_OPTIONS_PREFIX, stream_format=source_format)
        reader = self.context.spark.readStream.format(source_format).options(**options)
        if schema := settings.SOURCE_SCHEMA.read(config):
            reader = reader.schema(schema)
        return self._transformed(reader.load())

    def write(self, frame: DataFrame, mode: str, table: str = "") -> None:
        """Write *frame* in Spark's save mode *mode*."""
        config = self.context.config
        sink_format = settings.SINK_FORMAT.read(config)
        given = placed(self.context.options(settings.SINK_OPTIONS_PREFIX), table)
        options = with_driver(given, sink_format, frame.sparkSession)
        writer = frame.write.format(sink_format).mode(mode).options(**options)
        if name := settings.SINK_TABLE.read(config):
            writer.saveAsTable(name.replace(settings.TABLE, table))
        else:
            writer.save()

    def stream_writer(self, frame: DataFrame) -> DataStreamWriter:
        """Return what starts the query that writes *frame*, without its sink."""
        config = self.context.config
        writer = frame.writeStream.queryName(self.context.connector)
        writer = writer.outputMode(settings.SINK_MODE.read(config))
        writer = writer.option("checkpointLocation", settings.CHECKPOINT.read(config) or "")
        if interval := settings.TRIGGER_INTERVAL.read(config):
            writer = writer.trigger(processingTime=f"{interval.total_seconds()} seconds")
        return writer

    def _transformed(self, frame: DataFrame) -> DataFrame:
        config = self.context.config
        if names := settings.SOURCE_SELECT.read(config):
            frame = select(frame, columns(names))
        if sql := settings.TRANSFORM_SQL.read(config):
            frame = select(frame, sql)
        if name := settings.TRANSFORM_FUNCTION.read(config):
            frame = self.context.function(name)(frame)
        if names := settings.SINK_SELECT.read(config):
            frame = select(frame, columns(names))
        return frame


def placed(options: Mapping[str, str], table: str) -> dict[str, str]:
    """Return *options* with the name of *table* where it belongs."""
    return {
        name: text.replace(settings.TABLE, table) if table and name.lower() in PLACES else text
        for name, text in options.items()
    }


def with_driver(options: Mapping[str, str], its_format: str, spark: SparkSession) -> dict[str, str]:
    """Return *options* with the driver of JDBC, if it is for that, and names none."""
    names = {name.lower(): name for name in options}
    if its_format.lower() != JDBC or "url" not in names or "driver" in names:
        return dict(options)
    found = driver(spark, options[names["url"]])
    return {**options, "driver": found} if found else dict(options)
