"""What a Python worker writes to the JVM about a function that failed: without Spark."""

from __future__ import annotations

import struct
from io import BytesIO, TextIOWrapper

import pytest
from pyspark import util

from configproviders.spark import cleaning
from configproviders.spark.executors import worker_exceptions
from configproviders.testing import CANARY


def written_about(error: Exception) -> tuple[int, str]:
    """Return the mark and the text that the worker writes when *error* was raised."""
    outfile = BytesIO()
    try:
        raise error
    except Exception as raised:  # noqa: BLE001  As the worker has it.
        util.handle_worker_exception(raised, outfile)
    mark, length = struct.unpack_from("!ii", outfile.getvalue())
    text = outfile.getvalue()[8:]
    assert len(text) == length
    return mark, text.decode()


@pytest.fixture(autouse=True)
def known() -> None:
    cleaning.remember([CANARY])
    for _ in range(2):  # Once is enough.
        worker_exceptions.clean()


def test_the_message_and_what_it_came_of_are_cleaned_and_the_rest_stays() -> None:
    error = ValueError(f"über {CANARY}")
    error.__cause__ = KeyError(CANARY)

    mark, text = written_about(error)

    assert mark == -2
    assert CANARY not in text
    assert "ValueError: über *********(redacted)" in text
    assert "KeyError: '*********(redacted)'" in text
    assert text.startswith("KeyError")


def test_locals_in_the_traceback_are_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_TRACEBACK_WITH_LOCALS", "1")

    _, text = written_about(ValueError(CANARY))

    assert "error = ValueError('*********(redacted)')" in text
    assert CANARY not in text


def test_what_it_cannot_write_is_printed_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    outfile, printed = BytesIO(), TextIOWrapper(BytesIO(), errors="backslashreplace")
    monkeypatch.setattr("sys.stderr", printed)
    try:
        raise ValueError(f"\ud800 {CANARY}")
    except ValueError as error:
        util.handle_worker_exception(error, outfile)

    text = b"ValueError: not to be written"
    assert outfile.getvalue() == struct.pack("!ii", -2, len(text)) + text
    printed.seek(0)
    said = printed.read()
    assert "PySpark worker failed with exception" in said
    assert CANARY not in said


def test_a_jvm_that_is_gone_is_no_error() -> None:
    class Gone(BytesIO):
        def write(self, *_: object) -> int:
            raise BrokenPipeError

    try:
        raise ValueError(CANARY)
    except ValueError as error:
        util.handle_worker_exception(error, Gone())
