from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from configproviders import properties
from configproviders.spark import loggers

NAMES = [f"org.apache.spark.{each}" for each in loggers.HELD]


@pytest.fixture
def root(jvm: Any) -> Iterator[Any]:
    """Return what sets the level of log4j's root logger; what it was is set at the end."""
    log4j = jvm.org.apache.logging.log4j
    before = log4j.LogManager.getRootLogger().getLevel()

    def set_level(name: str) -> None:
        log4j.core.config.Configurator.setRootLevel(log4j.Level.valueOf(name))

    yield set_level
    set_level(before.toString())


@pytest.mark.spark
def test_the_jvm_s_loggers_are_held_whatever_the_root_s_level_becomes(jvm: Any, root: Any) -> None:
    root("WARN")
    loggers.hold_jvm(jvm)
    held = levels(jvm)
    root("TRACE")

    assert levels(jvm) == held == dict.fromkeys(held, "WARN")
    root("WARN")


@pytest.mark.spark
def test_at_debug_they_say_no_more_than_is_safe(jvm: Any, root: Any) -> None:
    root("DEBUG")

    loggers.hold_jvm(jvm)

    assert levels(jvm) == dict.fromkeys(NAMES, "WARN")


@pytest.mark.spark
def test_they_get_no_louder_than_the_root_has_become(jvm: Any, root: Any) -> None:
    root("DEBUG")
    loggers.hold_jvm(jvm)
    root("ERROR")

    loggers.hold_jvm(jvm)

    assert set(levels(jvm).values()) == {"ERROR"}


@pytest.mark.parametrize("name", ["py4j.java_gateway", "py4j.clientserver"])
def test_py4j_is_held_whatever_level_is_configured_later(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    loggers.hold_python()
    loggers.hold_python()

    with caplog.at_level(logging.DEBUG, name):
        logging.getLogger(name).debug("Command to send: %s", "a secret")
        logging.getLogger(name).warning("said")

    assert caplog.messages == ["said"]
    assert len(logging.getLogger(name).filters) == 1


def test_the_file_for_executors_holds_the_same_loggers() -> None:
    entries = properties.loads(Path(loggers.log4j2_file()).read_text())

    named = {
        name: entries[f"{key.removesuffix('.name')}.level"].upper()
        for key, name in entries.items()
        if key.startswith("logger.") and key.endswith(".name")
    }
    assert named == dict.fromkeys(NAMES, "WARN")


def levels(jvm: Any) -> dict[str, str]:
    manager = jvm.org.apache.logging.log4j.LogManager
    return {name: manager.getLogger(name).getLevel().toString() for name in NAMES}
