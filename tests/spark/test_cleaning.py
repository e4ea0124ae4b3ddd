"""What Spark says of its failures, and what Python code says of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from configproviders.known_values import REDACTED
from configproviders.spark.cleaning import clean, cleaned_error, remember
from configproviders.testing import CANARY

PROGRAM = """
import json, sys, time
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from configproviders.spark import create_session, resolve_options

secret = "${file:s.properties:key}"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
if sys.argv[1:] != ["plain"]:
    spark = create_session(builder, {"spark.my.dsn": secret})
    value = resolve_options({"k": secret})["k"]
else:
    spark = builder.getOrCreate()
    value = open("s.properties").read().strip().removeprefix("key=")
spark.conf.set("spark.sql.pyspark.jvmStacktrace.enabled", "true")
jvm = spark.sparkContext._jvm

def failing_query(name, function):
    rates = spark.readStream.format("rate").load()
    query = rates.writeStream.foreachBatch(function).option("checkpointLocation", name).start()
    try:
        query.awaitTermination(60)
    except Exception as error:
        yield error
    yield query.exception()

def of_foreach_batch(df, batch):
    raise RuntimeError(f"for {value}")

def errors():
    yield from failing_query("one", of_foreach_batch)
    text = str(value)  # The other is not pickled.
    udf = F.udf(lambda x: int(text + "!"), "int")
    for act in (
        lambda: spark.sql(f"SELEC '{value}'"),
        lambda: spark.sql(f"SELECT '{value}' FROM nowhere"),
        lambda: spark.read.format("jdbc").option("url", f"jdbc:derby:{value}").option(
            "dbtable", "t").load(),
        lambda: spark.conf.set("spark.sql.shuffle.partitions", value),
        lambda: jvm.java.lang.Integer.parseInt(value),
        lambda: jvm.java.net.URI(f"x:{value} {value}"),
        lambda: spark.range(1).select(udf("id")).collect(),
        lambda: spark.range(1).select(F.raise_error(F.lit(value))).collect(),
    ):
        try:
            act()
        except Exception as error:
            yield error

def everything(error):
    yield str(error)
    for name in ("getMessage", "getMessageParameters", "getErrorClass", "getCondition"):
        if hasattr(error, name):
            yield str(getattr(error, name)())
    yield str(vars(error))
    if hasattr(error, "getQueryContext"):
        for context in error.getQueryContext():
            yield context.fragment() if context.contextType().name == "SQL" else context.summary()
    if getattr(error, "_cause", None) is not None:
        yield from everything(error._cause)

import warnings
warnings.simplefilter("ignore")
said = [(type(error).__name__, list(everything(error))) for error in errors()]
print(json.dumps(said))
"""


@pytest.fixture
def secret(tmp_path: Path) -> str:
    (tmp_path / "s.properties").write_text(f"key={CANARY}\n")
    return CANARY


@pytest.mark.spark
def test_what_spark_says_of_its_failures_holds_no_value(
    in_a_process: Callable[..., str], secret: str
) -> None:
    said = json.loads(in_a_process(PROGRAM))

    assert len(said) == 10
    redacted = [name for name, texts in said if any(REDACTED in text for text in texts)]
    assert len(redacted) == 10, redacted
    assert secret not in str(said)


def test_errors_of_python_are_cleaned_in_place_with_their_causes() -> None:
    remember([CANARY])
    original = ValueError(f"cannot connect with {CANARY}", 3)
    original.add_note(f"to {CANARY}")
    try:
        try:
            raise original
        except ValueError as error:
            raise KeyError(CANARY) from error
    except KeyError as error:
        cleaned = cleaned_error(error)

    assert isinstance(cleaned, KeyError)
    assert cleaned.__cause__ is original
    assert str(original) == f"('cannot connect with {REDACTED}', 3)"
    assert original.__notes__ == [f"to {REDACTED}"]
    assert clean(str(cleaned)) == str(cleaned)


def test_an_error_with_a_text_of_its_own_is_replaced_by_one_that_says_its_type() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            return f"odd {CANARY}"

    remember([CANARY])
    error = RuntimeError("outer")
    error.__context__ = OddError()

    cleaned = cleaned_error(error)

    assert cleaned is error
    assert str(cleaned.__context__) == f"OddError: odd {REDACTED}"
