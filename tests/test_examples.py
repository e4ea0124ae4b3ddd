"""Every example is run as its own text says, from the top of the repository."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from servers.jars import S3A, jar
from servers.moto import Moto

from configproviders import properties
from configproviders.testing import CANARY

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
@pytest.mark.aws
def test_spark_s3a(moto: Moto, tmp_path: Path) -> None:
    """S3 lets in only those who sign with the secret."""
    keys = tmp_path / "keys.properties"
    keys.write_text(properties.dumps({"access.key": "S3AEXAMPLE", "secret.key": CANARY}))
    moto.create_bucket("spark-s3a", "eu-west-1")
    moto.secret_keys["S3AEXAMPLE"] = CANARY
    where = [moto.url, "s3a://spark-s3a/numbers", str(keys)]

    out = run("examples/spark_s3a.py", *where, *map(str, map(jar, S3A)))

    first, *places, last = out.splitlines()
    assert first == "1,000 rows are in s3a://spark-s3a/numbers"
    assert [place.partition(": ")[2] for place in places] == ["not here"] * 5
    assert last == "Hadoop's configuration: here it is"
    assert {each.service for each in moto.requests if each.access_key == "S3AEXAMPLE"} == {"s3"}


@pytest.mark.spark
def test_spark_executors() -> None:
    assert run("examples/spark_executors.py") == (
        "a handle, printed: Secret('${file:/db.properties:password}')\n"
        "what is pickled holds the password: False\n"
        "tasks that logged in: 4\n"
        "tasks that logged in: 4\n"
    )


@pytest.mark.spark
def test_spark_streaming_rotation() -> None:
    tries = "".join(f"batch {batch}, tries: {2 if batch else 1}\n" for batch in range(4))

    assert run("examples/spark_streaming_rotation.py") == f"{tries}written: [0, 1, 2, 3]\n"


@pytest.mark.spark
def test_inventory() -> None:
    assert run("examples/inventory.py") == (
        "2000 references\n200 configs use the secrets of team 3\nfound: 1600\nmissing: 400\n"
    )


@pytest.mark.spark
def test_spark_jdbc() -> None:
    """What ``make demo`` runs."""
    secrets = properties.loads((EXAMPLES / "spark_jdbc" / "secrets.properties").read_text())

    out = run("examples/spark_jdbc/create_database.py") + run("examples/spark_jdbc/job.py")

    assert "336,776 flights are in jdbc:derby:examples/spark_jdbc/output/flights" in out
    assert "read in 2 partitions:" in out
    assert "|     UA|  58665|              12.1|               1529|" in out
    nowhere = "stands in: none of the job's config, SET, the JVM's command line\n"
    assert [f"{name} {nowhere}" in out for name in secrets] == [True, True, True]
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


def test_custom_provider() -> None:
    """Its package has tests of its own, which run with these; here, the commands of its README."""
    text = (EXAMPLES / "custom_provider" / "README.md").read_text()
    commands = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    shown = ""
    for command in commands:
        if command.split()[0] not in {"pip", "pytest"}:
            done = subprocess.run(
                command.split(),
                cwd=TOP,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            shown += done.stdout

    assert shown.count("found") == 2
    assert "examples/custom_provider" in (TOP / "pyproject.toml").read_text()


@pytest.mark.vault
@pytest.mark.postgres
def test_rotation(capfd: pytest.CaptureFixture[str]) -> None:
    """What ``make demo-rotation`` runs. Every line is checked: none has room for a password."""
    roles = "orders", "stock", "reports"
    changed = {f"{role}.password has changed: {role} logs in anew" for role in roles}
    refused = {f"{role} is not let in: is there another password?" for role in roles}

    runpy.run_path(str(EXAMPLES / "rotation" / "demo.py"))["main"]()

    out, errors = capfd.readouterr()
    first, begin, *lines, end = out.splitlines()
    regular = [line for line in lines if line not in refused]
    assert first == "rotated: orders, stock, reports"
    assert begin == "querying as orders, stock, reports"
    assert Counter(regular) == dict.fromkeys([first, *changed], 5)
    assert len(regular) < len(lines)
    assert re.fullmatch(r"\d+ queries, 0 failed; 15 changes", end)
    assert errors == ""


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text()
    programs = {path.name.removesuffix(".py") for path in EXAMPLES.iterdir()} - {"__pycache__"}

    assert all(f"def test_{name}(" in here for name in programs)


@pytest.mark.spark
@pytest.mark.vault
@pytest.mark.postgres
def test_worker(capfd: pytest.CaptureFixture[str]) -> None:
    """What ``make demo-worker`` runs."""
    runpy.run_path(str(EXAMPLES / "worker" / "demo.py"))["main"]()

    out, errors = capfd.readouterr()
    first, *lines = out.splitlines()
    assert re.fullmatch(r"the worker's page is at http://127\.0\.0\.1:\d+/ui#orders", first)
    assert lines == [
        "orders is RUNNING, and has read the 1,000 rows of its table",
        "Vault has changed the password; PostgreSQL takes the old one: False",
        "orders is RUNNING, and has read 2,000 rows with the new one",
        "orders is STOPPED, and 2,000 rows are in orders.parquet",
    ]
    assert errors == ""
