"""Handles in tasks of a local session: where they arrive, how often is asked, what is shown."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from spark.executors.counted import Backend

from configproviders.errors import (
    KeyNotFound,
    ProviderUnavailable,
    UnresolvedError,
    UnsupportedOperation,
)
from configproviders.spark.executors import BackendSecrets, DriverSecrets, Secret
from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

USER, PASSWORD = "${counted:db:user}", "${counted:db:password}"
MODES = ("driver", "backend")


@pytest.fixture
def driver(spark: SparkSession, backend: Backend) -> Iterator[DriverSecrets]:
    with DriverSecrets(spark, providers={"counted": backend.provider()}) as secrets:
        yield secrets


@pytest.fixture(params=MODES)
def secrets(
    request: pytest.FixtureRequest, backend: Backend, driver: DriverSecrets
) -> DriverSecrets | BackendSecrets:
    return driver if request.param == "driver" else BackendSecrets(backend.settings)


def test_a_value_arrives_in_a_udf(
    spark: SparkSession, secrets: DriverSecrets | BackendSecrets
) -> None:
    from pyspark.sql.functions import udf

    handles = secrets.secrets({"user": USER, "password": PASSWORD})
    compare = udf(
        lambda user: handles["user"].value() == user and handles["password"].value() != user,
        "boolean",
    )

    rows = spark.createDataFrame([("orders",)] * 3, "user string").select(compare("user"))

    assert [row[0] for row in rows.collect()] == [True] * 3


def test_the_backend_is_asked_once_for_all_tasks_of_all_executors(
    spark: SparkSession, driver: DriverSecrets, backend: Backend
) -> None:
    handles = driver.secrets({"user": USER, "password": PASSWORD})

    def use(_: object) -> None:
        assert [handle.value() for handle in handles.values()]

    spark.sparkContext.range(40, numSlices=40).foreach(use)

    assert backend.fetches() == ["db password,user"]


def test_each_process_asks_the_backend_once_for_all_its_tasks(
    spark: SparkSession, backend: Backend
) -> None:
    handles = BackendSecrets(backend.settings).secrets({"user": USER, "password": PASSWORD})

    def processes(_: object) -> list[int]:
        import os

        assert [handle.value() for handle in handles.values()]
        return [os.getpid()]

    pids = spark.sparkContext.range(40, numSlices=40).mapPartitions(processes).collect()

    assert backend.fetches() == ["db password,user"] * len(set(pids))
    assert len(set(pids)) <= 4


def test_a_value_that_many_tasks_refuse_is_fetched_once(
    spark: SparkSession, driver: DriverSecrets, backend: Backend
) -> None:
    password = driver.secret(PASSWORD)

    def log_in(_: object) -> str:
        if password.value() != "new":
            password.invalidate()
        return password.value()

    spark.sparkContext.range(4, numSlices=4).map(lambda _: password.value()).collect()
    backend.put("db", password="new")
    backend.fetches()
    accepted = spark.sparkContext.range(40, numSlices=40).map(log_in).collect()

    assert set(accepted) == {"new"}
    assert backend.fetches() == ["db password"]


def test_a_task_that_fails_with_its_secret_in_the_message_does_not_show_it(
    spark: SparkSession, secrets: DriverSecrets | BackendSecrets
) -> None:
    password = secrets.secret(PASSWORD)

    def connect(_: object) -> None:
        try:
            os.environ[password.value()]
        except KeyError as error:
            raise ConnectionError(f"no way to jdbc:x?password={password.value()}") from error

    with pytest.raises(Exception, match=r"no way to jdbc:x\?password=\*+\(redacted\)") as caught:
        spark.sparkContext.range(1).foreach(connect)

    assert "KeyError: '*********(redacted)'" in str(caught.value)
    assert CANARY not in f"{caught.value}{caught.getrepr(style='short')}"


def test_a_udf_that_fails_with_its_secret_in_the_message_does_not_show_it(
    spark: SparkSession, driver: DriverSecrets
) -> None:
    from pyspark.sql.functions import udf

    password = driver.secret(PASSWORD)
    look_up = udf(lambda _: os.environ[password.value()])

    with pytest.raises(Exception, match=r"KeyError: '\*+\(redacted\)'") as caught:
        spark.range(1).select(look_up("id")).collect()

    assert CANARY not in f"{caught.value}{caught.getrepr(style='short')}"


def test_an_error_in_a_task_is_one_of_ours(spark: SparkSession, backend: Backend) -> None:
    missing = BackendSecrets(backend.settings).secret("${counted:db:no}")

    def catch(_: object) -> Exception | None:
        try:
            missing.value()
        except Exception as error:  # noqa: BLE001  Whatever it is, it travels to the driver.
            return error
        return None

    (error,) = spark.sparkContext.range(1).map(catch).collect()

    assert isinstance(error, KeyNotFound)
    assert str(error) == "${counted:db:no}: no key 'no' at 'db'"


def test_what_cannot_be_resolved_is_one_error_before_a_job_starts(driver: DriverSecrets) -> None:
    with pytest.raises(UnresolvedError, match=r"(?s)2 references.*a: .*no key 'x'.*b: .*'no'"):
        driver.secrets({"a": "${counted:db:x}", "b": "${counted:no:y}", "c": PASSWORD})


def test_the_driver_answers_only_for_texts_that_it_made_handles_for(
    driver: DriverSecrets, backend: Backend
) -> None:
    made = driver.secret(USER)
    backend.fetches()

    with pytest.raises(Exception, match="the driver refuses: it made no handle for this text"):
        Secret(PASSWORD, made.source).value()

    assert backend.fetches() == []


def test_a_closed_one_answers_nobody_and_leaves_live_providers_open(
    spark: SparkSession, backend: Backend
) -> None:
    provider, before = backend.provider(), set(threading.enumerate())
    with DriverSecrets(spark, providers={"counted": provider}) as secrets:
        password = secrets.secret(PASSWORD)
        assert password.value() == CANARY
    secrets.close()

    with pytest.raises(ProviderUnavailable, match="its DriverSecrets may be closed"):
        password.value()
    assert set(threading.enumerate()) == before


def test_a_local_session_is_served_on_loopback_without_a_warning(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    with DriverSecrets(spark) as secrets:
        assert "host='127.0.0.1'" in repr(secrets)

    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_a_session_without_a_context_is_refused_with_the_other_way() -> None:
    with pytest.raises(UnsupportedOperation, match="use BackendSecrets"):
        DriverSecrets(object())  # type: ignore[arg-type]  # A session of Spark Connect is no other.
