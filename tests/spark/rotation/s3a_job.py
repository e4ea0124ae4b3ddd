"""Reads from S3 while the secret key is rotated, as one application on a master that is given."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from servers.moto import ADMIN, run_moto

from configproviders import properties
from configproviders.spark import LiveConfigs, retrying
from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUCKET, KEY, REGION, FILES = "rotated", "READER", "eu-west-1", 4
ROTATIONS = 3


def main(master: str, jars: list[str]) -> None:
    """Read, rotate and read again; print what came of it."""
    from pyspark.sql import SparkSession

    secret = Path("s3.properties")
    put(secret, f"{CANARY}-0")
    with run_moto() as moto:
        moto.secret_keys[KEY] = f"{CANARY}-0"
        fill(moto.url)
        confs = {
            "spark.master": master,
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.jars": ",".join(jars),
            "spark.hadoop.fs.s3a.endpoint": moto.url,
            "spark.hadoop.fs.s3a.endpoint.region": REGION,
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.attempts.maximum": "1",
            "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": f"${{file:{secret.resolve()}:secret}}",
        }
        with LiveConfigs(confs) as live, live.create_session(SparkSession.builder) as spark:
            tries: list[int] = []

            def read() -> int:
                tries.append(live.revision)
                return spark.read.text(f"s3a://{BUCKET}/").count()

            rows = [retrying(read, live)()]
            for number in range(1, ROTATIONS + 1):
                moto.secret_keys[KEY] = f"{CANARY}-{number}"
                later = threading.Timer(0.5, put, (secret, f"{CANARY}-{number}"))
                later.start()
                rows.append(retrying(read, live)())
                later.join()
            print(json.dumps({"rows": rows, "tries": tries, "uncached": uncached(spark)}))  # noqa: T201  For the test.


def fill(url: str) -> None:
    """Put files of one line each into a bucket."""
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=ADMIN,
        aws_secret_access_key="any",
    )
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    for number in range(FILES):
        client.put_object(Bucket=BUCKET, Key=f"{number}.txt", Body=b"a line\n")


def put(file: Path, secret: str) -> None:
    """Replace *file* whole."""
    spare = file.with_suffix(".new")
    spare.write_text(properties.dumps({"secret": secret}))
    spare.replace(file)


def uncached(spark: SparkSession) -> Any:
    """Return whether jobs are told not to use the cache of file systems."""
    context: Any = spark.sparkContext
    return context._jsc.hadoopConfiguration().get("fs.s3a.impl.disable.cache")
