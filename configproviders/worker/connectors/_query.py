"""SQL of a config, over a data frame: :func:`select`.

Whoever may change a connector may not choose the code that runs for it, so nothing but a query is
taken: no ``ADD JAR``, no ``CREATE FUNCTION``. Some things in a query would still run what it names:
functions that call Java, under their own name or put together by ``IDENTIFIER(…)``, and scripts
(``TRANSFORM(…) USING '…'``). They are refused by their words, and so are the variables of Spark
(``${spark.…}``), which read any conf of the application.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from ...errors import ConfigException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VIEW = "source"
_CODE = re.compile(
    r"\$\{|\b((try_)?reflect|java_method|using\b(?!\s*\()|identifier\b(?=\s*(\(|/\*|--)))\b",
    re.IGNORECASE,
)
_viewing = threading.Lock()  # The tasks of a connector share a session, and so the view.


def refused(sql: str) -> str:
    """Return what in *sql* would run other code or read confs, or nothing.

    Words are not told from text in quotes, which SQL has too many kinds of to be sure.
    """
    found = _CODE.search(sql)
    return found[0] if found else ""


def columns(names: str) -> str:
    """Return the query for *names*, what stands between ``SELECT`` and ``FROM``."""
    return f"SELECT {names} FROM {VIEW}"  # noqa: S608  It is for :func:`select`.


def select(frame: DataFrame, sql: str) -> DataFrame:
    """Return the result of the query *sql* over *frame*, which is the view ``source`` in it.

    Raises :class:`~configproviders.ConfigException`, and what Spark says of a bad query.
    """
    if word := refused(sql):
        raise ConfigException(f"{word!r} in SQL would run other code, or read confs of Spark")
    spark = frame.sparkSession
    with _viewing:
        frame.createOrReplaceTempView(VIEW)
        try:  # In brackets it can be nothing but a query. Spark looks the view up at once.
            return spark.sql(f"SELECT * FROM (\n{sql.strip().removesuffix(';')}\n)")  # noqa: S608  The user's own.
        finally:
            spark.catalog.dropTempView(VIEW)
