"""The references of configs that are Parquet, for commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...errors import ConfigException, shorten
from ...provider import ConfigProvider
from .local_session import local_session, watched
from .references import affected_by, references


def read_inventory(
    path: str,
    columns: Sequence[str],
    place: str | None,
    providers: Mapping[str, ConfigProvider],
    *,
    show: Callable[[int, int], None],
) -> list[tuple[str, ...]]:
    """Return config, config key, provider, path and key of each reference at *path*, in order.

    *columns* are the names of the id, key and value of an entry. With *place*, only what leads
    there is returned. *show* is called with how many tasks are done, and of how many.

    Raises :class:`ConfigException` for what Spark cannot read.
    """

    def read() -> list[tuple[str, ...]]:
        identity, key, value = columns
        found = references(spark.read.parquet(path), value, id=identity, key=key)
        if place:
            found = affected_by(found, place, providers=providers)
        found = found.withColumn("config", found.config.cast("string"))
        ordered = found.orderBy("config", "config_key", "start")
        shown = ordered.select("config", "config_key", "provider", "path", "key")
        return [tuple(row) for row in shown.collect()]

    with local_session() as spark:
        from pyspark.errors import PySparkException

        try:
            return watched(spark, read, show)
        except PySparkException as error:
            reason = str(error).partition("\n")[0]
            raise ConfigException(f"Spark cannot read {shorten(path)!r}: {reason}") from error
