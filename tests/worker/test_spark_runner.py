"""Connectors in a real Spark application: sessions, pools, and an application that ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from worker.odd_connectors import Waiting
from worker.workers import RotatedSecret, runs, until, worker_config

from configproviders.worker.worker import Worker

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    config = worker_config(
        tmp_path_factory.mktemp("worker"),
        spark__master="local[2]",
        spark__sql__shuffle__partitions="3",
    )
    with Worker(config) as worker:
        worker.begin()
        yield worker


def create(worker: Worker, name: str, **more: str) -> None:
    given = {key.replace("__", "."): text for key, text in more.items()}
    known = {"name": name, "connector.class": "worker.odd_connectors:CountingConnector"}
    worker.herder.create(name, {**known, "password": "none", **given}).result()
    until(worker, name, runs)


def test_each_connector_has_a_session_of_its_own(worker: Worker) -> None:
    create(worker, "one", spark__sql__shuffle__partitions="5")
    create(worker, "two")
    one, two = (Waiting.contexts[name, 0].spark for name in ("one", "two"))

    one.range(1).createOrReplaceTempView("only_in_one")

    assert one is not two
    assert not two.catalog.tableExists("only_in_one")
    partitions = [each.conf.get("spark.sql.shuffle.partitions") for each in (one, two)]
    assert partitions == ["5", "3"]


def test_the_tasks_of_a_connector_share_its_session(worker: Worker) -> None:
    create(worker, "shared", tasks__max="2")

    assert Waiting.contexts["shared", 0].spark is Waiting.contexts["shared", 1].spark


def test_jobs_run_in_a_pool_of_the_connector(worker: Worker) -> None:
    create(worker, "pooled")

    context = Waiting.contexts["pooled", 0].spark.sparkContext

    assert context.getLocalProperty("spark.scheduler.pool") == "pooled"
    assert context.getConf().get("spark.scheduler.mode") == "FAIR"


def test_stopping_one_connector_leaves_the_sessions_of_others(worker: Worker) -> None:
    create(worker, "stays")
    create(worker, "goes")

    worker.herder.delete("goes").result()

    assert Waiting.contexts["stays", 0].spark.range(7).count() == 7


@pytest.mark.parametrize(
    "key",
    ["spark.sql.warehouse.dir", "spark.sql.extensions", "spark.jars", "spark.sql.catalog.x"],
)
def test_what_is_for_the_whole_application_is_refused(worker: Worker, key: str) -> None:
    config = {
        "name": "greedy",
        "connector.class": "worker.odd_connectors:CheapConnector",
        "password": "none",
        key: "1",
    }

    infos = worker.validation.validate(config)

    assert [each for each, _ in infos.errors] == [key]
    assert "worker's config" in infos.errors[0][1]


def test_an_application_that_was_stopped_is_started_again(worker: Worker) -> None:
    create(worker, "survivor")
    Waiting.contexts["survivor", 0].spark.sparkContext._jsc.sc().stop()
    assert "stopped" in worker.herder.check()

    worker.herder.restart("survivor", include_tasks=True).result()

    until(worker, "survivor", runs)
    assert worker.herder.check() == ""
    assert Waiting.contexts["survivor", 0].spark.range(5).count() == 5


def test_a_task_goes_on_by_itself_in_the_application_that_is_started_again(
    worker: Worker,
) -> None:
    create(worker, "counter", connector__class="worker.odd_connectors:KeepsCountingConnector")
    before = Waiting.contexts["counter", 0].spark

    before.sparkContext._jsc.sc().stop()

    until(worker, "counter", lambda _: worker.herder.check() == "")
    until(worker, "counter", runs)
    assert Waiting.contexts["counter", 0].spark is not before


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from worker.workers import runs, until, worker_config
from configproviders.worker.worker import Worker

def main():
    with Worker(worker_config(Path().absolute(), spark__master="local[1]")) as worker:
        worker.begin()
        from pyspark import SparkContext
        config = {{"name": "a", "connector.class": "worker.odd_connectors:CountingConnector"}}
        worker.herder.create("a", {{**config, "password": "none"}}).result()
        until(worker, "a", runs)
        SparkContext._gateway.proc.kill()
        SparkContext._gateway.proc.wait()
        print(worker.herder.check())
        worker.herder.restart("a", include_tasks=True).result()
        until(worker, "a", runs)
        print(repr(worker.herder.check()))

if __name__ == "__main__":
    main()
"""


def test_a_jvm_that_was_killed_is_started_again(in_a_process: Callable[..., str]) -> None:
    said = in_a_process(KILLED.format(tests=str(Path(__file__).parents[1])))

    assert said.splitlines()[0].startswith("the JVM of the Spark application does not answer")
    assert said.splitlines()[1] == "''"


def test_options_of_a_task_have_the_value_and_no_repr(
    worker: Worker, secret: RotatedSecret
) -> None:
    file = Path(worker.config.config_storage_file_filename).parent / "db.properties"
    file.write_text(f"password={secret.value}\n")
    create(worker, "optional", o__password=f"${{file:{file}:password}}")

    options = Waiting.contexts["optional", 0].options("o.", more={"user": "somebody"})

    assert options == {"password": secret.value, "user": "somebody"}
    assert repr(options) == "{'password': [hidden], 'user': 'somebody'}"


def test_a_function_that_is_not_allowed_is_refused_before_anything_runs(worker: Worker) -> None:
    config = {
        "name": "greedy",
        "connector.class": "SparkPipeline",
        "source.format": "range",
        "sink.format": "noop",
        "transform.function": "os:getcwd",
    }

    errors = worker.validation.validate(config).errors

    assert [key for key, _ in errors] == ["transform.function"]
    assert "plugin.allowed.modules" in errors[0][1]
