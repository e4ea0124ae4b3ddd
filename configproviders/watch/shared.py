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
from .subscription import Subscription
from .watcher import Watcher


class _Entry:
    """One subscription of a provider, which may not have begun yet."""

    def __init__(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        self.wanted = path, frozenset(keys), callback
        self.subscription: Subscription | None = None
        self.ended = False


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
        entry = _Entry(path, keys, callback)
        with self._lock:
            watcher = self._watcher = self._watcher or Watcher({})
            subscribed = self._providers.get(id(provider))
            if subscribed is None:
                name = f"{type(provider).__name__}-{next(self._numbers)}"
                subscribed = self._providers[id(provider)] = _Subscribed(name, provider)
                watcher.add(name, provider)
            subscribed.entries.append(entry)
        try:
            begun = watcher.follow(Location(subscribed.name, path), keys, callback)
        except BaseException:
            self._end(provider, [entry])
            raise
        with self._lock:
            entry.subscription = begun
        if entry.ended:  # While it began.
            begun.cancel()

    def unsubscribe(
        self,
        provider: ConfigProvider,
        path: str,
        keys: Collection[str],
        callback: ConfigChangeCallback,
    ) -> None:
        """Unsubscribe as :meth:`ConfigProvider.unsubscribe`."""
        wanted = path, frozenset(keys), callback
        found = [entry for entry in self._entries(provider) if entry.wanted == wanted]
        self._end(provider, found[:1])

    def unsubscribe_all(self, provider: ConfigProvider) -> None:
        """Unsubscribe as :meth:`ConfigProvider.unsubscribe_all`."""
        self._end(provider, self._entries(provider))

    def _entries(self, provider: ConfigProvider) -> list[_Entry]:
        with self._lock:
            subscribed = self._providers.get(id(provider))
            return list(subscribed.entries) if subscribed else []

    def _end(self, provider: ConfigProvider, entries: Collection[_Entry]) -> None:
        """End *entries*, and the watcher with the last of all; plugins are called without lock."""
        gone: Watcher | None = None
        with self._lock:
            watcher, subscribed = self._watcher, self._providers.get(id(provider))
            if watcher is None or subscribed is None:
                return
            for entry in entries:
                entry.ended = True
            subscribed.entries = [each for each in subscribed.entries if not each.ended]
            if not subscribed.entries:
                del self._providers[id(provider)]
            if not self._providers:
                gone, self._watcher = self._watcher, None
        for entry in entries:
            if entry.subscription is not None:
                entry.subscription.cancel()
        if not subscribed.entries:
            watcher.remove(subscribed.name)
        if gone is not None:
            gone.close()


shared = Shared()
"""The one of this process."""
