"""What the tests of handles share: a local session, and a backend that counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark.executors.counted import Backend

from configproviders.testing import CANARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONF: dict[str, str | bool | int | float | None] = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.sql.adaptive.enabled": "false",  # Plans and generated code take longer than the tests.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config(map=_CONF).getOrCreate()
    session.sparkContext.addPyFile(str(Path(__file__).with_name("counted.py")))
    yield session
    session.stop()


@pytest.fixture
def backend(tmp_path: Path) -> Backend:
    """Give a backend that the executors of a session know too."""
    backend = Backend(tmp_path / "backend", "counted")
    backend.put("db", user="orders", password=CANARY)
    return backend
