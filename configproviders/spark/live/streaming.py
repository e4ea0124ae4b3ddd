"""Streams and batches across a rotation: refused logins, and queries that are restarted.

A password changes in the database and in the secret store, and never at the same moment. Who logs
in between the two is refused, and the store may not know better yet::

    database   old ──────┐ new ───────────────────────────────
    store      old ──────────────┐ new ───────────────────────
    batch        works  refused ──┴ looks again, works

So after a refused login the store is asked again, with pauses, until it has other values or
*patience* is over; only then is anything done once more. Values that were refused are not tried
again: some databases lock an account after a few failed logins.

The sink decides what is for a query. ``foreachBatch`` runs user code for each batch, which reads
options late and can be run again: :func:`retrying`. The options of all other sources and sinks are
fixed when a query starts: :func:`run_query`, which restarts it from its checkpoint.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from ...errors import ConfigException
from .authentication import is_authentication_failure

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

P = ParamSpec("P")
T = TypeVar("T")
Refused = Callable[[BaseException], bool]

PATIENCE = timedelta(seconds=10)
"""How long a secret store may be behind the database: rotations take moments, Lambdas seconds."""

_log = logging.getLogger(__name__)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0
_IN_VAIN = 3
_LOOK_SECONDS = 0.02
_AWAIT_SECONDS = 0.2


class Live(Protocol):
    """What :class:`LiveOptions` and :class:`LiveConfigs` have in common."""

    @property
    def revision(self) -> int:
        """How often values have changed so far."""
        ...

    def invalidate(self, *, revision: int | None = None) -> None:
        """Ask for all values anew, unless *revision* is over."""


def retrying(
    function: Callable[P, T],
    live: Live,
    *,
    refused: Refused = is_authentication_failure,
    patience: timedelta = PATIENCE,
) -> Callable[P, T]:
    """Return *function* with a second try, with fresh secrets, after a refused login.

    ::

        stream.writeStream.foreachBatch(retrying(write, options)).start()
        rows = retrying(lambda: read(options()).count(), options)()

    *function* has to call *live* itself each time, as it is what has the secrets of now, and it has
    to be idempotent: the first try may have done a part, or all. Give the options that it uses, and
    :class:`LiveConfigs` only for secrets of the session: it counts changes of all. *refused* tells
    whether an error is a refused login; any other passes. If there is no other secret within
    *patience*, the error passes too, and so does whatever the second try raises.
    """

    @functools.wraps(function)
    def function_retried(*arguments: P.args, **keywords: P.kwargs) -> T:
        revision = live.revision
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            if not (refused(error) and _is_renewed(live, revision, patience)):
                raise
        _log.info("a login was refused; once more with the secrets that have come since")
        return function(*arguments, **keywords)

    return function_retried


def restart_query(
    query: StreamingQuery,
    start: Callable[[], StreamingQuery],
    *,
    timeout: timedelta = timedelta(seconds=30),
) -> StreamingQuery:
    """Stop *query*, between two batches if one ends within *timeout*, and return a new one.

    *start* builds and starts it, with the options of now and the same sources, sink and checkpoint.
    A batch that is interrupted is done again from the checkpoint: with a sink that is idempotent,
    as files are, nothing is lost or doubled. If *query* had failed, that is logged, and is the
    cause of what *start* raises.
    """
    stop_query(query, timeout=timeout)
    failure = query.exception()
    if failure is None:
        return start()
    _log.warning("the query %s had failed; it is started again", query.id)
    try:
        return start()
    except Exception as error:
        raise error from failure


def stop_query(query: StreamingQuery, *, timeout: timedelta = timedelta(seconds=30)) -> None:
    """Stop *query*, between two batches if one ends within *timeout*.

    It is waited for here; why a query had failed is in its ``exception()``.
    """
    _await_end_of_batch(query, timeout)
    query.stop()


def run_query(
    start: Callable[[], StreamingQuery],
    live: Live,
    *,
    refused: Refused = is_authentication_failure,
    patience: timedelta = PATIENCE,
    timeout: timedelta = timedelta(seconds=30),
) -> StreamingQuery:
    """Run the query that *start* starts to its end, in this thread; return it.

    When values of *live* have changed it is restarted, see :func:`restart_query`; and when it ends
    with a refused login, as soon as there are others, within *patience*, but for a third time in a
    row without a batch. It ends when it is stopped elsewhere, when there is nothing more for it to
    do, or with another error, which is raised. Give the options that it uses: :class:`LiveConfigs`
    counts changes of all.
    """
    from pyspark.errors import StreamingQueryException

    start = retrying(start, live, refused=refused, patience=patience)
    revision, in_vain = live.revision, 0
    query = start()
    while True:
        try:
            if query.awaitTermination(_AWAIT_SECONDS):  # type: ignore[arg-type] # Floats too.
                return query
        except StreamingQueryException as error:
            in_vain = 1 if query.lastProgress else in_vain + 1  # No batch since the last refusal.
            again = in_vain < _IN_VAIN and refused(error)
            if not (again and _is_renewed(live, revision, patience)):
                raise
        if live.revision != revision:
            revision = live.revision
            _log.info("the secrets of the query %s have changed; it is restarted", query.id)
            query = restart_query(query, start, timeout=timeout)


def _is_renewed(live: Live, refused: int, patience: timedelta) -> bool:
    """Look for values after the revision that was *refused*, with growing pauses."""
    end = time.monotonic() + patience.total_seconds()
    pause = _FIRST_PAUSE
    while True:
        try:
            live.invalidate(revision=refused)
        except ConfigException as error:  # The store may be what is being rotated.
            _log.warning("a login was refused, and there is no other secret yet: %s", error)
        left = end - time.monotonic()
        if live.revision != refused or left <= 0:
            return live.revision != refused
        time.sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _await_end_of_batch(query: StreamingQuery, timeout: timedelta) -> None:
    end = time.monotonic() + timeout.total_seconds()
    begun = _last_batch(query)
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < end:
        if _last_batch(query) != begun:
            return
        time.sleep(_LOOK_SECONDS)


def _last_batch(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return None if progress is None else progress["batchId"]
