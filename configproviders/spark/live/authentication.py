"""Whether an error says that a login was refused: :func:`is_authentication_failure`.

What was refused stands deep inside. An error of Python holds one of the JVM, and that a chain of
causes; of what failed on an executor there may be no more than its text. So both are looked at: the
SQLSTATE of each ``java.sql.SQLException``, and what all of them say. Taking too much for a refused
login costs a look at the secret; an error is never swallowed for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

SQL_STATE_CLASSES = ("28",)
"""How the SQLSTATE of a refused login begins: "invalid authorization specification" (SQL:2023)."""

SAYINGS = (
    r"authentication (has )?fail",  # PostgreSQL, Derby, Snowflake, Kafka, MongoDB
    r"fail(ed|ure) (to authenticate|authentication)",
    r"(unable|not able) to authenticate",  # Elasticsearch
    r"access denied for user",  # MySQL, MariaDB
    r"login failed for user",  # SQL Server
    r"ORA-01017",  # Oracle: invalid username/password
    r"(incorrect|invalid) (user ?name|login|credential|authorization spec|password)(?! column)",
    r"\b(Sasl|Ssl)AuthenticationException\b",  # Kafka
    r"\b(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidClientTokenId|UnrecognizedClient)",  # AWS
    r"\b(ExpiredToken|InvalidToken|TokenRefreshRequired|RequestExpired)",  # AWS, short-lived keys
    r"\b(status|HTTP|code)( code)?[ :=/\d.]{1,8}\b40[13]\b(?! rows)",
    r"\b(401 Unauthorized|403 Forbidden)\b",
)
"""What the messages of refused logins say, as regular expressions in which case is nothing."""

_SAYING = re.compile("|".join(SAYINGS), re.IGNORECASE)
_DEEPEST = 30


def is_authentication_failure(error: BaseException) -> bool:
    """Tell whether *error*, or a cause of it, in Python or in the JVM, is a refused login."""
    return any(map(_is_refused, _chain(error)))


def _is_refused(error: BaseException) -> bool:
    try:  # What PySpark captured keeps the trace of the JVM, with all causes, beside its text.
        said = f"{error}\n{getattr(error, '_stackTrace', '')}"
    except Exception:  # noqa: BLE001  It says nothing, and is no reason to lose it.
        return False
    if _SAYING.search(said):
        return True
    throwable = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    return throwable is not None and any(map(_is_refused_in_jvm, _causes(throwable)))


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _DEEPEST:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            links = [each.__cause__, each.__context__, getattr(each, "_cause", None)]
            links += getattr(each, "exceptions", ())  # Those of a group.
            waiting += [linked for linked in links if isinstance(linked, BaseException)]


def _causes(throwable: Any) -> Iterator[Any]:
    from py4j.protocol import Py4JError

    with suppress(Py4JError):  # The JVM may be gone, and with it what it knew.
        for _ in range(_DEEPEST):
            if throwable is None:
                return
            yield throwable
            throwable = throwable.getCause()


def _is_refused_in_jvm(throwable: Any) -> bool:
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    if _SAYING.search(str(throwable.toString())):
        return True
    if not is_instance_of(SparkContext._gateway, throwable, "java.sql.SQLException"):
        return False
    return str(throwable.getSQLState()).startswith(SQL_STATE_CLASSES)
