"""Writes and reads Parquet on S3 with keys from a file, and shows where the secret one stands.

    python examples/spark_s3a.py ENDPOINT s3a://BUCKET/FOLDER KEYS.properties [JAR ...]

*KEYS.properties* holds ``access.key`` and ``secret.key``. Without jars, Spark fetches S3A and the
18 MB that it needs of AWS's SDK, instead of all 690 MB.
"""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from configproviders import properties
from configproviders.spark import create_session

S3A = "org.apache.hadoop:hadoop-aws:3.5.0"  # The version of PySpark's own Hadoop.
SDK = "software.amazon.awssdk:s3-transfer-manager:2.35.4"  # The version of S3A's.
PACKAGES = {
    "spark.jars.packages": f"{S3A},{SDK}",
    "spark.jars.excludes": "software.amazon.awssdk:bundle",
}


def main(endpoint: str, folder: str, keys: str, *jars: str) -> None:
    """Write and read in a *folder* of S3; look for the secret key."""
    job = {
        "spark.master": "local[2]",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.port": "0",
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": f"${{file:{keys}:access.key}}",
        "spark.hadoop.fs.s3a.secret.key": f"${{file:{keys}:secret.key}}",
        **({"spark.jars": ",".join(jars)} if jars else PACKAGES),
    }
    with create_session(SparkSession.builder, job) as spark:
        spark.range(1_000).write.mode("overwrite").parquet(folder)
        print(f"{spark.read.parquet(folder).count():,} rows are in {folder}")
        secret = properties.loads(Path(keys).read_text())["secret.key"]
        for place, text in places(spark).items():
            print(f"{place}: {'here it is' if secret in text else 'not here'}")


def places(spark: SparkSession) -> dict[str, str]:
    """Return the text of each place where somebody might look for a secret."""
    context: Any = spark.sparkContext
    process = Path("/proc", str(context._gateway.proc.pid))
    rest = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/environment"
    with urllib.request.urlopen(rest) as answer:  # noqa: S310  It is Spark's own, on loopback.
        environment = answer.read().decode()
    return {
        "the JVM's command line": (process / "cmdline").read_text(),
        "the JVM's environment": (process / "environ").read_text(),
        "Spark's conf": context.getConf().toDebugString(),
        "SET": str(spark.sql("SET").collect()),
        "the REST API": environment,
        "Hadoop's configuration": context._jsc.hadoopConfiguration().get("fs.s3a.secret.key"),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
