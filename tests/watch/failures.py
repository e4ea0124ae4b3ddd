"""What tests of failures share: what a callback got, what was said, a provider that may be odd."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from queue import Empty, Queue
from typing import Any

import pytest
from watched import Changing

from configproviders import ConfigData, ConfigProvider, Location, Watcher
from configproviders.data import Answer
from configproviders.testing import CANARY

SECONDS = 20
POLL = timedelta(milliseconds=50)
SETTLE = timedelta(milliseconds=20)
AT = Location("it", "db")


class Told:
    """What a callback got of the password; each is waited for, and that nothing more comes."""

    def __init__(self) -> None:
        self._queue: Queue[str] = Queue()

    def __call__(self, _path: str, data: ConfigData, /) -> None:
        self._queue.put(data.data["password"])

    def next(self) -> str:
        return self._queue.get(timeout=SECONDS)

    def is_silent(self, seconds: float = 0.15) -> bool:
        try:
            self._queue.get(timeout=seconds)
        except Empty:
            return True
        return False


def watching(provider: ConfigProvider, **settings: Any) -> Watcher:
    return Watcher({"it": provider}, poll_interval=POLL, settle=SETTLE, **settings)


def said(log: pytest.LogCaptureFixture, logger: str = "configproviders") -> list[tuple[str, str]]:
    """Return the levels and texts of what an operator is told."""
    return [
        (record.levelname, record.getMessage())
        for record in log.records
        if record.name.startswith(logger) and record.levelno >= logging.INFO
    ]


def assert_said_once_with_its_end(log: pytest.LogCaptureFixture, place: str) -> None:
    (level, failure), (level_of_end, end) = said(log)
    assert (level, level_of_end) == ("WARNING", "INFO")
    assert failure.startswith(f"{place} cannot be read, ")
    assert end.startswith(f"{place} can be read again, ")
    assert CANARY not in log.text


class Odd(Changing):
    """Does something odd instead of an answer, as long as it is told to; it need not wait."""

    def __init__(self) -> None:
        super().__init__(password=f"{CANARY}-0")
        self.instead: Callable[[], Any] | None = None
        self.in_many: Callable[[], Any] | None = None

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        if self.instead is None:
            return super().get(path, keys)
        self.asked.append([path])
        answer: ConfigData = self.instead()
        return answer

    def get_many(self, lookups: Mapping[str, Collection[str] | None]) -> Mapping[str, Answer]:
        if self.in_many is None:
            return super().get_many(lookups)
        answers: dict[str, Answer] = self.in_many()
        return answers


class Quick(Odd):
    waits = False
