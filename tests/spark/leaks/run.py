"""One run of the job, looked at from all sides."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from servers.jars import POSTGRESQL, jar
from servers.postgres import Postgres
from servers.processes import serving
from servers.spark_cluster import SparkCluster, spark_cluster
from spark.leaks.canaries import Findings, random_text
from spark.leaks.files import FileSampler
from spark.leaks.job import WAITING
from spark.leaks.job_ours import references
from spark.leaks.looks import (
    look_at_daemons,
    look_at_logs,
    look_at_pages,
    look_at_processes,
    look_at_seen,
)
from spark.leaks.processes import ProcessSampler
from spark.leaks.spec import ROLES, SECRETS, Spec, digest

from configproviders import properties
from configproviders.spark.loggers import log4j2_file

_TESTS = Path(__file__).parents[2]
_LOG4J2 = """
rootLogger.level = {level}
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = {level}
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{HH:mm:ss}} %p %c: %m%n%ex
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run of the job showed, and which of its secrets did arrive where it uses them."""

    findings: Findings
    arrived: dict[str, bool]


def run_job(program: str, database: Postgres, *, level: str = "info", cluster: bool) -> Result:
    """Run the job of *program* with log4j's *level*, and search.

    *program* is ``job_plain``, ``job_ours`` or ``job_ours submitted``, to ``spark-submit``.
    *cluster* says whether it is a cluster, or ``local[2]``.
    """
    canaries = {name: random_text() for name in sorted(SECRETS)}
    findings = Findings(canaries, random_text())
    root = Path(tempfile.mkdtemp(prefix="leaks-"))
    try:
        _make_folders(root, level)
        log4j2 = _log4j2_of_workers(root, program, level)
        served = (
            spark_cluster(root / "run" / "cluster", log4j2=log4j2) if cluster else nullcontext()
        )
        with _database(database, findings) as url, served as running:
            spec = _prepare(root, url, findings, running)
            _run(program, root, spec, findings, running)
        arrived = json.loads((root / "seen" / "arrived").read_text())
        return Result(findings, arrived)
    finally:
        shutil.rmtree(root)


@contextmanager
def _database(server: Postgres, findings: Findings) -> Iterator[str]:
    """Make a database whose roles have canaries as passwords; yield its JDBC URL."""
    import psycopg
    from psycopg.sql import SQL, Identifier, Literal

    name = findings.beacon
    connection = psycopg.connect(server.dsn(server.superuser, server.password), autocommit=True)
    with connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        for role, secret in ROLES.items():
            create = SQL("CREATE ROLE {} LOGIN SUPERUSER PASSWORD {}")
            password = Literal(findings.canaries[secret])
            connection.execute(create.format(Identifier(f"{role}_{name}"), password))
    tables = psycopg.connect(server.dsn(server.superuser, server.password, name), autocommit=True)
    with tables:
        column = Identifier(name)
        tables.execute(SQL("CREATE TABLE orders AS SELECT 1 AS id, 'x' AS {}").format(column))
        tables.execute(SQL("CREATE TABLE written (id int, {} text)").format(column))
        tables.execute("CREATE TABLE streamed (id int)")
    yield f"jdbc:postgresql://{server.host}:{server.port}/{name}"


def _make_folders(root: Path, level: str) -> None:
    for folder in ("given", "seen", "run", "run/cluster", "run/conf", "run/events"):
        (root / folder).mkdir()
    (root / "run" / "conf" / "log4j2.properties").write_text(_LOG4J2.format(level=level))


def _log4j2_of_workers(root: Path, program: str, level: str) -> Path:
    """Return the file for a cluster: that of :mod:`configproviders.spark`, for its own job."""
    if not program.startswith("job_ours"):
        return root / "run" / "conf" / "log4j2.properties"
    held = Path(log4j2_file()).read_text()
    file = root / "run" / "log4j2.properties"
    file.write_text(held.replace("rootLogger.level = info", f"rootLogger.level = {level}"))
    return file


def _prepare(root: Path, url: str, findings: Findings, cluster: SparkCluster | None) -> Spec:
    secrets = root / "given" / "secrets.properties"
    secrets.touch(0o600)
    secrets.write_text(properties.dumps(findings.canaries))
    source = root / "run" / f"input-{findings.beacon}"
    source.mkdir()
    (source / "rows.json").write_text('{"id": 1}\n{"id": 2}\n')
    return Spec(
        beacon=findings.beacon,
        master=cluster.master_url if cluster else "local[2]",
        jar=str(jar(POSTGRESQL)),
        url=url,
        secrets=str(secrets),
        digests={name: digest(text) for name, text in findings.canaries.items()},
        seen=str(root / "seen"),
        folder=str(root / "run"),
    )


def _run(
    program: str, root: Path, spec: Spec, findings: Findings, cluster: SparkCluster | None
) -> None:
    """Run the job between samplers, look at its UI while it waits, and at what it left."""
    folder = root / "run"
    places = {
        folder / "local": "spark.local.dir",
        folder / "cluster" / "local": "spark.local.dir",
        folder / "cluster": "work folders",
        folder / "checkpoints": "checkpoints",
        folder: "files of the job",
    }
    (root / "given" / "spec.json").write_text(json.dumps(asdict(spec)))
    files = FileSampler(places, findings, but={root / "given", root / "seen"})
    with ProcessSampler() as processes, files:
        log = root / "seen" / "driver.log"
        with _job(program, root, spec, log) as address:
            look_at_pages(address, findings)
            if cluster:
                look_at_daemons(cluster, findings)
        findings.look("log4j: driver", "standard error", log.read_bytes())
    look_at_processes(processes, findings)
    look_at_seen(root / "seen", findings)
    if cluster:
        look_at_logs(cluster, findings)


@contextmanager
def _job(program: str, root: Path, spec: Spec, log: Path) -> Iterator[str]:
    """Run *program* until it waits; yield the address of its UI; have it end."""
    environ = {
        **os.environ,
        "LEAKS_BEACON": spec.beacon,
        "PYTHONPATH": str(_TESTS),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": f"{spec.folder}/conf",
    }
    address = Path(spec.seen, "address")
    with serving(_command(program, root, spec), log, environ=environ) as job:
        job.wait_until(address.exists, seconds=WAITING)
        yield address.read_text()
        Path(spec.seen, "looked").touch()
        if code := job.process.wait(WAITING):
            raise RuntimeError(f"{program} ended with {code}:\n{log.read_text()[-2000:]}")


def _command(program: str, root: Path, spec: Spec) -> list[str]:
    import pyspark

    argument = str(root / "given" / "spec.json")
    name, _, submitted = program.partition(" ")
    if not submitted:
        return [sys.executable, "-m", f"spark.leaks.{name}", argument]
    file = root / "run" / "submitted.properties"
    file.write_text(properties.dumps(spec.conf() | references(spec.secrets)))
    submit = Path(pyspark.__file__).with_name("bin") / "spark-submit"
    command = [str(submit), "--properties-file", str(file), "--master", spec.master]
    command += ["--name", f"job-{spec.beacon}", "--conf", f"spark.leaks.beacon={spec.beacon}"]
    return [*command, str(Path(__file__).with_name(f"{name}.py")), argument]
