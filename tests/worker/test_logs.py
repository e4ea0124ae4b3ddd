from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from configproviders.spark.cleaning import remember
from configproviders.testing import CANARY
from configproviders.worker import logs
from configproviders.worker.errors import NotFound

SECRET = f"secret-{CANARY}"
NAME = "configproviders.test_logs"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Log as a worker does; return what reads the lines. All is as it was afterwards."""
    root, out = logging.root, io.StringIO()
    handlers, raises = root.handlers[:], logging.raiseExceptions
    root.handlers = []  # Those of pytest are left open.
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    logs.configure()
    yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    logging.captureWarnings(capture=False)
    root.handlers, logging.raiseExceptions = handlers, raises


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """Take back all levels that were set."""
    before = {name: logger.level for name, logger in logs._loggers().items()}
    yield
    for name, logger in logs._loggers().items():
        logger.setLevel(before.get(name, logging.NOTSET))
    logs._modified.clear()


@pytest.fixture
def loggers() -> tuple[logging.Logger, logging.Logger]:
    """Return a logger and one below it."""
    return logging.getLogger(NAME), logging.getLogger(f"{NAME}.below")


Logged = Callable[[], list[dict[str, Any]]]


def test_a_record_is_a_line_of_json(logged: Logged) -> None:
    logging.getLogger(NAME).info(
        "%s goes from %s", "parcels", "RUNNING", extra={"connector": "parcels", "to": "PAUSED"}
    )

    (line,) = logged()
    assert line.pop("timestamp").endswith("+00:00")
    assert line == {
        "level": "INFO",
        "logger": NAME,
        "message": "parcels goes from RUNNING",
        "connector": "parcels",
        "to": "PAUSED",
    }


def test_no_value_stands_in_the_name_of_a_logger(logged: Logged) -> None:
    remember([SECRET])
    logs.connector_logger("orders").getChild(SECRET).warning("a logger for each user")

    names = logs.set_level(logs.ROOT, "INFO")

    (line,) = logged()
    assert line["connector"] == "orders.*********(redacted)"
    assert SECRET not in json.dumps(line)
    assert SECRET not in "".join(names)


class Shown:
    def __str__(self) -> str:
        return f"<{SECRET}>"


class Broken:
    def __str__(self) -> str:
        raise ValueError(SECRET)


@pytest.mark.parametrize(
    ("message", "arguments", "extra"),
    [
        (SECRET, (), {}),
        ("%s", (SECRET,), {}),
        ("%(a)s", ({"a": SECRET},), {}),
        ("%s", (Shown(),), {}),
        ("%s", (Broken(),), {}),
        ("%d", (SECRET,), {}),
        ({"a": SECRET}, (), {}),
        ("a", (), {"url": f"jdbc:x?p={SECRET}"}),
        ("a", (), {"config": {"k": [SECRET, (SECRET, Shown())], SECRET: {SECRET}}}),
        ("a", (), {"thing": Shown(), "broken": Broken()}),
    ],
)
def test_no_value_is_in_a_line(
    logged: Logged,
    capsys: pytest.CaptureFixture[str],
    message: str,
    arguments: tuple[object, ...],
    extra: dict[str, object],
) -> None:
    remember([SECRET])

    logging.getLogger(NAME).warning(message, *arguments, extra=extra)

    (line,) = logged()
    assert CANARY not in json.dumps(line)
    assert CANARY not in capsys.readouterr().err


def test_no_value_is_in_a_trace_and_causes(logged: Logged) -> None:
    remember([SECRET])

    try:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise RuntimeError(f"of {SECRET}") from error
    except RuntimeError:
        logging.getLogger(NAME).exception("it failed", stack_info=True)

    (line,) = logged()
    assert "RuntimeError: of *********(redacted)" in line["trace"]
    assert CANARY not in json.dumps(line)


def test_what_nobody_catches_is_logged_without_values(
    logged: Logged, capfd: pytest.CaptureFixture[str]
) -> None:
    remember([SECRET])

    def fail() -> None:
        raise ValueError(SECRET)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

    (line,) = logged()
    assert "ValueError" in line["trace"]
    assert CANARY not in json.dumps(line) + capfd.readouterr().err


def test_warnings_are_logged(logged: Logged) -> None:
    logging.getLogger("py.warnings").warning("be warned")

    assert logged()[0]["message"] == "be warned"


def test_debugging_does_not_show_what_goes_to_the_jvm(logged: Logged) -> None:
    logs.set_level("root", "DEBUG")

    logging.getLogger("py4j.clientserver").debug("Command to send: %s", SECRET)
    logging.getLogger(NAME).debug("other")

    assert [line["message"] for line in logged()] == ["other"]


@pytest.mark.parametrize("name", ["orders", "a.b", "a%2Eb", "..", "root", "ä b/c"])
def test_a_connector_has_a_logger_of_its_own_and_stands_in_its_lines(
    logged: Logged, name: str
) -> None:
    logger = logs.connector_logger(name)

    logger.warning("it is slow")

    assert logger.parent is not logs.connector_logger("a")
    assert logged()[0]["connector"] == name


def test_connectors_with_dots_are_no_parts_of_each_other() -> None:
    names = ["a", "a.b", "a%2Eb", "a_b"]

    loggers = {logs.connector_logger(name).name for name in names}

    assert len(loggers) == len(names)
    assert not any(one.startswith(f"{other}.") for one in loggers for other in loggers)


def test_a_logger_without_a_level_has_that_of_the_one_above(
    loggers: tuple[logging.Logger, logging.Logger],
) -> None:
    loggers[0].setLevel(logging.ERROR)

    assert logs.level(loggers[1].name) == logs.LoggerLevel("ERROR", None)
    assert loggers[1].name not in logs.levels()
    assert logs.levels()[loggers[0].name].level == "ERROR"


def test_the_root_is_among_the_levels() -> None:
    assert logs.levels()["root"].level == logs.level("root").level


def test_setting_a_level_takes_all_below_along(
    loggers: tuple[logging.Logger, logging.Logger],
) -> None:
    above, below = loggers
    below.setLevel(logging.ERROR)

    affected = logs.set_level(NAME, "debug")

    assert affected == [NAME, f"{NAME}.below"]
    assert above.level == below.level == logging.DEBUG
    assert logs.level(NAME).last_modified is not None


def test_a_logger_that_is_not_there_yet_can_be_set() -> None:
    affected = logs.set_level(f"{NAME}.new", "ERROR")

    assert affected == [f"{NAME}.new"]
    assert logs.level(f"{NAME}.new").level == "ERROR"


def test_the_time_is_that_of_the_last_change(
    loggers: tuple[logging.Logger, logging.Logger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1.5)
    logs.set_level(NAME, "DEBUG")
    monkeypatch.setattr("time.time", lambda: 2.5)

    logs.set_level(NAME, "DEBUG")

    assert logs.level(NAME) == logs.LoggerLevel("DEBUG", 1500)


@pytest.mark.parametrize(
    ("word", "shown", "number"),
    [
        ("TRACE", "TRACE", 5),
        ("warn", "WARN", 30),
        ("WARNING", "WARN", 30),
        ("FATAL", "FATAL", 50),
        ("CRITICAL", "FATAL", 50),
        ("OFF", "OFF", 60),
        (" Info ", "INFO", 20),
        ("ALL", "ALL", 1),
    ],
)
def test_levels_have_the_words_of_log4j(
    loggers: tuple[logging.Logger, logging.Logger], word: str, shown: str, number: int
) -> None:
    logs.set_level(NAME, word)

    assert logs.level(NAME).level == shown
    assert loggers[0].level == number


@pytest.mark.parametrize("word", ["", "LOUD", "10", "NOTSET"])
def test_a_level_that_there_is_not_is_not_found(word: str) -> None:
    with pytest.raises(NotFound, match="invalid log level"):
        logs.set_level(NAME, word)


def test_a_logger_that_there_is_not_is_not_found() -> None:
    with pytest.raises(NotFound, match="no logger is named 'absent'"):
        logs.level("absent")


def test_setting_the_root_takes_all_along(
    logged: Logged, loggers: tuple[logging.Logger, logging.Logger]
) -> None:
    loggers[1].setLevel(logging.DEBUG)

    affected = logs.set_level("root", "ERROR")

    assert {"root", *(each.name for each in loggers)} <= {*affected}
    assert loggers[1].getEffectiveLevel() == logging.ERROR
