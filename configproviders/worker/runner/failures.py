"""What is said of a failure: a trace without values, and how often to try again."""

from __future__ import annotations

import sys
import traceback

from ...errors import ProviderUnavailable, UnresolvedError
from ...spark import cleaning, is_authentication_failure

ALWAYS = sys.maxsize
"""As many tries as it takes."""

_LOGINS = 3


class ApplicationLost(Exception):  # noqa: N818  It says what happened.
    """The Spark application, or its JVM, has ended."""


def trace(error: BaseException) -> str:
    """Return the traceback of *error* as text, without the values that are known."""
    return cleaning.clean("".join(traceback.format_exception(error)).strip())


def tries(error: BaseException) -> int:
    """Return how many more tries are worth it: none, unless a backend failed, which may pass.

    Few after a refused login: the database may learn of a rotated password after the secret store,
    but some lock an account after a few failed logins.
    """
    if isinstance(error, UnresolvedError):
        failures = [each.error for each in error.unresolved]
        passes = all(isinstance(each, ProviderUnavailable) for each in failures)
        return ALWAYS if passes else 0
    if isinstance(error, ProviderUnavailable | ApplicationLost):
        return ALWAYS
    return _LOGINS if is_authentication_failure(error) else 0
