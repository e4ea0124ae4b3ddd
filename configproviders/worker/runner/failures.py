"""What is said of a failure: a trace without values, and how often to try again."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator

from ...errors import ProviderUnavailable, UnresolvedError
from ...spark import cleaning, is_authentication_failure
from ..errors import ConnectException

ALWAYS = sys.maxsize
"""As many tries as it takes."""

_LOGINS = 3


class ApplicationLost(ConnectException):
    """The Spark application, or its JVM, has ended."""


def trace(error: BaseException) -> str:
    """Return what happened in one line, and the traceback of *error*; no value that is known.

    The line is the first, where clients of Kafka Connect look for it.
    """
    traced = "".join(traceback.format_exception(error)).strip()
    return cleaning.clean(f"{type(error).__name__}: {_in_one_line(error)}\n{traced}")


def tries(error: BaseException) -> int:
    """Return how many more tries are worth it: none, unless a backend failed, which may pass.

    Few after a refused login: the database may learn of a rotated password after the secret store,
    but some lock an account after a few failed logins.
    """
    if isinstance(error, UnresolvedError):
        failures = [each.error for each in error.unresolved]
        passes = all(isinstance(each, ProviderUnavailable) for each in failures)
        return ALWAYS if passes else 0
    if any(isinstance(each, ProviderUnavailable | ApplicationLost) for each in _causes(error)):
        return ALWAYS
    return _LOGINS if is_authentication_failure(error) else 0


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and what it came from; connectors wrap what they get."""
    seen = set[int]()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__


def _in_one_line(error: BaseException) -> str:
    lines = [line.strip() for line in _said(error).splitlines() if line.strip()] or [""]
    if len(lines) > 1 and lines[1].startswith(": "):  # Py4J: what it called, then what Java says.
        return lines[1].removeprefix(": ")
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def _said(error: BaseException) -> str:
    try:
        return cleaning.clean(str(error))  # Before it is cut: a value may have several lines.
    except Exception:  # noqa: BLE001  Any code may stand in it.
        return "it does not say what"
