"""A worker whose connectors run on a standalone cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from servers.spark_cluster import spark_cluster
from worker.workers import RotatedSecret, runs, until, worker_config

from configproviders.worker.status import State
from configproviders.worker.worker import Worker


@pytest.mark.spark
def test_a_stream_runs_on_executors_and_goes_on_with_a_new_secret(
    tmp_path: Path, secret: RotatedSecret
) -> None:
    (tmp_path / "in").mkdir()
    config = {
        "name": "numbers",
        "connector.class": "FileStreamSource",
        "format": "json",
        "schema": "id INT",
        "path": str(tmp_path / "in"),
        "checkpoint.location": str(tmp_path / "checkpoint"),
        "sink.format": "parquet",
        "sink.options.path": str(tmp_path / "out"),
        "sink.options.password": secret.reference,
    }
    with spark_cluster() as cluster:
        confs = {"spark__master": cluster.master_url, "spark__driver__host": "127.0.0.1"}
        with Worker(worker_config(tmp_path, **confs)) as worker:
            worker.begin()
            assert worker.validation.validate(config).errors == []
            worker.herder.create("numbers", config).result()
            until(worker, "numbers", runs)
            for number in range(2):
                write(tmp_path / "in", number)
                until(worker, "numbers", lambda _: has_read(worker), said=lambda: noted(tmp_path))
                if number == 0:
                    secret.rotate()
                    until(worker, "numbers", lambda _: worker.herder.reloads == 1)
                    until(worker, "numbers", runs)
            worker.herder.stop("numbers").result()

            assert worker.herder.status("numbers").state is State.STOPPED
            assert rows(tmp_path / "out") == [0, 1]


def write(directory: Path, number: int) -> None:
    new = directory / f".{number}"
    new.write_text(f'{{"id": {number}}}\n')
    new.rename(directory / f"{number}.json")


def has_read(worker: Worker) -> bool:
    return any((each.rows or 0) >= 1 for each in worker.herder.progress("numbers").values())


def noted(directory: Path) -> list[str]:
    """Return what the checkpoint and the sink hold: why nothing is read can be seen there."""
    places = [directory / "checkpoint", directory / "out"]
    return [str(each) for place in places for each in place.rglob("*") if "crc" not in each.name]


def rows(directory: Path) -> list[int]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table([str(each) for each in directory.glob("*.parquet")])
    return sorted(table.column("id").to_pylist())
