"""The one watcher of the process that :meth:`ConfigProvider.subscribe` ends in.

It is there for as long as anybody is subscribed.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from itertools import count

from ..data import ConfigChangeCallback
from ..plan import Location
from ..provider import ConfigProvider
from ..single_flight import renew_in_children
from .watcher import Watcher

_Entry = tuple[Location, frozenset[str], ConfigChangeCallback]


class _Subscribed:
    """A provider under a name of ours, and what it is subscribed to."""

    def __init__(self, name: str, provider: ConfigProvider) -> None:
        self.name = name
        self.provider = provider  # Kept, so that its id is nobody else's.
        self.entries: list[_Entry] = []


class Shared:
    """Subscribes for providers, which are told apart by identity. Thread-safe."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Watch nothing, as at first: in a forked child the threads are not there."""
        self._lock = threading.Lock()
        self._watcher: Watcher | None = None
        self._numbers = count(1)
        self._providers: dict[int, _Subscribed] = {}

    def subscribe(
        self,
        provider: ConfigProvider,
        path: str,
        keys: Collection[str],
        callback: ConfigChangeCallback,
    ) -> None:
        """Subscribe as :meth:`ConfigProvider.subscribe`."""
        with self._lock:
            watcher = self._watcher = self._watcher or Watcher({})
            subscribed = self._providers.get(id(provider))
            if subscribed is None:
                name = f"{type(provider).__name__}-{next(self._numbers)}"
                subscribed = self._providers[id(provider)] = _Subscribed(name, provider)
                watcher.add(name, provider)
            entry = Location(subscribed.name, path), frozenset(keys), callback
            subscribed.entries.append(entry)
        try:
            watcher.subscribe(*entry)
        except BaseException:
            self._end(provider, [entry])
            raise

    def unsubscribe(
        self,
        provider: ConfigProvider,
        path: str,
        keys: Collection[str],
        callback: ConfigChangeCallback,
    ) -> None:
        """Unsubscribe as :meth:`ConfigProvider.unsubscribe`."""
        wanted = path, frozenset(keys), callback
        with self._lock:
            subscribed = self._providers.get(id(provider))
            entries = subscribed.entries if subscribed else []
            found = [each for each in entries if (each[0].path, *each[1:]) == wanted]
        self._end(provider, found[:1])

    def unsubscribe_all(self, provider: ConfigProvider) -> None:
        """Unsubscribe as :meth:`ConfigProvider.unsubscribe_all`."""
        with self._lock:
            subscribed = self._providers.get(id(provider))
            entries = list(subscribed.entries) if subscribed else []
        self._end(provider, entries)

    def _end(self, provider: ConfigProvider, entries: Collection[_Entry]) -> None:
        """End *entries*, and the watcher with the last of all."""
        with self._lock:
            watcher, subscribed = self._watcher, self._providers.get(id(provider))
            if watcher is None or subscribed is None:
                return
            for entry in entries:
                if entry in subscribed.entries:
                    subscribed.entries.remove(entry)
                    watcher.unsubscribe(*entry)
            if not subscribed.entries:
                del self._providers[id(provider)]
                watcher.remove(subscribed.name)
            if not self._providers:
                self._watcher = None
        if self._watcher is None:
            watcher.close()


shared = Shared()
"""The one of this process."""
