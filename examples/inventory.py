"""Asks 1,000 configs in Parquet who uses a secret, and which of their references resolve."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from configproviders.spark import affected_by, check, references


def main() -> None:
    """Write the configs and the secrets of some of them; print what is known without a value."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    with tempfile.TemporaryDirectory() as directory, builder.getOrCreate() as spark:
        for number in range(4):  # The fifth has none.
            Path(directory, f"team-{number}.properties").write_text("user=u\npassword=made-up\n")
        team = f.concat(f.lit(f"file:{directory}/team-"), f.col("id") % 5, f.lit(".properties:"))
        url = f.concat(f.lit("jdbc:postgresql://db/orders?user=${"), team, f.lit("user}"))
        password = f.concat(f.lit("${"), team, f.lit("password}"))
        config = f.create_map(
            *map(f.lit, ("topics", "orders")), f.lit("url"), url, f.lit("password"), password
        )
        configs = spark.range(1000).select(f.concat(f.lit("job-"), "id").alias("id"), config)
        configs.toDF("id", "config").write.parquet(f"{directory}/configs")

        found = references(spark.read.parquet(f"{directory}/configs"), "config").cache()
        affected = affected_by(found, f"file:{directory}/team-3.properties")

        print(found.count(), "references")
        print(affected.select("config").distinct().count(), "configs use the secrets of team 3")
        for outcome, count in check(found).groupBy("outcome").count().orderBy("outcome").collect():
            print(f"{outcome}: {count}")


if __name__ == "__main__":
    main()
