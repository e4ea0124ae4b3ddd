"""What delivery costs: the start of a session with 50 secrets, and rows read over JDBC.

Each round starts both sides, one after the other in turn, in processes of their own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from servers.jars import POSTGRESQL, jar
from servers.postgres import postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS, SECRETS, ROWS, READS = 7, 50, 2_000_000, 5
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


def main() -> None:
    """Print both figures."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as directory:
        secrets = Path(directory, "secrets.properties")
        secrets.write_text("".join(f"k{number}=value-{number}\n" for number in range(SECRETS)))
        compare("start", str(secrets), unit="s", better="less", goal=1.05)
    with tempfile.TemporaryDirectory() as directory, postgres() as server:
        secrets = Path(directory, "secrets.properties")
        secrets.write_text(f"k={server.password}\n")
        compare("read", str(secrets), server.jdbc_url, unit="rows/s", better="more", goal=0.98)


def compare(what: str, *arguments: str, unit: str, better: str, goal: float) -> None:
    """Run *what* on both sides in turn; print medians, deciles, and the median of the ratios."""
    ours, plain = list[float](), list[float]()
    for number in range(ROUNDS):
        for side, figures in [("ours", ours), ("plain", plain)][:: -1 if number % 2 else 1]:
            figures.append(in_a_process(what, side, *arguments))
    ratios = [one / other for one, other in zip(ours, plain, strict=True)]
    print(
        f"{what}: {shown(ours)} {unit} against {shown(plain)} {unit} of plain PySpark;"
        f" {shown(ratios)} x ({better} is better; goal {goal})",
        flush=True,
    )


def in_a_process(what: str, side: str, *arguments: str) -> float:
    """Measure *what* on one side in a process of its own."""
    command = [sys.executable, __file__, what, side, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def shown(figures: Sequence[float]) -> str:
    """Return the median, and least and most in brackets."""
    least, most, median = min(figures), max(figures), statistics.median(figures)
    return (
        f"{median:,.3g} ({least:,.3g}-{most:,.3g})"
        if median < 1000
        else (f"{median:,.0f} ({least:,.0f}-{most:,.0f})")
    )


def start(side: str, secrets: str) -> float:
    """Return the seconds from a builder to a session with all secrets in its confs."""
    begin = time.perf_counter()
    half = SECRETS // 2
    names = {f"spark.hadoop.fs.x{number}.password": number for number in range(half)}
    names |= {f"spark.x{number}.password": number for number in range(half, SECRETS)}
    session(side, {key: f"${{file:{secrets}:k{number}}}" for key, number in names.items()})
    return time.perf_counter() - begin


def read(side: str, secrets: str, url: str) -> float:
    """Return the rows that are read in a second, the best of several times."""
    spark = session(side, {}, {"spark.jars": str(jar(POSTGRESQL))})
    options = {"url": url, "user": "postgres", "password": f"${{file:{secrets}:k}}"}
    options |= {"dbtable": f"(SELECT * FROM generate_series(1, {ROWS}) AS t (i)) AS t"}
    options |= {"fetchsize": "10000", "driver": "org.postgresql.Driver"}
    taken = []
    for _ in range(READS):
        begin = time.perf_counter()
        rows = spark.read.format("jdbc").options(**delivered(side, options)).load()
        rows.write.format("noop").mode("overwrite").save()
        taken.append(time.perf_counter() - begin)
    return ROWS / min(taken)


def session(
    side: str, secrets: Mapping[str, str], others: Mapping[str, str] | None = None
) -> SparkSession:
    """Return a session with *secrets*, references, and *others*."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for key, text in {**QUIET, **(others or {})}.items():
        builder.config(key, text)
    if side == "plain":
        for key, text in delivered(side, secrets).items():
            builder.config(key, text)
        return builder.getOrCreate()
    from configproviders.spark import create_session

    return create_session(builder, secrets)


def delivered(side: str, options: Mapping[str, str]) -> Mapping[str, str]:
    """Return *options* with values: ours, or the same from a plain program."""
    if side == "ours":
        from configproviders.spark import resolve_options

        return resolve_options(options)
    from configproviders import properties

    path = next((text.split(":")[1] for text in options.values() if text.startswith("${")), None)
    values = properties.loads(Path(path).read_text()) if path else {}
    return {
        key: values[text.split(":")[2].rstrip("}")] if text.startswith("${") else text
        for key, text in options.items()
    }


if __name__ == "__main__":
    if sys.argv[1:]:
        what, *arguments = sys.argv[1:]
        print(json.dumps(start(*arguments) if what == "start" else read(*arguments)))
    else:
        main()
