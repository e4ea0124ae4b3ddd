"""Watches what configs refer to, and calls back when it changes: :class:`Watcher`."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import Self

from ..data import Answer, ConfigChangeCallback
from ..errors import ConfigException, there_is
from ..lookups import LOOKUP_CONCURRENCY
from ..plan import Location, LookupPlan
from ..provider import ConfigProvider
from ..single_flight import renew_in_children
from .callbacks import Callbacks, report
from .change import ConfigChange, LocationChange, LocationHealth
from .hearing import Hearing
from .location import Source
from .looks import Looks
from .state import WatchState
from .subscription import Subscription, Tell
from .timing import Rate, Timing

_Key = tuple[Location, frozenset[str]]
_CLOSING_SECONDS = 0.8
_RECOVERY_SECONDS = 1.0


class Watcher:
    """Tells of changes at locations of named providers, for as long as it is open.

    A change is one of content: a TTL that ends, a lease that is renewed, a new version of the same
    values are none. What changed within *settle* is told together, at most *settle_max* after the
    first of it; what changed and went back meanwhile is not told. Callbacks of one subscription
    come one at a time and in order. One that raises, or takes longer than *slow_callback*, is
    logged and stops no other. A location that cannot be read keeps what it was, is logged once, and
    is tried again with growing pauses; a path that is not there any more is a change.

    File events and what a provider hears from its backend make it look at once; every location
    is also asked for each *poll_interval* (or what the provider's ``poll.interval.ms`` says) and
    when its TTL ends. A provider gets no more than *calls_per_second*, but for the first look of
    each subscription.

    Thread-safe. Threads: ``watcher`` decides, ``watcher-files`` and, for providers that wait,
    ``watcher-lookup`` ask, ``watcher-callback`` calls back. It does not close the providers. In a
    forked child it watches nothing.
    """

    def __init__(  # noqa: PLR0913  Each is a setting, or a part that tests replace.
        self,
        providers: Mapping[str, ConfigProvider],
        *,
        poll_interval: timedelta = timedelta(minutes=1),
        settle: timedelta = timedelta(milliseconds=100),
        settle_max: timedelta = timedelta(seconds=1),
        calls_per_second: float = 20.0,
        slow_callback: timedelta = timedelta(seconds=30),
        concurrency: int = LOOKUP_CONCURRENCY,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the providers by the names that references use; raise :class:`ConfigException`."""
        positive = {
            "poll_interval": poll_interval.total_seconds(),
            "calls_per_second": calls_per_second,
            "concurrency": concurrency,
        }
        for name, value in positive.items():
            if not 0 < value < math.inf:
                raise ConfigException(f"{name} is {value}: it must be above 0")
        for name, time_given in {"settle": settle, "slow_callback": slow_callback}.items():
            if time_given < timedelta(0):
                raise ConfigException(f"{name} is {time_given}: it must not be below 0")
        self._providers = dict(providers)
        self._timing = Timing(
            poll_interval.total_seconds(),
            settle.total_seconds(),
            max(settle, settle_max).total_seconds(),
            calls_per_second,
            jitter,
        )
        self._clock = clock
        self._slow_callback = slow_callback.total_seconds()
        self._concurrency = concurrency
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Watch nothing, as at first: in a forked child the threads are not there."""
        self._lock = threading.Lock()
        self._state = WatchState(self._timing, self._clock)
        self._callbacks = Callbacks(self._slow_callback)
        self._looks = Looks(self._state, self._concurrency)
        self._hearing = Hearing(self._state)
        self._sources: dict[str, Source] = {}
        self._added: set[str] = set()
        self._subscriptions: dict[_Key, list[tuple[ConfigChangeCallback, Subscription]]] = {}
        self._thread: threading.Thread | None = None

    def watch(
        self,
        plan: LookupPlan,
        callback: Callable[[ConfigChange], None],
        *,
        since: Mapping[Location, Answer] | None = None,
    ) -> Subscription:
        """Call *callback* when a value that *plan* refers to changes; return what ends that.

        All locations are asked for before this returns: what changes from then on is told. With
        *since*, the answers that a config was made of (:attr:`ConfigTransformerResult.answers`),
        it is what changed since these. Raises :class:`ConfigException` for a provider that is not
        there, and if the watcher is closed.
        """
        wants = {location: frozenset(keys) for location, keys in plan.lookups.items()}

        def tell(changes: Mapping[Location, LocationChange]) -> None:
            callback(ConfigChange.of(plan, changes))

        return self._begin(wants, tell, since or {})

    def subscribe(
        self, location: Location, keys: Collection[str], callback: ConfigChangeCallback
    ) -> None:
        """Call *callback* with path and data when a value of *keys* changes (KIP-297).

        No keys means all there are. Data without any value says that they are gone. Raises as
        :meth:`watch`.
        """
        subscription = self.follow(location, keys, callback)
        with self._lock:
            entries = self._subscriptions.setdefault((location, frozenset(keys)), [])
            entries.append((callback, subscription))

    def follow(
        self, location: Location, keys: Collection[str], callback: ConfigChangeCallback
    ) -> Subscription:
        """Call back as :meth:`subscribe`; return what ends that."""
        if isinstance(keys, str):
            raise ConfigException(f"keys are a collection of names, not one text: [{keys!r}]")

        def tell(changes: Mapping[Location, LocationChange]) -> None:
            for change in changes.values():
                callback(location.path, change.data)

        return self._begin({location: frozenset(keys)}, tell, {})

    def unsubscribe(
        self, location: Location, keys: Collection[str], callback: ConfigChangeCallback
    ) -> None:
        """Undo a :meth:`subscribe` with the same arguments; nothing happens if there was none."""
        key = location, frozenset(keys)
        with self._lock:
            entries = self._subscriptions.get(key, [])
            found = next((each for each in entries if each[0] == callback), None)
            if found is None:
                return
            entries.remove(found)
            if not entries:
                del self._subscriptions[key]
        found[1].cancel()

    def add(self, name: str, provider: ConfigProvider) -> None:
        """Have *provider*, whose own ``subscribe`` comes here, among those that can be watched."""
        with self._lock:
            self._providers[name] = provider
            self._added.add(name)

    def remove(self, name: str) -> None:
        """Have the provider *name*, of which nothing is watched any more, among them no longer."""
        with self._lock:
            self._providers.pop(name, None)
            self._sources.pop(name, None)
            self._added.discard(name)

    def invalidate(self, location: Location | None = None) -> None:
        """Look at *location*, or at all, now; what is unchanged there is not told.

        A *location* is for who was refused with a value: its provider forgets what it keeps of it,
        so that a leased credential is issued anew. Without one, nothing is forgotten.
        """
        provider = None if location is None else self._providers.get(location.provider)
        if location is not None and provider is not None:
            provider.invalidate(location.path)
        self._state.hurry(self._state.find(location), settle=False)

    def health(self) -> dict[Location, LocationHealth]:
        """Say how it is with each location that is watched."""
        return self._state.health()

    def close(self) -> None:
        """Tell nobody any more, and end all threads.

        A callback or a lookup that is under way is waited for, but not for longer than a second.
        """
        end = time.monotonic() + _CLOSING_SECONDS
        self._state.close()
        self._hearing.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSING_SECONDS)
        self._looks.close(end - time.monotonic())
        self._callbacks.close(max(0.1, end - time.monotonic()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(
        self, wants: Mapping[Location, frozenset[str]], tell: Tell, since: Mapping[Location, Answer]
    ) -> Subscription:
        sources = {location.provider: self._source(location.provider) for location in wants}
        self._start()
        subscription = Subscription(_name(wants), tell, self._end)
        try:
            self._hearing.begin(self._state.add(subscription, wants, sources, since))
            for looks in self._state.first_looks(subscription):
                self._looks.make(looks, self._hearing.arm)
        except BaseException:
            self._end(subscription)
            raise
        return subscription

    def _end(self, subscription: Subscription) -> None:
        self._hearing.end(self._state.remove(subscription))

    def _source(self, name: str) -> Source:
        with self._lock:
            if name not in self._sources:
                provider = self._providers.get(name)
                if provider is None:
                    known = there_is(name, self._providers)
                    raise ConfigException(f"no config provider named {name!r} is watched; {known}")
                own, usual = provider.poll_interval, self._timing.poll_interval
                interval = own.total_seconds() if own else usual
                if interval <= 0:
                    raise ConfigException(
                        f"the poll interval of {name!r} is {own}: it must be above 0"
                    )
                same = (each.rate for each in self._sources.values() if each.provider is provider)
                rate = next(same, None) or Rate(self._timing.calls_per_second)
                added = name in self._added
                self._sources[name] = Source(name, provider, interval, rate, ends_here=added)
            return self._sources[name]

    def _start(self) -> None:
        with self._lock:
            if self._state.is_closed:
                raise ConfigException("the watcher is closed")
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="watcher", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        while not self._state.is_closed:
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001  The top of a thread, which must go on.
                report("the watcher", error)
                time.sleep(_RECOVERY_SECONDS)

    def _turn(self) -> None:
        step = self._state.step()
        self._looks.submit(step.looks, self._hearing.arm)
        for each in step.ready:
            self._callbacks.submit(each.name, partial(self._tell, each))
        waits = (self._callbacks.relieve(), self._looks.watch_over())
        self._state.wait(min((each for each in waits if each is not None), default=None))

    def _tell(self, subscription: Subscription) -> None:
        try:
            changes = self._state.take(subscription)
            if changes:
                subscription.tell(changes)
        finally:
            self._state.told(subscription)


def _name(locations: Collection[Location]) -> str:
    first = next((f"{each.provider}:{each.path}" for each in locations), "nothing")
    return f"{first} and {len(locations) - 1} more" if len(locations) > 1 else first
