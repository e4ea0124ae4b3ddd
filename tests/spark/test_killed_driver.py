"""A driver that is killed leaves nothing behind: what it knows lies in its memory alone."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    temporary, canary = tmp_path / "tmp", secrets.token_hex(12)
    temporary.mkdir()
    (tmp_path / "s.properties").write_text(f"key={canary}\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    before = set(shared_files())
    with (
        (tmp_path / "errors").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as driver,
    ):
        said = driver.stdout.readline() if driver.stdout else ""
        driver.send_signal(signal.SIGKILL)
    assert said, (tmp_path / "errors").read_text()
    length, jvm = map(int, said.split())
    os.kill(jvm, signal.SIGKILL)
    end = time.monotonic() + 60
    while is_alive(jvm):
        assert time.monotonic() < end
        time.sleep(0.02)

    left = [*tmp_path.rglob("*"), *(set(shared_files()) - before)]
    files = [file for file in left if file.is_file() and file.name != "s.properties"]
    assert length == len(canary)
    assert [file for file in files if canary.encode() in content(file)] == []


def content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # It was another process's.
        return b""


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
