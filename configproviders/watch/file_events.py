"""What happens to files, from watchdog: which watched places a change in a directory concerns.

Not files are observed but the directories of the entries that decide where a path leads. They are
found anew with every look at the file: a directory may be another one by then.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ..single_flight import renew_in_children
from .file_entries import Entry, entries_of

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch
    from watchdog.utils import BaseThread

T = TypeVar("T")
_log = logging.getLogger(__name__)
_DESCRIPTORS = 3  # That an observer takes at its start.
_ONE_WARNING = 60.0


class _Observed(NamedTuple):
    """What watchdog watches, and which directory that was."""

    watch: ObservedWatch
    inode: tuple[int, int]


class _Started(NamedTuple):
    """A running observer, what stops it, and what gives up a forked child's part in it."""

    observer: BaseObserver
    stop: Callable[[], None]
    give_up: Callable[[], None]


class FileEvents(Generic[T]):
    """Says which *things* are concerned when a file changes. Thread-safe.

    In a forked child it observes nothing, and the parent's goes on.
    """

    def __init__(self, changed: Callable[[Iterable[T]], None]) -> None:
        """Call *changed* with what is concerned, in a thread of watchdog's; observe nothing yet."""
        self._changed = changed
        self._closed = False
        self._started: _Started | None = None
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Observe nothing, as at first: in a forked child the threads are not there."""
        if self._started is not None:
            self._started.give_up()
        self._lock = threading.Lock()
        self._started = None
        self._observed: dict[str, _Observed] = {}
        self._entries: dict[T, frozenset[Entry]] = {}
        self._things: defaultdict[Entry, set[T]] = defaultdict(set)
        self._names: defaultdict[str, set[Entry]] = defaultdict(set)
        self._gone: set[str] = set()
        self._failing: set[str] = set()
        self._lost_at = -math.inf

    def watch(self, thing: T, paths: Collection[str]) -> None:
        """Have *thing* concerned by what happens to *paths*, from now on."""
        entries = frozenset(entry for path in paths for entry in entries_of(path))
        with self._lock:
            if self._closed:
                return
            before = self._entries.get(thing, frozenset())
            self._entries[thing] = entries
            for entry in entries - before:
                self._things[entry] = self._things[entry] | {thing}  # Read without the lock.
                self._names[entry.directory] = self._names[entry.directory] | {entry}
            observed = [self._observe(entry.directory) for entry in entries]
            self._release(thing, before - entries)
        if not all(observed):
            self._changed([thing])

    def forget(self, thing: T) -> None:
        """Have *thing* concerned by nothing."""
        with self._lock:
            self._release(thing, self._entries.pop(thing, frozenset()))

    def close(self) -> None:
        """Observe nothing any more."""
        with self._lock:
            self._closed = True
            started, self._started = self._started, None
            for each in (self._observed, self._entries, self._things, self._names):
                each.clear()
        if started is not None:
            started.stop()

    def dispatch(self, event: FileSystemEvent) -> None:
        """Take an event of watchdog's."""
        concerned: set[T] = set()
        for path in {os.fsdecode(each) for each in (event.src_path, event.dest_path) if each}:
            directory, name = os.path.split(path)
            entries = {Entry(directory, name), Entry(directory, ""), *self._names.get(path, ())}
            concerned.update(*(self._things.get(entry, ()) for entry in entries))
            if event.is_directory and event.event_type == "deleted" and path in self._names:
                self._gone.add(path)
        if concerned:
            self._changed(concerned)

    def _release(self, thing: T, entries: Iterable[Entry]) -> None:
        for entry in entries:
            left = self._things[entry] - {thing}
            if left:
                self._things[entry] = left
                continue
            del self._things[entry]
            self._names[entry.directory] = self._names[entry.directory] - {entry}
            if not self._names[entry.directory]:
                del self._names[entry.directory]
                self._unobserve(entry.directory)

    def _observe(self, directory: str) -> bool:
        """Have *directory* observed; return false if it has gone meanwhile."""
        try:
            status = os.stat(directory)
            inode = status.st_dev, status.st_ino
            known = self._observed.get(directory)
            if known is not None:
                if known.inode == inode and directory not in self._gone:
                    return True
                self._unobserve(directory)
            self._gone.discard(directory)
            os.scandir(directory).close()  # If that is refused, watchdog says nothing.
            watch = self._start().schedule(self, directory, event_filter=_kinds())  # type: ignore[arg-type]  # It dispatches.
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, RuntimeError) as error:  # The latter if there are no more threads.
            self._fail(directory, error)
        else:
            self._observed[directory] = _Observed(watch, inode)
            self._work(directory)
        return True

    def _unobserve(self, directory: str) -> None:
        observed = self._observed.pop(directory, None)
        self._failing.discard(directory)
        self._gone.discard(directory)
        if observed is not None and self._started is not None:
            self._started.observer.unschedule(observed.watch)

    def _start(self) -> BaseObserver:
        if self._started is None:
            self._started = _start_observer(self._lose)
        return self._started.observer

    def _fail(self, directory: str, error: OSError | RuntimeError) -> None:
        if not self._failing:
            reason = getattr(error, "strerror", None) or str(error)
            if isinstance(error, PermissionError):
                reason = f"{directory} may not be listed"
            _log.warning("no file events: %s; files are polled instead", reason)
        self._failing.add(directory)

    def _work(self, directory: str) -> None:
        if directory in self._failing:
            self._failing.discard(directory)
            if not self._failing:
                _log.info("there are file events again")

    def _lose(self) -> None:
        if time.monotonic() - self._lost_at > _ONE_WARNING:
            _log.warning("more happened to files than the system keeps: all are looked at again")
        self._lost_at = time.monotonic()
        self._changed(list(self._entries))


