"""The secret key of S3 is rotated under a loop of reads: driver and executors take the new one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from servers.jars import S3A, jar
from servers.spark_cluster import spark_cluster

pytestmark = [pytest.mark.spark, pytest.mark.aws]

InAProcess = Callable[..., str]
TESTS = Path(__file__).parent.parent.parent


def test_file_systems_of_one_process_are_opened_anew(in_a_process: InAProcess) -> None:
    report = read_and_rotate(in_a_process, "local[2]")

    assert report == {"rows": [4] * 4, "tries": [0, 0, 1, 1, 2, 2, 3], "uncached": None}


@pytest.mark.soak
@pytest.mark.skipif("SOAK" not in os.environ, reason="long, with a cluster: set SOAK=1")
def test_executors_take_the_new_key_with_the_next_job(in_a_process: InAProcess) -> None:
    with spark_cluster() as cluster:
        report = read_and_rotate(in_a_process, cluster.master_url)

    assert report == {"rows": [4] * 4, "tries": [0, 0, 1, 1, 2, 2, 3], "uncached": "true"}


def read_and_rotate(in_a_process: InAProcess, master: str) -> object:
    arguments = {"master": master, "jars": [str(jar(each)) for each in S3A]}
    out = in_a_process(
        f"from spark.rotation.s3a_job import main\nmain(**{arguments!r})", PYTHONPATH=str(TESTS)
    )
    return json.loads(out.splitlines()[-1])
