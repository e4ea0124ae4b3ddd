"""Secrets from everywhere go through a worker; nobody sees one, wherever he looks.

With ``SOAK=1`` log4j is at DEBUG, and Spark's UI is looked at too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.postgres import Postgres
from servers.vault import Vault
from spark.leaks.canaries import Findings, random_text
from spark.leaks.files import FileSampler
from spark.leaks.looks import look_at_processes
from spark.leaks.processes import ProcessSampler
from worker.leaks.life import Life
from worker.leaks.setting import CLASSES, Setting
from worker.processes import worker_process
from worker.workers import entries

from configproviders import properties

LONG = "SOAK" in os.environ


def places(run: Path) -> dict[Path, str]:
    """Return which surface files and folders of the worker are."""
    return {
        **{run / f"connectors.db{end}": "SQLite file" for end in ("", "-wal", "-shm", "-journal")},
        run / "worker.log": "log",
        run / "local": "spark.local.dir",
        run / "checkpoint": "checkpoints",
        run / "events": "event logs",
        run: "other files",
    }


@pytest.fixture
def setting(tmp_path: Path, database: Postgres, vault_server: Vault) -> Iterator[Setting]:
    setting = Setting.at(tmp_path, database, vault_server, is_long=LONG)
    yield setting
    setting.close()


@pytest.mark.spark
@pytest.mark.vault
@pytest.mark.postgres
@pytest.mark.soak
def test_no_secret_is_seen_in_the_whole_life_of_connectors(setting: Setting) -> None:
    findings, run = setting.findings, setting.run
    files = FileSampler(places(run), findings, but={run.parent / "given"})
    environ = {"LEAKS_BEACON": findings.beacon, "SPARK_CONF_DIR": str(run / "conf")}

    with ProcessSampler() as processes, files, worker_process(run, **environ) as worker:
        Life(setting, worker).live()
        assert worker.stop() == 0
    look_at_processes(processes, findings)

    assert not (shown := found(findings)), "\n\n".join(shown)
    unread = {"answers", "command lines", "environments", *places(run).values()} - findings.read
    assert not unread


def test_what_a_connector_prints_or_writes_itself_is_seen(tmp_path: Path) -> None:
    findings = Findings({"talk": random_text()}, random_text())
    reference = f"${{file:{tmp_path}/given/secrets.properties:talk}}"
    run = tmp_path / "run"
    for folder in (tmp_path / "given", run, run / "notes"):
        folder.mkdir()
    (tmp_path / "given" / "secrets.properties").write_text(f"talk={findings.canaries['talk']}")
    given = entries(tmp_path, plugin__allowed__modules=CLASSES)
    (run / "worker.properties").write_text(properties.dumps(given))
    config = {
        "connector.class": f"{CLASSES}:LeakingConnector",
        "secret": reference,
        "notes": str(run / "notes"),
    }
    files = FileSampler(places(run), findings, but={tmp_path / "given"})

    with files, worker_process(run, "worker.without_spark") as worker:
        worker.ask("POST", "/connectors", {"name": "leaking", "config": config})
        worker.until("/connectors/leaking/status", lambda status: "FAILED" in str(status))

    assert {surface for surface, hits in findings.hits.items() if hits} == {"log", "other files"}


def found(findings: Findings) -> list[str]:
    return [f"{surface}: {hit}" for surface, hits in findings.hits.items() for hit in hits.values()]