def _kinds() -> list[type[FileSystemEvent]]:
    """Return the kinds of events that may change what is read; reading is none of them."""
    from watchdog import events

    return [
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileAttribEvent,
        events.FileClosedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirAttribEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]


def _start_observer(lose: Callable[[], None]) -> _Started:
    """Return a running observer; *lose* is called when events are lost."""
    from watchdog.observers.api import BaseObserver

    if sys.platform != "linux":
        from watchdog.observers import Observer

        other: BaseObserver = Observer()
        other.start()
        return _Started(other, lambda: _stop(other), _nothing)
    from watchdog.observers.inotify import InotifyEmitter
    from watchdog.observers.inotify_c import InotifyEvent, InotifyFD

    class Inotify(InotifyFD):
        def handle_event(self, event: InotifyEvent) -> None:
            super().handle_event(event)
            if event.is_queue_overflow:
                lose()

        def give_up(self) -> None:
            # Nothing else: to stop it takes a lock, and the watch away from the parent.
            with suppress(AttributeError, OSError):  # The former if watchdog names it otherwise.
                self._close_resources()

    _require_room()
    logging.getLogger("watchdog.observers.inotify").addFilter(_is_no_farewell)
    inotify = Inotify()
    inotify.start()
    observer = BaseObserver(InotifyEmitter, inotify_fd=inotify)
    observer.start()
    return _Started(observer, lambda: _stop(observer, inotify), inotify.give_up)


def _is_no_farewell(record: logging.LogRecord) -> bool:
    """Whether *record* is not the error that watchdog logs when it ends during half a move."""
    return "called when the thread is inactive" not in record.getMessage()


def _require_room() -> None:
    """Raise for want of descriptors or threads; an observer that fails half-way would keep some."""
    thread = threading.Thread(target=_nothing)
    thread.start()
    thread.join()
    taken: list[int] = []
    try:
        while len(taken) < _DESCRIPTORS:
            taken.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for each in taken:
            os.close(each)


def _stop(*threads: BaseThread) -> None:
    for each in threads:
        each.stop()
        each.join()


def _nothing() -> None:
    pass
