"""Hears of changes before a poll would see them: from files, backends, and providers."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from ..cache import CachingConfigProvider
from ..cache_entry import split_ttl
from ..data import ConfigData
from ..errors import ConfigException
from ..provider import ConfigProvider
from .file_events import FileEvents
from .location import Source, WatchedLocation
from .state import WatchState

_T = TypeVar("_T")
_Stop = Callable[[], None]
_Listen = Callable[[], _Stop | None]
_log = logging.getLogger(__name__)
_CLOSING_SECONDS = 0.8


class Hearing:
    """Hurries the state when something may have changed. Thread-safe."""

    def __init__(self, state: WatchState) -> None:
        """Listen to nothing yet."""
        self._state = state
        self._files: FileEvents[WatchedLocation] = FileEvents(state.hurry)
        self._lock = threading.Lock()
        self._ears: dict[Source | WatchedLocation, _Ear] = {}
        self._closed = False

    def begin(self, watched: Iterable[WatchedLocation]) -> None:
        """Hear what happens at *watched*, which nobody watched before."""
        for each in watched:
            source = each.source
            changed = partial(self._heard, source)
            self._listen(source, source, partial(source.provider.listen, changed))
            found = _subscribing(source.provider, each.location.path)
            if found is not None and not source.ends_here:
                hurry = partial(self._state.hurry, (each,))
                self._listen(each, source, partial(_subscribe, *found, hurry))

    def arm(self, watched: Iterable[WatchedLocation]) -> None:
        """Observe the files of *watched*, wherever they are by now."""
        for each in watched:
            files = _files_of(each)
            if files:
                self._files.watch(each, files)
                if not each.wants:  # It was let go meanwhile.
                    self._files.forget(each)

    def end(self, watched: Iterable[WatchedLocation]) -> None:
        """Hear no more of *watched*, which nobody watches any more."""
        for each in watched:
            self._files.forget(each)
            with self._lock:
                ears = [self._ears.pop(each, None)]
                if not each.source.locations:  # Asked with the lock: a newcomer comes after this.
                    ears.append(self._ears.pop(each.source, None))
            _close(ear for ear in ears if ear is not None)

    def close(self) -> None:
        """Hear nothing any more: who listens is told at once, and waited for a second at most."""
        with self._lock:
            self._closed = True
            ears, self._ears = self._ears, {}
        self._files.close()
        by_source = defaultdict(list)
        for heard, ear in ears.items():
            by_source[heard if isinstance(heard, Source) else heard.source].append(ear)
        _close_soon(by_source.values())

    def _listen(self, heard: Source | WatchedLocation, source: Source, listen: _Listen) -> None:
        with self._lock:
            if self._closed or heard in self._ears:
                return
            ear = self._ears[heard] = _Ear()
        ear.open(_tried(source, listen))  # Without the lock: a plugin may take its time.

    def _heard(self, source: Source, concerns: Callable[[str], bool]) -> None:
        watched = self._state.of_source(source.name)
        self._state.hurry([each for each in watched if concerns(each.location.path)])


class _Ear:
    """A plugin that is listened to, from before it is asked for that until that has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: _Stop | None = None
        self._closed = False

    def open(self, stop: _Stop | None) -> None:
        """Take what ends it; end it now if that was asked for meanwhile."""
        with self._lock:
            self._stop = stop
            closed = self._closed
        if closed:
            self.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            stop, self._stop = self._stop, None
        if stop is not None:
            with suppress(Exception):  # The border around a plugin, which is let go.
                stop()


def _subscribe(provider: ConfigProvider, path: str, hurry: Callable[[], None]) -> _Stop:
    def changed(_path: str, _data: ConfigData, /) -> None:
        hurry()

    provider.subscribe(path, (), changed)
    return partial(provider.unsubscribe, path, (), changed)


def _subscribing(provider: ConfigProvider, path: str) -> tuple[ConfigProvider, str] | None:
    """Return who tells of changes by itself, if anybody in the caches does, and its own path."""
    while type(provider).subscribe is ConfigProvider.subscribe:
        if not isinstance(provider, CachingConfigProvider):
            return None
        provider = provider.wrapped
        with suppress(ConfigException):  # What only looks like a TTL is for the provider.
            path, _ = split_ttl(path)
    return provider, path


def _files_of(watched: WatchedLocation) -> Collection[str]:
    try:
        files = watched.source.provider.files(watched.location.path)
        named: list[object] = [files] if isinstance(files, str) else list(files)
    except Exception:  # noqa: BLE001  The border around a plugin; it is polled.
        return ()
    return [each for each in named if isinstance(each, str) and each and "\0" not in each]


def _tried(source: Source, call: Callable[[], _T]) -> _T | None:
    """Return what *call* of a plugin does; polling goes on without it if it fails."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        reason = str(error) if isinstance(error, ConfigException) else type(error).__name__
        _log.warning("%s cannot be listened to, so it is polled alone: %s", source.name, reason)
    return None


def _close(ears: Iterable[_Ear]) -> None:
    for each in ears:
        each.close()


def _close_soon(groups: Iterable[Iterable[_Ear]]) -> None:
    """Close *groups* at the same time, each in a thread; leave those that take too long to it."""
    end = time.monotonic() + _CLOSING_SECONDS
    threads = []
    for ears in groups:
        thread = threading.Thread(target=_close, args=(ears,), name="watcher-close", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # There is no thread to be had.
            _close(ears)
        else:
            threads.append(thread)
    for each in threads:
        each.join(max(0.0, end - time.monotonic()))
