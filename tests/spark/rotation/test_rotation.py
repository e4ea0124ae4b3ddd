"""A password of PostgreSQL is rotated under two streams and a loop of batches; none fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from servers.jars import POSTGRESQL, jar
from servers.postgres import Postgres
from servers.vault import Vault

TESTS = Path(__file__).parent.parent.parent
ROTATIONS = 100 if "SOAK" in os.environ else 20


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.vault
@pytest.mark.postgres
def test_no_batch_fails_and_no_row_is_lost_or_doubled(
    database: Postgres, vault_server: Vault, in_a_process: Callable[..., str]
) -> None:
    arguments = {
        "database": asdict(database),
        "vault": asdict(vault_server),
        "mount": vault_server.mount(version="2"),
        "jar": str(jar(POSTGRESQL)),
        "rotations": ROTATIONS,
    }

    out = in_a_process(
        f"from spark.rotation.jobs import main\nmain(**{arguments!r})",
        PYTHONPATH=str(TESTS),
    )

    report = json.loads(out.splitlines()[-1])
    rows = list(range(report["fed"]))
    assert report["failures"] == []
    assert report["upserted"] == rows
    assert report["copied"] == rows
    assert report["done"]["queries active"] == 2
    assert report["done"]["starts"] > ROTATIONS  # Each change restarts the query.
    assert report["done"]["upserts"] > ROTATIONS
    assert report["done"]["reads"] > ROTATIONS
    assert min(report["refused"].values()) > ROTATIONS / 4  # The pauses were met.
