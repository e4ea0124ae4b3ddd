"""The thread that hears from a queue what has changed, while somebody listens.

It is a thread of its own, named ``aws-events``, since SQS tells what comes only to who waits for
it. It goes round: receive, tell, delete. Two lines in the log say that this begins to fail, and
that it works again: then anything may have changed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial

from ...errors import ProviderUnavailable
from ...provider import Changed
from ...single_flight import renew_in_children
from .events import EVERYTHING
from .failures import ServiceError, failure
from .patience import Patience
from .queue import BATCH, WAIT, Message, Queue

_log = logging.getLogger(__name__)

_SHORTEST_ROUND = 1.0  # Of one that brings nothing, should the queue not wait.
_END_SECONDS, _END_STEP = 0.8, 0.02
_ADVICE = "check aws.events.queue.url, and allow sqs:ReceiveMessage and sqs:DeleteMessage on it"

ChangedBy = Callable[[str], frozenset[str] | None]
"""Takes the body of a message; returns the names of what it says has changed."""


class Listener:
    """Passes on what the messages of a queue say has changed. Thread-safe.

    *changed_by* returns no names for a message about nothing that changed, and ``None`` for one
    that is not for us; all are deleted. *names_at* returns the names of what is at a path. Each
    time the first one starts to listen, *open_queue* is called and a thread begins; it ends with
    the last one. In a forked child nobody listens.
    """

    def __init__(
        self,
        name: str,
        open_queue: Callable[[], Queue],
        changed_by: ChangedBy,
        names_at: Callable[[str], frozenset[str]],
        patience: Callable[[], Patience],
    ) -> None:
        """Hear nothing yet; *name* is for the log."""
        self._name = name
        self._open_queue = open_queue
        self._changed_by = changed_by
        self._names_at = names_at
        self._patience = patience
        self._lock = threading.Lock()
        self._listening: dict[object, Changed] = {}
        self._hearing: _Hearing | None = None
        renew_in_children(self)

    def add(self, changed: Changed) -> Callable[[], None]:
        """Have *changed* called; return what ends that."""
        ticket = object()
        with self._lock:
            if self._hearing is None:
                self._hearing = self._begun()
            self._listening[ticket] = changed
        return partial(self._remove, ticket)

    def close(self) -> None:
        """Have nobody listen, and end the thread."""
        with self._lock:
            self._listening = {}
            hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.end()

    def renew(self) -> None:
        """Leave the queue to the parent of a process that was forked."""
        self._lock = threading.Lock()
        self._listening = {}
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.abandon()

    def _begun(self) -> _Hearing:
        queue, patience = self._open_queue(), self._patience()
        hearing = _Hearing(self._name, queue, self._changed_by, self._tell, patience)
        try:
            hearing.begin()
        except RuntimeError:  # There is no thread to be had, which would close it.
            queue.close()
            raise
        return hearing

    def _remove(self, ticket: object) -> None:
        with self._lock:
            was_listening = self._listening.pop(ticket, None) is not None
            if self._listening or not was_listening:
                return
            hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.end()

    def _tell(self, names: frozenset[str]) -> None:
        def concerned(path: str) -> bool:
            return names >= EVERYTHING or not names.isdisjoint(self._names_at(path))

        with self._lock:
            listening = list(self._listening.values())
        for changed in listening:
            try:
                changed(concerned)
            except Exception as error:  # noqa: BLE001  The border around who listens.
                _log.warning("who listens to events of AWS fails with %s", type(error).__name__)


class _Hearing:
    """One thread and its queue. What it remembers is for that thread alone."""

    def __init__(
        self,
        name: str,
        queue: Queue,
        changed_by: ChangedBy,
        tell: Callable[[frozenset[str]], None],
        patience: Patience,
    ) -> None:
        self._name = name
        self._queue = queue
        self._changed_by = changed_by
        self._tell = tell
        self._patience = patience
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="aws-events", daemon=True)
        self._told: list[Message] = []  # And not deleted yet.
        self._met_others = False

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Have the thread end, and wait for it; not for long while it connects to a host."""
        self._ended.set()
        last = time.monotonic() + _END_SECONDS
        while self._thread.is_alive() and self._thread is not threading.current_thread():
            self._queue.interrupt()  # Again and again: it may have been between two calls.
            self._thread.join(_END_STEP)
            if time.monotonic() > last:
                return

    def abandon(self) -> None:
        """Be over in a forked child; should it be this thread that forked, it ends."""
        self._ended = threading.Event()  # Another thread may have held the lock of the old one.
        self._ended.set()

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                self._ended.wait(self._round())
        finally:
            self._queue.close()

    def _round(self) -> float:
        """Receive, tell, delete; return how long to pause then."""
        start = time.monotonic()
        try:
            # What works again is to be seen at once, and not when a message comes.
            messages = self._queue.receive(0 if self._patience.is_trying else WAIT)
            self._take(messages)
        except Exception as error:  # noqa: BLE001  The top of a thread, which must go on.
            return self._fail(error)
        if self._patience.work():
            _log.info("events of changes arrive again: %s", self._name)
            self._tell(EVERYTHING)
        return 0.0 if messages else max(0.0, start + _SHORTEST_ROUND - time.monotonic())

    def _take(self, messages: Iterable[Message]) -> None:
        """Tell what *messages* say, and delete them with what could not be deleted before."""
        said = [self._changed_by(message.body) for message in messages]
        changed = frozenset(name for names in said if names for name in names)
        if changed and not self._ended.is_set():
            self._tell(changed)
        if None in said and not self._met_others:
            self._met_others = True
            _log.warning("what is no event for this provider is deleted unread: %s", self._name)
        self._told = [*self._told, *messages][-BATCH:]
        if self._told:
            self._queue.delete(self._told)
        self._told = []

    def _fail(self, error: Exception) -> float:
        if self._ended.is_set():
            return 0.0
        # The text of an error that is not ours may hold anything.
        clean = error if isinstance(error, ServiceError) else ServiceError(type(error).__name__)
        said = failure(clean, self._name)
        may_pass = isinstance(said, ProviderUnavailable)
        if self._patience.fail(may_pass=may_pass):
            advice = "" if may_pass else f"; {_ADVICE}"
            _log.warning("events of changes do not arrive, still trying: %s%s", said, advice)
        return self._patience.pause(may_pass=may_pass)
