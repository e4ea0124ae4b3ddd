"""The references of configs that are Parquet, for commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...errors import ConfigException, shorten
from ...provider import ConfigProvider
from ...usage import leading_to
from .local_session import local_session, reason, watched
from .references import references

_NAMES = ("config", "config_key")


def read_inventory(
    path: str,
    columns: Sequence[str],
    place: str | None,
    providers: Mapping[str, ConfigProvider],
    *,
    show: Callable[[int, int], None],
) -> tuple[list[tuple[str, ...]], int]:
    """Return config, config key, provider, path and key of each reference at *path*, in order.

    *columns* are the names of the id, key and value of an entry. With *place*, only what leads
    there is returned. *show* is called with how many tasks are done, and of how many. If there is
    no reference, the number is how many rows were read, else it is 0.

    Raises :class:`ConfigException` for what Spark cannot read.
    """

    def read() -> tuple[list[tuple[str, ...]], int]:
        identity, key, value = columns
        entries = spark.read.parquet(path)
        found = references(entries, value, id=identity, key=key)
        if place is not None:
            found = found.where(f.col("provider") == place.partition(":")[0])
        names = [f.coalesce(f.col(each).cast("string"), f.lit("")) for each in _NAMES]
        rows = found.select(*names, "start", "text", "provider", "path", "key").collect()
        if place is not None:
            leading = leading_to(place, {row.text for row in rows}, providers)
            rows = [row for row in rows if row.text in leading]
        inventory = [(*row[:2], *row[4:]) for row in sorted(rows, key=lambda row: row[:3])]
        return inventory, 0 if inventory else entries.count()

    with local_session() as spark:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import functions as f

        try:
            return watched(spark, read, show)
        except (Py4JError, PySparkException) as error:
            raise ConfigException(
                f"Spark cannot read {shorten(path)!r}: {reason(error)}"
            ) from error
