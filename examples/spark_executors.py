"""Gives the tasks of a Spark job a password that no closure carries, and changes it meanwhile."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from configproviders.spark.executors import DriverSecrets, Secret


def main() -> None:
    """Log in from tasks, twice: the second time the password is another."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    with tempfile.TemporaryDirectory() as directory, builder.getOrCreate() as spark:
        file = Path(directory, "db.properties")
        file.write_text("password=Hq2-made-up-Zx9\n")
        with DriverSecrets(spark) as secrets:
            password = secrets.secret(f"${{file:{file}:password}}")
            print("a handle, printed:", str(password).replace(directory, ""))
            print("what is pickled holds the password:", b"Hq2" in pickle.dumps(password))
            for current in ("Hq2-made-up-Zx9", "Wm7-made-up-Kd4"):
                file.write_text(f"password={current}\n")
                log_in = logging_in(password, current)
                tasks = spark.sparkContext.range(8, numSlices=4).mapPartitions(log_in)
                print("tasks that logged in:", sum(tasks.collect()))


def logging_in(password: Secret, accepted: str) -> Callable[[Iterable[int]], Iterator[int]]:
    """Return a task: it tries once more if what it was given is not *accepted* any more."""

    def log_in(_: Iterable[int]) -> Iterator[int]:
        if password.value() != accepted:  # As a database would say.
            password.invalidate()
        yield int(password.value() == accepted)

    return log_in


if __name__ == "__main__":
    main()
