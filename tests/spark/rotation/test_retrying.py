"""One more try after a refused login, without Spark: when, with what, and when not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest

from configproviders.errors import LookupDenied
from configproviders.spark import is_authentication_failure, retrying

NONE = timedelta(0)


class Store:
    """Has another secret when it has been asked so many times."""

    def __init__(self, *, late: int = 0) -> None:
        self.revision = 0
        self.asked = 0
        self._late = late

    def invalidate(self, *, revision: int | None = None) -> None:
        if revision == self.revision:
            self.asked += 1
            self.revision += self.asked > self._late


class Batch:
    """Is refused with each secret but the one that is good."""

    def __init__(self, store: Store, good: int = 1) -> None:
        self.tries: list[int] = []
        self._store = store
        self._good = good

    def __call__(self, rows: int) -> int:
        self.tries.append(self._store.revision)
        if self._store.revision != self._good:
            raise PermissionError("FATAL: password authentication failed for user")
        return rows


def test_a_refused_login_is_tried_once_more_with_fresh_secrets() -> None:
    store = Store()
    batch = Batch(store)

    rows = retrying(batch, store)(rows=3)

    assert rows == 3
    assert batch.tries == [0, 1]
    assert store.asked == 1


def test_a_store_that_is_behind_the_database_is_waited_for() -> None:
    store = Store(late=3)
    batch = Batch(store)

    retrying(batch, store)(1)

    assert batch.tries == [0, 1]
    assert store.asked == 4


def test_values_that_were_refused_are_not_tried_again() -> None:
    store = Store(late=1000)
    batch = Batch(store)

    with pytest.raises(PermissionError):
        retrying(batch, store, patience=timedelta(milliseconds=100))(1)

    assert batch.tries == [0]
    assert store.asked > 1


def test_without_patience_the_store_is_asked_once() -> None:
    store = Store(late=1)

    with pytest.raises(PermissionError):
        retrying(Batch(store), store, patience=NONE)(1)

    assert store.asked == 1


def test_the_second_refusal_passes() -> None:
    store = Store()
    batch = Batch(store, good=7)

    with pytest.raises(PermissionError):
        retrying(batch, store)(1)

    assert batch.tries == [0, 1]


def test_nobody_is_asked_if_the_secret_has_changed_while_the_batch_ran() -> None:
    store = Store()

    def batch() -> str:
        if store.revision == 0:
            store.revision = 1
            raise PermissionError("authentication failed")
        return "done"

    assert retrying(batch, store)() == "done"
    assert store.asked == 0


def test_any_other_error_passes_at_once() -> None:
    store = Store()

    def batch() -> None:
        raise ValueError("the table is not there")

    with pytest.raises(ValueError, match="the table"):
        retrying(batch, store)()

    assert store.asked == 0


def test_the_user_may_say_what_a_refused_login_is() -> None:
    store = Store()

    def batch() -> int:
        if not store.revision:
            raise KeyError("no entry")
        return store.revision

    assert retrying(batch, store, refused=lambda error: isinstance(error, KeyError))() == 1


def test_a_store_that_fails_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Store):
        def invalidate(self, *, revision: int | None = None) -> None:
            super().invalidate(revision=revision)
            if not self.revision:
                raise LookupDenied("not now")

    store = Failing(late=2)
    batch = Batch(store)
    caplog.set_level(logging.INFO)

    retrying(batch, store)(1)

    assert batch.tries == [0, 1]
    assert caplog.text.count("there is no other secret yet") == 2


def chained(cause: Exception) -> Exception:
    error = RuntimeError("the job was aborted")
    error.__cause__ = cause
    return error


REFUSED = [
    "FATAL: password authentication failed for user",
    "Connection authentication failure occurred.  Reason: Invalid authentication.",
    "Access denied for user 'orders'@'10.0.0.1' (using password: YES)",
    "Login failed for user 'orders'. ClientConnectionId:6c1",
    "ORA-01017: invalid username/password; logon denied",
    "Incorrect username or password was specified.",
    "org.apache.kafka.common.errors.SaslAuthenticationException: no",
    "Command failed with error 18 (AuthenticationFailed): 'Authentication failed.'",
    "unable to authenticate user [orders] for REST request [/]",
    "An error occurred (InvalidAccessKeyId) when calling the ListBuckets operation",
    "The provided token has expired. (Service: S3, Status Code: 400, ExpiredToken)",
    "Forbidden (Service: S3, Status Code: 403, Request ID: x)",
    "401 Client Error: Unauthorized; HTTP 401",
    "Server returned HTTP response code: 401 for URL",
]
OTHERS = [
    'relation "orders" does not exist',
    "Connection refused: 127.0.0.1:5432",
    "The job 403 was aborted",
    "Status Code: 404",
    "permission denied for table orders",
    "Stage 401 contains a task of very large size",
    "HTTP 200, 401 rows",
    "status of task 401",
    "Found invalid password column type",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_refused_login_is_known_by_its_words(text: str) -> None:
    assert is_authentication_failure(Exception(text))
    assert is_authentication_failure(chained(Exception(text)))


@pytest.mark.parametrize("text", OTHERS)
def test_other_errors_are_no_refused_login(text: str) -> None:
    assert not is_authentication_failure(chained(Exception(text)))


def test_an_error_without_a_text_is_none_and_a_group_is_what_it_holds() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    refused = Exception(REFUSED[0])

    assert not is_authentication_failure(SilentError())
    assert is_authentication_failure(ExceptionGroup("several", [SilentError(), refused]))


def test_a_chain_of_causes_may_be_a_ring() -> None:
    one, other = Exception("one"), Exception("other")
    one.__cause__, other.__cause__ = other, one

    assert not is_authentication_failure(one)


def test_the_function_keeps_its_name() -> None:
    def write_orders() -> None:
        """Write."""

    wrapped: Callable[[], None] = retrying(write_orders, Store())

    assert wrapped.__name__ == "write_orders"
