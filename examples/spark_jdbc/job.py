"""Reads a password-protected database over JDBC with a password that stands in no config.

Run from the top of the repository, after create_database.py; ``make demo`` does both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from configproviders import FileConfigProvider
from configproviders.config_file import read_configs
from configproviders.spark import create_session, resolve_options

JOB = "examples/spark_jdbc/job.properties"
SECRETS = "examples/spark_jdbc/secrets.properties"
RESULT = "examples/spark_jdbc/output/delays.parquet"


def main() -> None:
    """Read the flights, aggregate them, write and print the result, and look for the secrets."""
    configs = read_configs(JOB)
    spark_part = {key: value for key, value in configs.items() if key.startswith("spark.")}
    jdbc_part = {
        key.removeprefix("jdbc."): value
        for key, value in configs.items()
        if key.startswith("jdbc.")
    }
    with create_session(SparkSession.builder, spark_part) as spark:
        options = resolve_options(jdbc_part)
        flights = spark.read.format("jdbc").options(**options).load()
        delays = flights.groupBy("CARRIER").agg(
            f.count("*").alias("flights"),
            f.round(f.avg("DEP_DELAY"), 1).alias("mean_delay_minutes"),
            f.round(f.avg("DISTANCE")).cast("int").alias("mean_distance_miles"),
        )
        delays.write.mode("overwrite").parquet(RESULT)
        written = spark.read.parquet(RESULT).orderBy(f.desc("flights"))
        print(f"read in {flights.rdd.getNumPartitions()} partitions:")
        written.show(8)
        look_for_secrets(spark)


def look_for_secrets(spark: SparkSession) -> None:
    """Look for each secret where plain PySpark would show it."""
    gateway: Any = spark.sparkContext._gateway
    places = {
        "the job's config": Path(JOB).read_text(),
        "SET": "\n".join(f"{row.key} = {row.value}" for row in spark.sql("SET").collect()),
        "the JVM's command line": Path(f"/proc/{gateway.proc.pid}/cmdline").read_text(),
    }
    for name, secret in FileConfigProvider().get(SECRETS).data.items():
        found = [place for place, text in places.items() if secret in text]
        print(f"{name} stands in: {', '.join(found) or 'none of ' + ', '.join(places)}")


if __name__ == "__main__":
    main()
