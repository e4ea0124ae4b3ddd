"""What several test files share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from configproviders import cli, properties

pytest.register_assert_rewrite("configproviders.testing")

from configproviders.testing import CANARY  # noqa: E402  After it is set up to be rewritten.

pytest_plugins = ["servers.fixtures"]


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a file, and let a second pass so that a provider may keep what it parsed."""

    def write(name: str, text: str | Mapping[str, str]) -> Path:
        file = tmp_path / name
        file.write_text(text if isinstance(text, str) else properties.dumps(text), newline="")
        monkeypatch.setattr("time.time_ns", lambda: file.stat().st_ctime_ns + 1_000_000_000)
        return file

    return write


@pytest.fixture
def public_directory() -> Iterator[Path]:
    """Give a directory that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def as_nobody() -> Callable[[], AbstractContextManager[None]]:
    """Be nobody for a while, where the tests run as root."""

    @contextmanager
    def become_nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return become_nobody


@pytest.fixture
def job_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a job, its secrets, and a job with a broken reference."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secrets.properties").write_text(f"user=orders\npassword={CANARY}\n")
    (tmp_path / "job.properties").write_text(
        "spark.app.name=job\n"
        "spark.hadoop.fs.s3a.secret.key=${file:secrets.properties:password}\n"
        "jdbc.user=$<file:secrets.properties:user>\n"
    )
    (tmp_path / "broken.properties").write_text(
        "fine=${file:secrets.properties:password}\njdbc.user=${file:secrets.properties:usr}\n"
    )
    return tmp_path


def pytest_configure() -> None:
    """Have the JVMs of the tests stay on loopback and start fast: they live too short for C2."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Else the workers' is that of PATH.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a JVM, visibly, where there is no Java; in CI it fails instead."""
    if shutil.which("java") is None and not {"JAVA_HOME", "CI"} & os.environ.keys():
        for item in items:
            if item.get_closest_marker("spark"):
                item.add_marker(pytest.mark.skip(reason="no Java on this machine"))
    items.sort(key=lambda item: item.name != "test_spark_jdbc")  # The longest goes first.


@pytest.fixture(scope="session")
def jvm() -> Any:
    """Return the entry to a JVM, one for all tests that ask Java what is right."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    return SparkContext._jvm


@pytest.fixture
def in_a_process(tmp_path: Path) -> Callable[..., str]:
    """Run Python code in a process of its own; return what it prints."""

    def run(code: str, **environ: str) -> str:
        (tmp_path / "program.py").write_text(code)
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def run(
    job_directory: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process, in a directory with a job, its secrets and a broken job."""

    def main(*argv: str) -> tuple[int, str, str]:
        try:
            code = cli.main(argv)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        return code, *capfd.readouterr()

    return main
