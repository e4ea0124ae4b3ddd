"""Columns of texts with values in the place of references, for whoever really wants files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import ConfigException, UnresolvedError
from ...reference import find_all, substitute
from .references import column_type, distinct_texts, references

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
    when this is called, and with :class:`DriverSecrets` each location is asked once for the whole
    application. The result itself holds the values, so cached, shuffled or checkpointed it puts
    them on disk, in the clear unless ``spark.io.encryption.enabled`` is set.

    Raises one :class:`UnresolvedError` that names the first 20 references without a value; with
    *strict* off they stay as typed, but for those whose provider failed or refused.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    if not isinstance(column_type(df, column), StringType):
        raise ConfigException(f"column {column!r} is not text")
    nobody = f.lit("")
    values = df.select(nobody.alias("id"), nobody.alias("key"), df[column].alias("value"))
    texts = distinct_texts(references(values))
    handles = _handles(texts, secrets, column, strict=strict)
    return df.mapInArrow(_substituting(column, handles), df.schema)


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
    column: str, handles: Mapping[str, Secret]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what executors do; it travels with *handles*, which hold no value."""

    def substituted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            field = batch.schema.field(column)
            texts = batch[column].to_pylist()
            values = pa.array(_substitute(texts, handles), field.type)
            yield batch.set_column(batch.schema.get_field_index(column), field, values)

    return substituted


def _substitute(texts: list[str | None], handles: Mapping[str, Secret]) -> list[str | None]:
    distinct = {text: text for text in texts if text is not None}
    found = find_all(distinct)
    wanted = {each.text: each for references in found.values() for each in references}
    values: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for text, reference in wanted.items():
        if text in handles:
            values[reference.provider, reference.path][reference.key] = handles[text].value()
    done, _ = substitute(distinct, found, values)
    return [None if text is None else done[text] for text in texts]
