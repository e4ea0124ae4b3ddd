from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from configproviders import reference
from configproviders.spark.bulk.batches import find_in_batches

PARTS = ["${", "$<", "}", ">", ":", "$", "{", "a", "ä", "💣", "\n"]


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.lists(st.sampled_from(PARTS)).map("".join)))
def test_by_columns_the_same_is_found_as_by_the_grammar(texts: list[str]) -> None:
    places = [str(number) for number in range(len(texts))]
    columns = [pa.array(column, pa.string()) for column in (places, places, texts)]
    batch = pa.RecordBatch.from_arrays(columns, names=["config", "config_key", "value"])

    found = [row for part in find_in_batches(iter([batch])) for row in part.to_pylist()]

    expected = [
        (place, place, each.provider, each.path, each.key, each.start, each.text)
        for place, text in zip(places, texts, strict=True)
        for each in reference.find(text)
    ]
    ends = [row.pop("end") - row["start"] == len(row["text"]) for row in found]
    assert sorted(tuple(row.values()) for row in found) == sorted(expected)
    assert all(ends)
