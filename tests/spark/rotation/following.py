"""Secrets in a file, one for each kind of key that a session follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from configproviders import Watcher, properties
from configproviders.testing import CANARY

if TYPE_CHECKING:
    pass

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


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
