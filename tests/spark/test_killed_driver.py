"""A driver that is killed leaves nothing behind: what it knows lies in its memory alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from configproviders.testing import CANARY

PROGRAM = """
import os, time
from pyspark.sql import SparkSession
from configproviders.spark import create_session, resolve_options
from configproviders.spark.executors import DriverSecrets

secret = "${file:s.properties:key}"
builder = SparkSession.builder.master("local[1]").config("spark.local.dir", "local")
spark = create_session(builder, {"spark.ui.enabled": "false", "spark.my.dsn": secret,
    "spark.hadoop.fs.x.key": secret, "spark.sql.catalog.x.key": secret})
options = resolve_options({"password": secret})
handle = DriverSecrets(spark).secret(secret)
lengths = spark.sparkContext.parallelize([1]).map(lambda _: len(handle.value())).collect()
print(lengths[0], spark.sparkContext._gateway.proc.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.spark
def test_kill_9_leaves_no_file_with_a_secret(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (tmp_path / "s.properties").write_text(f"key={CANARY}\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    before = set(shared_files())
    with subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        length, jvm = map(int, next(iter(driver.stdout or ())).split())
        driver.send_signal(signal.SIGKILL)
    os.kill(jvm, signal.SIGKILL)
    while is_alive(jvm):
        time.sleep(0.02)

    left = [*tmp_path.rglob("*"), *(set(shared_files()) - before)]
    files = [file for file in left if file.is_file() and file.name != "s.properties"]
    assert length == len(CANARY)
    assert [file for file in files if CANARY.encode() in file.read_bytes()] == []


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""  # A zombie has none.
    except FileNotFoundError:
        return False


def shared_files() -> Iterator[Path]:
    for folder in (Path(tempfile.gettempdir()), Path("/dev/shm")):
        for entry in folder.iterdir():
            if not entry.name.startswith("pytest-of-"):
                yield from entry.rglob("*") if entry.is_dir() else [entry]
