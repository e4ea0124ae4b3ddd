"""Every example is run as its own text says, from the top of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from configproviders import properties

TOP = Path(__file__).parent.parent
EXAMPLES = TOP / "examples"


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_resolve_files() -> None:
    out = run("examples/resolve_files.py")

    assert "password = päss\n" in out
    assert "cache.password = 0123\n" in out
    assert "no key 'pasword' at '/run/secrets/db.properties'; did you mean 'password'?" in out


@pytest.mark.spark
def test_spark_session() -> None:
    assert run("examples/spark_session.py") == (
        "Hadoop has it: True\nSET shows: *********(redacted)\non the JVM's command line: False\n"
    )


@pytest.mark.spark
def test_spark_jdbc() -> None:
    """What ``make demo`` runs."""
    secrets = properties.loads((EXAMPLES / "spark_jdbc" / "secrets.properties").read_text())

    out = run("examples/spark_jdbc/create_database.py") + run("examples/spark_jdbc/job.py")

    assert "336,776 flights are in jdbc:derby:examples/spark_jdbc/output/flights" in out
    assert "read in 2 partitions:" in out
    assert "|     UA|  58665|              12.1|               1529|" in out
    assert "spark.hadoop.fs.s3a.secret.key = *********(redacted)" in out
    assert "the password stands in no printed config" in out
    assert not any(secrets[key] in out for key in ("db.password", "s3.secret.key"))
    for file in (EXAMPLES / "spark_jdbc" / "output").rglob("*"):
        assert file.is_dir() or secrets["db.password"].encode() not in file.read_bytes()


def test_the_config_of_the_job_is_resolved_and_a_broken_one_is_not(tmp_path: Path) -> None:
    job = EXAMPLES / "spark_jdbc" / "job.properties"
    secrets = properties.loads((EXAMPLES / "spark_jdbc" / "secrets.properties").read_text())
    broken = tmp_path / "broken.properties"
    broken.write_text(job.read_text().replace(":db.user}", ":db.usr}"))

    resolved = properties.loads(run("-m", "configproviders", str(job)))
    failed = subprocess.run(
        [sys.executable, "-m", "configproviders", str(broken)],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )

    assert resolved["jdbc.password"] == secrets["db.password"]
    assert failed.returncode == 1
    assert "jdbc.user: ${file:examples/spark_jdbc/secrets.properties:db.usr}" in failed.stderr
    assert not any(secret in failed.stderr + failed.stdout for secret in secrets.values())


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text()
    programs = {path.name.removesuffix(".py") for path in EXAMPLES.iterdir()} - {"__pycache__"}

    # The package of custom_provider has tests of its own, which are collected with these.
    assert all(f"test_{name}()" in here for name in programs - {"custom_provider"})
    assert "examples/custom_provider" in (TOP / "pyproject.toml").read_text()
    assert os.path.exists(EXAMPLES / "custom_provider" / "tests")
