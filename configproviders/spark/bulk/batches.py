"""The references in batches of texts: the grammar of :mod:`configproviders.reference`, by columns.

A text whose references are all ``${…}`` is cut behind each ``}``: what ends there begins at the
first ``${`` since the cut before, if a colon follows it. So it is with ``$<…>`` alone. Where both
stand in one text they may overlap, and :func:`configproviders.reference.find` reads it.

Executors load this module, and the driver when references are wanted: all of it is Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...reference import find

OPENERS = ("${", "$<")
COLUMNS = ("config", "config_key", "provider", "path", "key", "start", "end", "text")


def find_in_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield ``COLUMNS``, a row for each reference, for batches of config, config key and value.

    No value is null. Offsets are in characters, from 0, the end exclusive.
    """
    for batch in batches:
        braces, angles = (pc.match_substring(batch["value"], opener) for opener in OPENERS)
        if (part := batch.filter(pc.and_not(braces, angles))).num_rows:
            yield _cut(part, "${", "}")
        if (part := batch.filter(pc.and_not(angles, braces))).num_rows:
            yield _cut(part, "$<", ">")
        if (part := batch.filter(pc.and_(braces, angles))).num_rows:
            yield _read(part)


def _cut(batch: pa.RecordBatch, opener: str, closer: str) -> pa.RecordBatch:
    pieces = pc.split_pattern(batch["value"], closer)
    row, piece, start = pc.list_parent_indices(pieces), pieces.flatten(), _starts(pieces)
    is_last = pc.not_equal(row, pa.concat_arrays([row[1:], pa.array([-1], row.type)]))
    holds = pc.and_not(pc.match_like(piece, f"%{opener}%:%"), is_last)
    halves = pc.split_pattern(piece.filter(holds), opener, max_splits=1)
    before, inner = (pc.list_element(halves, number) for number in range(2))
    start = pc.add(start.filter(holds), pc.utf8_length(before))
    # Spark may be set to large strings, and Arrow joins only what is of one kind.
    first, last, between = (pa.scalar(each, inner.type) for each in (opener, closer, ""))
    text = pc.binary_join_element_wise(first, inner, last, between)
    return _rows(batch, row.filter(holds), [*_parts(inner), start, text])


def _starts(pieces: pa.ListArray) -> pa.Array:
    """Return where each piece begins in its text, one character having stood between any two."""
    size = pc.add(pc.utf8_length(pieces.flatten()), 1)
    begin = pc.subtract(pc.cumulative_sum(size), size)
    firsts = pieces.offsets.take(pc.list_parent_indices(pieces))
    return pc.subtract(begin, begin.take(firsts))


def _parts(inner: pa.Array) -> Iterator[pa.Array]:
    has_no_path = pc.equal(pc.count_substring(inner, ":"), 1)
    with_path = pc.if_else(has_no_path, pc.replace_substring(inner, ":", "::"), inner)
    parts = pc.split_pattern(with_path, ":", max_splits=2)
    return (pc.list_element(parts, number) for number in range(3))


def _read(batch: pa.RecordBatch) -> pa.RecordBatch:
    found = [
        (row, each.provider, each.path, each.key, each.start, each.text)
        for row, text in enumerate(batch["value"].to_pylist())
        for each in find(text)
    ]
    text = batch["value"].type
    kinds = [pa.int64(), text, text, text, pa.int32(), text]
    columns: Sequence[Any] = list(zip(*found, strict=True)) or [[]] * len(kinds)
    row, *others = map(pa.array, columns, kinds)
    return _rows(batch, row, others)


def _rows(batch: pa.RecordBatch, row: pa.Array, columns: Sequence[pa.Array]) -> pa.RecordBatch:
    *where, start, text = columns
    span = [each.cast(pa.int32()) for each in (start, pc.add(start, pc.utf8_length(text)))]
    whose = [batch["config"].take(row), batch["config_key"].take(row)]
    return pa.RecordBatch.from_arrays([*whose, *where, *span, text], names=list(COLUMNS))
