"""A real session that follows its secrets: what is replaced in it, and what it cannot take."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from spark.rotation.following import KEYS, Secrets, until

from configproviders.spark import LiveConfigs, is_authentication_failure
from configproviders.spark.live.file_systems import FileSystems, schemes
from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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


def test_when_the_context_has_stopped_a_rotation_is_nothing(
    secrets: Secrets, live: LiveConfigs, spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    revision = live.revision
    spark.stop()

    secrets.rotate(*KEYS.values())

    until(lambda: live.revision > revision)
    live.close()
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
