"""Columns of texts with values in the place of references, for whoever really wants files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import (
    ConfigException,
    KeyNotFound,
    LookupFailed,
    PathNotFound,
    UnresolvedError,
    shorten,
)
from ...reference import find_all, substitute
from .references import column_type, distinct_texts, quoted, references

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ..executors import BackendSecrets, DriverSecrets, Secret

_NAMED = 20  # Who wants them all asks `check`.


def resolve(
    df: DataFrame,
    secrets: DriverSecrets | BackendSecrets,
    column: str = "value",
    *,
    strict: bool = True,
) -> DataFrame:
    """Return *df* with values in the place of the references in *column*, which is text.

    The values are not in the plan, in closures or in broadcast files: executors get them from
    *secrets*, which must be open until the result was used. The distinct references are collected
    when this is called: one that is there only when the result is used fails the task. With
    :class:`DriverSecrets` each location is asked once for the whole application. The result itself
    holds the values, so cached, shuffled or checkpointed it puts them on disk, in the clear unless
    ``spark.io.encryption.enabled`` is set.

    Raises one :class:`UnresolvedError` that names the first 20 references without a value; with
    *strict* off they stay as typed, but for those whose provider failed or refused. With
    :class:`BackendSecrets` nobody is asked before a task runs: this raises only for references
    that no provider can be asked for, and other missing values fail the task or, with *strict*
    off, stay as typed there.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    if not isinstance(column_type(df, column), StringType):
        raise ConfigException(f"column {column!r} is not text")
    nobody = f.lit("")
    text = df[quoted(column)]
    values = df.select(nobody.alias("id"), nobody.alias("key"), text.alias("value"))
    texts = distinct_texts(references(values))
    handles = _handles(texts, secrets, column, strict=strict)
    lost = frozenset(texts) - handles.keys()
    number = df.columns.index(column)
    numbered = df.toDF(*map(str, range(len(df.columns))))  # PySpark takes not all names there are.
    valid = numbered.withColumn(str(number), f.make_valid_utf8(str(number)))  # Nor Arrow all text.
    done = valid.mapInArrow(_substituting(number, handles, lost, strict=strict), valid.schema)
    return done.toDF(*df.columns)


def _handles(
    texts: list[str], secrets: DriverSecrets | BackendSecrets, column: str, *, strict: bool
) -> dict[str, Secret]:
    try:
        return secrets.secrets({text: text for text in texts})
    except UnresolvedError as error:
        unresolved = error.unresolved
    failures = [each for each in unresolved if strict or each.is_failure]
    if failures:
        named = [replace(each, config_key=column) for each in failures[:_NAMED]]
        raised = UnresolvedError(named)
        if more := failures[_NAMED:]:
            raised.add_note(f"and {len(more):,} more")
        raise raised from failures[0].error
    lost = {each.reference.text for each in unresolved}
    return secrets.secrets({text: text for text in texts if text not in lost})


def _substituting(
    number: int, handles: Mapping[str, Secret], lost: AbstractSet[str], *, strict: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what executors do; it travels with *handles*, which hold no value."""

    def substituted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            field = batch.schema.field(number)
            texts = batch[number].to_pylist()
            done = _substitute(texts, handles, lost, strict=strict)
            values = pa.array(done, field.type)
            yield batch.set_column(number, field, values)

    return substituted


def _substitute(
    texts: list[str | None],
    handles: Mapping[str, Secret],
    lost: AbstractSet[str],
    *,
    strict: bool,
) -> list[str | None]:
    distinct = {text: text for text in texts if text is not None}
    found = find_all(distinct)
    wanted = {each.text: each for references in found.values() for each in references}
    values: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for text in wanted.keys() - lost:
        if text not in handles:
            raise LookupFailed(
                f"{shorten(text)}: was not there when `resolve` was called: the rows must stay the"
                " same, as in a checkpoint or a table"
            )
        reference = wanted[text]
        try:
            values[reference.provider, reference.path][reference.key] = handles[text].value()
        except (PathNotFound, KeyNotFound):
            if strict:
                raise
    done, _ = substitute(distinct, found, values)
    return [None if text is None else done[text] for text in texts]
