"""Wraps the creation of a SparkSession, and shows that the secret is on no command line."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from configproviders.spark import create_session


def main() -> None:
    """Create a session with a secret in its configuration; look where it is shown."""
    with tempfile.TemporaryDirectory() as directory:
        secrets = Path(directory, "s3.properties")
        secrets.write_text("secret.key=Hq2-made-up-Zx9\n")
        builder = (
            SparkSession.builder.master("local[1]")
            .appName("spark_session")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.hadoop.fs.s3a.secret.key", f"${{file:{secrets}:secret.key}}")
        )
        with create_session(builder) as spark:
            hadoop = spark.sparkContext._jsc.hadoopConfiguration()
            gateway: Any = spark.sparkContext._gateway
            shown = spark.sql("SET spark.hadoop.fs.s3a.secret.key").collect()[0].value
            command_line = Path(f"/proc/{gateway.proc.pid}/cmdline").read_text()
            print("Hadoop has it:", hadoop.get("fs.s3a.secret.key") == "Hq2-made-up-Zx9")
            print("SET shows:", shown)
            print("on the JVM's command line:", "Hq2" in command_line)


if __name__ == "__main__":
    main()
