"""Where the driver is asked, and what it says of the way there: decisions without Spark."""

from __future__ import annotations

import logging

import pytest
from pyspark import SparkConf

from configproviders.spark.executors import driver

CLUSTER = {"spark.master": "spark://m:7077", "spark.driver.host": "driver.example"}


def conf_of(**entries: str) -> SparkConf:
    return SparkConf(loadDefaults=False, _jvm=None).setAll(list(entries.items()))


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*, 4]"])
def test_a_local_master_is_served_on_loopback_whatever_the_host(master: str) -> None:
    conf = conf_of(**{"spark.master": master, "spark.driver.host": "10.0.0.1"})

    assert driver._address(conf) == ("127.0.0.1", "127.0.0.1")


@pytest.mark.parametrize(
    ("entries", "address"),
    [
        ({}, ("driver.example", "driver.example")),
        ({"spark.driver.bindAddress": "0.0.0.0"}, ("driver.example", "0.0.0.0")),
        ({"spark.driver.host": "[fd00::1]"}, ("fd00::1", "fd00::1")),
        ({"spark.master": "local-cluster[1,1,512]"}, ("driver.example", "driver.example")),
    ],
)
def test_others_are_served_where_spark_serves_them(
    entries: dict[str, str], address: tuple[str, str]
) -> None:
    assert driver._address(conf_of(**CLUSTER | entries)) == address


@pytest.mark.parametrize(
    ("entries", "warnings"),
    [
        ({}, 1),
        ({"spark.network.crypto.enabled": "false"}, 1),
        ({"spark.network.crypto.enabled": "true"}, 0),
        ({"spark.ssl.rpc.enabled": "true"}, 0),
        ({"spark.master": "local[4]"}, 0),
    ],
)
def test_closures_in_the_clear_are_warned_of(
    entries: dict[str, str], warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    driver._warn_of_clear_text(conf_of(**CLUSTER | entries))

    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.WARNING] * warnings
