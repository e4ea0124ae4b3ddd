"""The references of many configs as a DataFrame: who uses what, without asking anybody.

::

    from configproviders.spark import affected_by, references

    entries = spark.read.parquet("configs")  # a row for each entry: id, key, value
    found = references(entries)
    affected_by(found, "vault:secret/orders/db").select("config", "config_key").show()

Configs that are JSON are a map after ``from_json(text, "map<string,string>")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import ConfigException, ProviderUnavailable, there_is
from ...provider import ConfigProvider
from ...usage import check_place, leading_to, tracing_settings
from .._resolution import Configs, opened, read_entries

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def references(
    df: DataFrame,
    column: str = "value",
    *,
    id: str = "id",  # noqa: A002  The name of a column, and what it mostly is.
    key: str = "key",
) -> DataFrame:
    """Return a row for each reference in *column* of *df*.

    If *column* is text, a row of *df* is an entry of a config: *id* is the column that says of
    which config, *key* which entry. If it is a map, a row is a config with all its entries, and
    *key* is not used. The result has the columns ``config`` (what *id* holds), ``config_key``,
    ``provider``, ``path``, ``key``, ``start`` and ``end`` (characters from 0, the end exclusive)
    and ``text``, the reference as typed.

    Nothing runs before the result is used. Values without a reference stay in the JVM, the others
    go to Python as Arrow; so executors need this package with ``pyarrow``. Raises
    :class:`ConfigException` for a column that is not there or is neither text nor a map of texts,
    and :class:`ProviderUnavailable` without ``pyarrow`` or what else PySpark needs for it.
    """
    from pyspark.sql import functions as f

    entries = _entries(df, column, id, key)
    may_hold = f.contains("value", f.lit("${")) | f.contains("value", f.lit("$<"))
    valid = f.make_valid_utf8("value").alias("value")  # Arrow takes no other.
    held = entries.where(may_hold).select("config", "config_key", valid)
    return _found(held)


def affected_by(
    found: DataFrame,
    place: str,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
) -> DataFrame:
    """Return the rows of *found*, made by :func:`references`, that lead to *place*.

    *place* is ``provider:path`` or ``provider:path:key``. It is taken for what its provider means
    by it: ``secret/db`` and ``secret/data/db`` of Vault are one, unless its settings say no. The
    providers are those that *configs* declares (a mapping, or the path of a file) and the live
    ones in *providers*, which win. A provider in neither is the one of ours that has this name, or
    else means what is typed. No backend is asked. The distinct references of that provider are
    collected, once, when this is called, at about 1 KB of the driver's memory each.

    Raises :class:`ConfigException` if *place* can mean nothing.
    """
    from pyspark.sql import functions as f

    of_provider = found.where(f.col("provider") == place.partition(":")[0])
    settings = tracing_settings(read_entries(configs)[0], place, providers or ())
    with opened(settings, providers) as known:
        check_place(place, known)
        leading = leading_to(place, distinct_texts(of_provider), known)
    return joined(found, [(text,) for text in sorted(leading)], "text string", how="left_semi")


def distinct_texts(found: DataFrame) -> list[str]:
    """Return the distinct references of *found* as typed, in order."""
    texts: list[str] = found.select("text").distinct().toArrow()["text"].to_pylist()
    return sorted(texts)


def joined(
    found: DataFrame, rows: list[tuple[object, ...]], schema: str, *, how: str = "inner"
) -> DataFrame:
    """Return *found* joined by ``text`` with *rows* of *schema*, the columns of *found* first.

    Columns of *found* that have the names of added ones go.
    """
    more = found.sparkSession.createDataFrame(rows, schema)
    added = [name for name in more.columns if name != "text" and how == "inner"]
    kept = found.drop(*added)
    return kept.join(more, "text", how).select(*map(quoted, kept.columns), *added)


def quoted(column: str) -> str:
    """Return the name *column* as Spark parses it, in which a dot is no dot into a struct."""
    return f"`{column.replace('`', '``')}`"


def column_type(df: DataFrame, column: str) -> DataType:
    """Return the type of *column*; raise :class:`ConfigException` if there is none."""
    if column not in df.columns:
        raise ConfigException(f"no column named {column!r}; {there_is(column, df.columns)}")
    return df.schema[column].dataType


def _entries(df: DataFrame, column: str, identity: str, key: str) -> DataFrame:
    """Return *df* as entries: config, config_key, value."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import MapType, StringType

    kind = column_type(df, column)
    if isinstance(kind, MapType) and {type(kind.keyType), type(kind.valueType)} == {StringType}:
        return df.select(_named(df, identity, "config"), f.explode(df[quoted(column)])).toDF(
            "config", "config_key", "value"
        )
    if isinstance(kind, StringType):
        whose = _named(df, identity, "config"), _named(df, key, "config_key")
        return df.select(*whose, df[quoted(column)].alias("value"))
    raise ConfigException(
        f"column {column!r} is {kind.simpleString()}: references stand in text, or in a map of"
        " texts"
    )


def _named(df: DataFrame, column: str, name: str) -> Column:
    column_type(df, column)
    return df[quoted(column)].alias(name)


def _found(entries: DataFrame) -> DataFrame:
    from pyspark.sql.types import IntegerType, StringType, StructType

    try:
        from .batches import COLUMNS, find_in_batches

        schema = StructType(entries.schema.fields[:2])
        for name in COLUMNS[2:]:
            schema.add(name, IntegerType() if name in {"start", "end"} else StringType())
        return entries.mapInArrow(find_in_batches, schema)
    except ImportError as error:
        raise ProviderUnavailable(
            "references are found with pyarrow and pandas: pip install 'configproviders[spark]'"
        ) from error
