"""How many rows of configs are searched in a second: ``references`` against a bare scan.

The scan is Spark's own ``regexp_extract_all`` with Kafka's pattern over the same Parquet. One row
in five holds a reference, one in 25 two of them. Wall time, both sides in turn.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from configproviders.spark import references

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KAFKA_PATTERN = r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}"
FEW, MANY, ROUNDS = 1_000_000, 10_000_000, 5
PLAIN = [
    "org.apache.kafka.connect.json.JsonConverter",
    "true",
    "10000",
    "eu-central-1",
    "broker-1.example.net:9092,broker-2.example.net:9092",
    "^orders-[0-9]+$",
    "select * from orders where updated > ? and state = 1",
    "/var/lib/app/data",
]


def main() -> None:
    """Print the ratio for each size, and how the time of a row grows from one to the other."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryDirectory() as directory, builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        sides = {rows: both(entries(spark, rows, f"{directory}/{rows}")) for rows in (FEW, MANY)}
        for side in sides[FEW]:
            seconds(side)  # It is warm.
        rounds = [{rows: seconds_of_both(*sides[rows]) for rows in sides} for _ in range(ROUNDS)]
    for rows in sides:
        show(rows, [each[rows] for each in rounds])
    growth = spread([each[MANY][0] / each[FEW][0] / (MANY / FEW) for each in rounds], ".2f")
    print(f"{growth} x  references, the time of a row in {MANY:,} to one in {FEW:,}, goal 1 x")


def entries(spark: SparkSession, rows: int, path: str) -> DataFrame:
    """Write entries of configs, 20 for each, as Parquet; return them as they are read."""
    plain = f.element_at(f.array(*map(f.lit, PLAIN)), (f.col("id") * 7 % 8 + 1).cast("int"))
    team, number = f.col("id") % 997, f.col("id") % 89
    one = f.format_string("${vault:secret/data/team%d/db%d:password}", team, number)
    url = "jdbc:postgresql://db%d/orders?user=${file:/etc/app/%d.properties:user}&password=%s"
    two = f.format_string(url, number, team, one)
    value = f.when(f.col("id") % 25 == 4, two).when(f.col("id") % 5 == 4, one)
    config = f.concat(f.lit("config-"), f.floor(f.col("id") / 20))
    key = f.concat(f.lit("setting."), f.col("id") % 20)
    plain = f.concat(plain, f.when(f.col("id") % 3 == 0, f.col("id").cast("string")).otherwise(""))
    df = spark.range(rows).select(
        config.alias("id"), key.alias("key"), value.otherwise(plain).alias("value")
    )
    df.write.parquet(path)
    return spark.read.parquet(path)


def both(df: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return ours and the scan."""
    scanned = f.regexp_extract_all("value", f.lit(KAFKA_PATTERN), f.lit(0))
    return references(df), df.select("id", "key", scanned)


def seconds_of_both(ours: DataFrame, scan: DataFrame) -> tuple[float, float]:
    """Measure one after the other."""
    return seconds(ours), seconds(scan)


def seconds(df: DataFrame) -> float:
    """Return how long it takes to have all rows of *df*."""
    start = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def show(rows: int, rounds: Sequence[tuple[float, float]]) -> None:
    """Print the ratio, and the speed of both sides."""
    ratio = spread([scan / ours for ours, scan in rounds], ".2f")
    ours, scan = (spread([rows / each[side] for each in rounds], ",.0f") for side in range(2))
    name = f"references of {rows:,} rows"
    print(f"{ratio} x  {name}: {ours} rows/s against the scan's {scan}, goal 0.5 x")


def spread(values: Sequence[float], form: str) -> str:
    """Write the median with the least and the most."""
    return f"{statistics.median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


if __name__ == "__main__":
    main()
