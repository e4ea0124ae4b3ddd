"""Secrets from everywhere go through a worker; nobody sees one, wherever he looks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.postgres import Postgres
from servers.vault import Vault
from spark.leaks.canaries import Findings
from spark.leaks.files import FileSampler
from spark.leaks.looks import look_at_processes
from spark.leaks.processes import ProcessSampler
from worker.leaks.life import Life
from worker.leaks.setting import Setting
from worker.processes import worker_process

pytestmark = [pytest.mark.spark, pytest.mark.vault, pytest.mark.postgres, pytest.mark.soak]

LEVEL = "debug" if "SOAK" in os.environ else "info"


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
    setting = Setting.at(tmp_path, database, vault_server, level=LEVEL)
    yield setting
    setting.close()


def test_no_secret_is_seen_in_the_whole_life_of_connectors(setting: Setting) -> None:
    findings, run = setting.findings, setting.run
    files = FileSampler(places(run), findings, but={run.parent / "given"})
    environ = {"LEAKS_BEACON": findings.beacon, "SPARK_CONF_DIR": str(run / "conf")}

    with ProcessSampler() as processes, files, worker_process(run, **environ) as worker:
        Life(setting, worker).live()
        assert worker.stop() == 0
    look_at_processes(processes, findings)

    unread = {"answers", "command lines", "environments", *places(run).values()} - findings.read
    assert not unread
    assert found(findings) == []


def found(findings: Findings) -> list[str]:
    return [
        f"{surface}: {hit}" for surface, hits in findings.hits.items() for hit in hits.values()
    ]
