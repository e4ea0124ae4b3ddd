"""Which references of many configs resolve: each place asked once, by the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...data import ConfigData
from ...provider import ConfigProvider
from ...reports import outcome
from ...transformer import ConfigTransformer, explain
from .._resolution import Configs, opened, read_entries
from .references import distinct_texts, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMA = "text string, outcome string, error string, ttl interval day to second"


def check(
    found: DataFrame,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
) -> DataFrame:
    """Return *found*, made by :func:`references`, with what came of each reference.

    The distinct references are collected, at about 2 KB of the driver's memory each, and each
    location is asked once, in batches and several at a time, when this is called. The columns
    added, in the place of any that an earlier call added, are ``outcome`` (found, stale, missing,
    refused or failed), ``error`` (why there is no value, else null) and ``ttl`` (how long the
    value may be used, null if nobody says). No value leaves the driver.

    The providers are those that *configs* declares (a mapping, or the path of a file) and the live
    ones in *providers*, which win. With neither they are ``file``, ``directory`` and ``env``, on
    the machine of the driver.
    """
    texts = distinct_texts(found)
    with opened(read_entries(configs)[0], providers) as known:
        rows = list(_outcomes(texts, ConfigTransformer(known)))
    return joined(found, rows, _SCHEMA)


def _outcomes(texts: list[str], transformer: ConfigTransformer) -> Iterator[tuple[object, ...]]:
    plan = transformer.plan({text: text for text in texts})
    answers = transformer.fetch(plan)
    for use, error in explain(plan, answers):
        answer = answers.get(use.location)
        ttl = answer.ttl if isinstance(answer, ConfigData) and error is None else None
        yield use.config_key, outcome(error, answer), str(error) if error else None, ttl
