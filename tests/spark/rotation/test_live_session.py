"""A session that follows its secrets, and queries that are restarted: real ones, in one JVM."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from configproviders import Watcher, properties
from configproviders.spark import LiveConfigs, is_authentication_failure, restart_query, run_query
from configproviders.spark.live.file_systems import FileSystems, schemes
from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.spark

SOON = partial(Watcher, poll_interval=timedelta(milliseconds=100), settle=timedelta(0))
KEYS = {
    "spark.hadoop.fs.ftp.password.files.example": "ftp",
    "spark.hadoop.fs.made.up.key": "expanded",
    "spark.my.service.key": "service",
    "spark.sql.catalog.orders.password": "catalog",
    "spark.ssl.keyPassword": "ssl",
    "spark.admin.acls": "acls",
}


class Secrets:
    """A file of secrets, with one for each of ``KEYS``."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.now: dict[str, str] = {}
        self.rotate(*KEYS.values())

    def rotate(self, *names: str, value: str = "") -> None:
        number = time.monotonic_ns()
        self.now |= {name: value or f"{CANARY}-{name}-{number}" for name in names}
        spare = self.file.with_suffix(".new")
        spare.write_text(properties.dumps(self.now))
        spare.replace(self.file)

    def configs(self) -> dict[str, str]:
        return {key: f"${{file:{self.file}:{name}}}" for key, name in KEYS.items()}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Secrets:
    return Secrets(tmp_path_factory.mktemp("secrets") / "s.properties")


@pytest.fixture(scope="module")
def live(secrets: Secrets) -> Iterator[LiveConfigs]:
    with LiveConfigs(secrets.configs(), watcher=SOON) as live:
        yield live


@pytest.fixture(scope="module")
def spark(live: LiveConfigs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    with live.create_session(builder.config("spark.hadoop.fs.ftp.user.files.example", "u")) as it:
        yield it


@pytest.fixture
def hadoop(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_hadoop_keys_are_replaced_in_place(
    spark: SparkSession, hadoop: Any, secrets: Secrets
) -> None:
    secrets.rotate("ftp")

    until(lambda: bool(hadoop.get("fs.ftp.password.files.example") == secrets.now["ftp"]))

    shown = spark.sql("SET spark.hadoop.fs.ftp.password.files.example").collect()[0].value
    assert CANARY not in shown


def test_a_cached_file_system_is_opened_anew_and_others_stay(
    spark: SparkSession, hadoop: Any, secrets: Secrets, tmp_path: Path
) -> None:
    jvm: Any = spark.sparkContext._jvm
    file_system, uri = jvm.org.apache.hadoop.fs.FileSystem, jvm.java.net.URI
    ftp, local = uri("ftp://files.example/"), uri(tmp_path.as_uri())
    before, local_before = file_system.get(ftp, hadoop), file_system.get(local, hadoop)
    kept = file_system.get(ftp, hadoop).equals(before)

    secrets.rotate("ftp")

    until(lambda: not file_system.get(ftp, hadoop).equals(before))
    assert kept
    assert file_system.get(local, hadoop).equals(local_before)
    assert hadoop.get("fs.ftp.impl.disable.cache") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fs.s3a.secret.key", ("s3a", "s3", "s3n")),
        ("fs.s3a.bucket.orders.secret.key", ("s3a", "s3", "s3n")),
        ("fs.azure.account.key.a.dfs.core.windows.net", ("abfs", "abfss", "wasb", "wasbs")),
        ("fs.gs.auth.service.account.private.key", ("gs",)),
        ("google.cloud.auth.service.account.json.keyfile", ("gs",)),
        ("dfs.web.authentication.key", ("hdfs", "webhdfs", "swebhdfs")),
        ("fs.defaultFS", ()),
        ("hadoop.tmp.dir", ()),
    ],
)
def test_the_schemes_of_a_hadoop_key_are_known(name: str, expected: tuple[str, ...]) -> None:
    assert schemes(name) == expected


