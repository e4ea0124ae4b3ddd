"""Hears of changes before a poll would see them: from files, backends, and providers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from ..data import ConfigChangeCallback, ConfigData
from ..errors import ConfigException
from ..provider import ConfigProvider
from .file_events import FileEvents
from .location import Source, WatchedLocation
from .state import WatchState

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Hearing:
    """Hurries the state when something may have changed. Thread-safe."""

    def __init__(self, state: WatchState) -> None:
        """Listen to nothing yet."""
        self._state = state
        self._files: FileEvents[WatchedLocation] = FileEvents(state.hurry)
        self._lock = threading.Lock()
        self._stops: dict[str, Callable[[], None]] = {}
        self._callbacks: dict[WatchedLocation, ConfigChangeCallback] = {}

    def begin(self, watched: Iterable[WatchedLocation]) -> None:
        """Hear what happens at *watched*, which nobody watched before."""
        for each in watched:
            self._listen(each.source)
            if _subscribes_itself(each.source.provider):
                self._subscribe(each)

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
            callback = self._callbacks.pop(each, None)
            if callback is not None:
                with suppress(Exception):  # The border around a plugin, which is let go.
                    each.source.provider.unsubscribe(each.location.path, (), callback)
            if not each.source.locations:
                self._stop(each.source.name)

    def close(self) -> None:
        """Hear nothing any more."""
        self._files.close()
        self.end(list(self._callbacks))
        for name in list(self._stops):
            self._stop(name)

    def _listen(self, source: Source) -> None:
        with self._lock:
            if source.name in self._stops:
                return
            self._stops[source.name] = _nothing
            stop = _tried(source, lambda: source.provider.listen(partial(self._heard, source)))
            if stop is not None:
                self._stops[source.name] = stop

    def _heard(self, source: Source, concerns: Callable[[str], bool]) -> None:
        watched = self._state.of_source(source.name)
        self._state.hurry([each for each in watched if concerns(each.location.path)])

    def _subscribe(self, watched: WatchedLocation) -> None:
        def heard(_path: str, _data: ConfigData, /) -> None:
            self._state.hurry([watched])

        self._callbacks[watched] = heard
        provider, path = watched.source.provider, watched.location.path
        _tried(watched.source, lambda: provider.subscribe(path, (), heard))

    def _stop(self, name: str) -> None:
        with self._lock:
            stop = self._stops.pop(name, _nothing)
        with suppress(Exception):  # The border around a plugin, which is let go.
            stop()


def _subscribes_itself(provider: ConfigProvider) -> bool:
    return type(provider).subscribe is not ConfigProvider.subscribe


def _files_of(watched: WatchedLocation) -> Collection[str]:
    try:
        return watched.source.provider.files(watched.location.path)
    except Exception:  # noqa: BLE001  The border around a plugin; it is polled.
        return ()


def _tried(source: Source, call: Callable[[], _T]) -> _T | None:
    """Return what *call* of a plugin does; polling goes on without it if it fails."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        reason = str(error) if isinstance(error, ConfigException) else type(error).__name__
        _log.warning("%s cannot be listened to, so it is polled alone: %s", source.name, reason)
    return None


def _nothing() -> None:
    pass
