"""What is said of a failure: a trace without values, and whether it may pass by itself."""

from __future__ import annotations

import traceback

from ...errors import ProviderUnavailable, UnresolvedError
from ...spark import cleaning, is_authentication_failure


class ApplicationLost(Exception):  # noqa: N818  It says what happened.
    """The Spark application, or its JVM, has ended."""


def trace(error: BaseException) -> str:
    """Return the traceback of *error* as text, without the values that are known."""
    return cleaning.clean("".join(traceback.format_exception(error)).strip())


def may_pass(error: BaseException) -> bool:
    """Tell whether *error* is of a backend that may be there again later.

    A refused login counts: the database may learn of a rotated password after the secret store.
    """
    if isinstance(error, UnresolvedError):
        return all(
            isinstance(each.error, ProviderUnavailable)
            for each in error.unresolved
            if each.is_failure
        ) and any(each.is_failure for each in error.unresolved)
    return isinstance(error, ProviderUnavailable | ApplicationLost) or is_authentication_failure(
        error
    )