def test_executors_are_told_not_to_use_what_they_have_cached(
    spark: SparkSession, hadoop: Any, caplog: pytest.LogCaptureFixture
) -> None:
    java: Any = spark.sparkContext._jsc
    elsewhere = SimpleNamespace(_jvm=spark.sparkContext._jvm, _jsc=java, master="spark://there:1")
    file_systems = FileSystems(elsewhere)
    hadoop.set("fs.kept.impl.disable.cache", "false")

    for _ in range(2):
        file_systems.reopen({"made-up", "kept"})
    file_systems.close()

    assert hadoop.get("fs.made-up.impl.disable.cache") == "true"
    assert hadoop.get("fs.kept.impl.disable.cache") == "false"
    assert caplog.text.count("executors would keep the old secret") == 1


def test_runtime_confs_are_replaced(spark: SparkSession, secrets: Secrets) -> None:
    secrets.rotate("service")

    until(lambda: spark.conf.get("spark.my.service.key") == secrets.now["service"])

    assert CANARY not in str(spark.sql("SET").collect())


def test_what_a_running_session_cannot_take_is_logged_by_its_key_once(
    spark: SparkSession, secrets: Secrets, caplog: pytest.LogCaptureFixture
) -> None:
    secrets.rotate("ssl", "catalog", "acls")
    until(lambda: "admin.acls" in caplog.text)
    secrets.rotate("service")
    until(lambda: spark.conf.get("spark.my.service.key") == secrets.now["service"])

    said = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    keys = [each.partition(" ")[0] for each in said]
    names = "spark.sql.catalog.orders.password", "spark.ssl.keyPassword"
    assert sorted(keys) == ["spark.admin.acls", *names]
    assert CANARY not in caplog.text


def test_a_value_that_hadoop_would_expand_is_left_out(
    spark: SparkSession, hadoop: Any, secrets: Secrets, caplog: pytest.LogCaptureFixture
) -> None:
    before = hadoop.get("fs.made.up.key")

    secrets.rotate("expanded", value=f"{CANARY}-${{user.name}}")

    until(lambda: "would expand" in caplog.text)
    assert hadoop.get("fs.made.up.key") == before
    assert CANARY not in caplog.text


def test_a_refused_login_is_known_from_the_jvm(spark: SparkSession, tmp_path: Path) -> None:
    guarded = f"jdbc:derby:{tmp_path}/guarded"
    jvm: Any = spark.sparkContext._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    connect = jvm.java.sql.DriverManager.getConnection
    own = connect(f"{guarded};create=true;user=orders")
    own.createStatement().execute("CALL SYSCS_UTIL.SYSCS_CREATE_USER('orders', 'right')")
    own.close()
    with pytest.raises(Exception, match="shutdown"):  # It asks for passwords from now on.
        connect(f"{guarded};shutdown=true;user=orders;password=right")
    reader = spark.read.format("jdbc").option("dbtable", "SYS.SYSTABLES")
    reader = reader.option("url", guarded).option("user", "orders")

    with pytest.raises(Exception, match="FAILED_JDBC") as refused:
        reader.option("password", "wrong").load()
    with pytest.raises(Exception, match="NO_SUCH") as other:
        reader.option("password", "right").option("dbtable", "NO_SUCH").load()

    assert is_authentication_failure(refused.value)
    assert not is_authentication_failure(other.value)


class Copy:
    """A stream from files to files; each start takes a note of the options of now."""

    def __init__(self, spark: SparkSession, live: LiveConfigs, place: Path, secret: str) -> None:
        self.spark, self.place = spark, place
        self.options = live.options({"compression": "none", "apikey": secret})
        self.used: list[str] = []
        self.fed = 0
        (place / "in").mkdir()

    def start(self) -> StreamingQuery:
        options = self.options()
        self.used.append(options.pop("apikey"))
        rows = self.spark.readStream.schema("n long").option("maxFilesPerTrigger", 1)
        writer = rows.json(str(self.place / "in")).writeStream.options(**options)
        writer = writer.option("checkpointLocation", str(self.place / "checkpoint"))
        return writer.format("json").start(str(self.place / "out"))

    def has_started(self, times: int) -> bool:
        return len(self.used) == times

    def feed(self, files: int) -> None:
        for _ in range(files):
            lines = "".join(f'{{"n": {self.fed + n}}}\n' for n in range(10))
            self.fed += 10
            part = self.place / f"part-{self.fed}"
            part.write_text(lines)
            part.replace(self.place / "in" / part.name)

    def rows(self) -> list[int]:
        frame = self.spark.read.schema("n long").json(str(self.place / "out"))
        return sorted(row.n for row in frame.collect())


@pytest.fixture
def copy(spark: SparkSession, live: LiveConfigs, tmp_path: Path, secrets: Secrets) -> Copy:
    return Copy(spark, live, tmp_path, f"${{file:{secrets.file}:service}}")


def test_a_restarted_query_goes_on_from_its_checkpoint(copy: Copy, secrets: Secrets) -> None:
    query = copy.start()
    for _ in range(3):
        copy.feed(4)
        secrets.rotate("service")
        until(lambda: copy.options()["apikey"] == secrets.now["service"])
        query = restart_query(query, copy.start)
    query.processAllAvailable()
    query.stop()

    assert copy.rows() == list(range(copy.fed))
    assert len(set(copy.used)) == 4


def test_a_query_that_cannot_wait_for_the_end_of_a_batch_is_stopped_in_it(copy: Copy) -> None:
    copy.feed(5)
    query = copy.start()

    query = restart_query(query, copy.start, timeout=timedelta(0))
    query.processAllAvailable()
    query.stop()

    assert copy.rows() == list(range(copy.fed))


def test_that_a_query_had_failed_is_logged_and_is_the_cause(
    copy: Copy, caplog: pytest.LogCaptureFixture
) -> None:
    copy.feed(1)

    def fail(frame: object, batch: int) -> None:
        raise ValueError("the batch is bad")

    def never() -> StreamingQuery:
        raise OSError("no start")

    rows = copy.spark.readStream.schema("n long").json(str(copy.place / "in"))
    failed = rows.writeStream.foreachBatch(fail).start()
    until(lambda: not failed.isActive)

    with pytest.raises(OSError, match="no start") as error:
        restart_query(failed, never)

    assert "the batch is bad" in str(error.value.__cause__)
    assert f"the query {failed.id} had failed" in caplog.text


def test_a_query_is_restarted_when_its_secret_changes_and_ends_when_it_is_stopped(
    copy: Copy, secrets: Secrets
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    copy.feed(2)
    with ThreadPoolExecutor() as pool:
        run = pool.submit(run_query, copy.start, copy.options)
        for number in range(1, 4):
            until(partial(copy.has_started, number))
            if number < 3:
                secrets.rotate("service")
                copy.feed(2)
        until(lambda: any(each.isActive for each in copy.spark.streams.active))
        (query,) = copy.spark.streams.active
        query.processAllAvailable()
        query.stop()
        ended = run.result(20)

    assert ended.id == query.id
    assert copy.used[-1] == secrets.now["service"]
    assert copy.rows() == list(range(copy.fed))


def test_a_query_that_is_refused_with_each_secret_is_not_restarted_for_ever(
    spark: SparkSession, tmp_path: Path
) -> None:
    class Leases:
        """Have other credentials each time."""

        revision = 0

        def invalidate(self, *, revision: int | None = None) -> None:
            self.revision += 1

    starts = []

    def refused(batch: object, number: int) -> None:
        raise PermissionError("password authentication failed for user")

    def start() -> StreamingQuery:
        starts.append(spark.readStream.format("rate").load().writeStream.foreachBatch(refused))
        return starts[-1].option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    with pytest.raises(Exception, match="password authentication failed"):
        run_query(start, Leases())

    assert len(starts) == 3


def test_when_the_context_has_stopped_a_rotation_is_nothing(
    secrets: Secrets, live: LiveConfigs, spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    revision = live.revision
    spark.stop()

    secrets.rotate(*KEYS.values())

    until(lambda: live.revision > revision)
    live.close()
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
