"""A provider around a provider, which remembers what it answered.

A hit takes no lock. A miss claims its locations, asks, and lands the answers; who wants the same
meanwhile waits for them. What is fetched early is fetched by the caller who comes first: there is
no thread.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from .cache_entry import Ask, Entry, Terms, split_ttl, with_ttl
from .cache_memory import Fetch, Memory, Outcome
from .cache_settings import CACHE_DEF, DEFAULT_TTL, MAX_STALE, NEGATIVE_TTL
from .config_def import ConfigDef
from .data import Answer, ConfigData, checked
from .errors import ConfigException, plugin_failure
from .provider import Changed, ConfigProvider

Lookups = Mapping[str, Collection[str] | None]
_Call = Callable[[Lookups], Mapping[str, Answer]]

_EARLY = 0.8  # The part of the TTL that no refresh disturbs.


def with_cache(provider: ConfigProvider, settings: Mapping[str, object]) -> ConfigProvider:
    """Configure *provider*, and return it with the cache around it that *settings* ask for.

    That is one if ``secret.default.ttl.ms`` or ``max.stale.ms`` is above 0. A setting that the
    provider has itself is left to it. Raises :class:`ConfigException` for a wrong setting.
    """
    own = _names(provider.config_def)
    of_cache = {name: settings[name] for name in settings if name in _names(CACHE_DEF) - own}
    default_ttl, max_stale = DEFAULT_TTL.read(of_cache), MAX_STALE.read(of_cache)
    negative_ttl = NEGATIVE_TTL.read(of_cache)
    provider.configure({name: settings[name] for name in settings if name not in of_cache})
    if not (default_ttl or max_stale):
        return provider
    return CachingConfigProvider(
        provider, default_ttl=default_ttl, max_stale=max_stale, negative_ttl=negative_ttl
    )


def _names(config_def: ConfigDef) -> set[str]:
    names = {key.name for key in config_def}
    return names | {alias.name for key in config_def for alias in key.aliases}


class CachingConfigProvider(ConfigProvider):
    """Answers from memory what another provider answered before, for as long as that is good.

    * The TTL of a location is the smaller of its option ``?ttl=<ms>`` and the
      :attr:`ConfigData.ttl` that the provider gave, or else *default_ttl*. With none, or 0, values
      are not kept. The answer's own ``ttl`` is what is left of it.
    * Any number of threads that want one location at the same time cause one call, with or without
      a TTL. Who asks for more keys than are known fetches the known ones anew with them: the keys
      of an answer are always of one version.
    * From a random point in the last fifth of the TTL on, one caller asks anew, while others are
      served. If that fails, so is it.
    * A missing or refused path or key is remembered for *negative_ttl*.
    * If the backend cannot be reached (:class:`ProviderUnavailable`), a value is served for
      *max_stale* after its TTL, marked as stale, and the backend is asked once a second.
    * A watcher looks past all this by :meth:`refresh`, and what it finds is there for all.

    Thread-safe. It closes the provider it is around. What it keeps is forgotten when its time is
    over, at the next call that is no hit.
    """

    CACHE_DEF = CACHE_DEF

    def __init__(  # noqa: PLR0913  Each is a setting or a part that tests replace.
        self,
        provider: ConfigProvider,
        *,
        default_ttl: timedelta | None = None,
        max_stale: timedelta = timedelta(0),
        negative_ttl: timedelta = NEGATIVE_TTL.default,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Remember what *provider* answers; *clock* gives seconds, *jitter* numbers from 0 to 1."""
        self._provider = provider
        terms = Terms(
            (default_ttl or timedelta(0)).total_seconds(),
            max_stale.total_seconds(),
            negative_ttl.total_seconds(),
        )
        self._memory = Memory(terms)
        self._clock = clock
        self._jitter = jitter

    @property
    def wrapped(self) -> ConfigProvider:
        """The provider that is asked."""
        return self._provider

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return what is remembered, or else what the provider says; raise what it raises."""
        ask = Ask.of(path, keys)
        answer = self._memory.find(ask, self._clock())
        if answer is None:
            answer = self._find([ask], self._get_one)[path]
        if isinstance(answer, ConfigException):
            raise answer
        return answer

    def get_many(self, lookups: Lookups) -> dict[str, Answer]:
        """Return what :meth:`get` returns or raises for each; the provider is asked once."""
        asks, answers = _split(lookups)
        missing = []
        now = self._clock()
        for ask in asks:
            known = self._memory.find(ask, now)
            if known is None:
                missing.append(ask)
            else:
                answers[ask.path] = known
        return answers | self._find(missing, self._provider.get_many)

    def refresh(self, lookups: Lookups) -> dict[str, Answer]:
        """Return what the provider says now; what is remembered is replaced by it.

        A call that is under way may have missed what the caller heard of: it is waited for, and
        another one made. If that fails, the answer is what :meth:`get` would serve, marked as
        stale even within its TTL, or else the error.
        """
        asks, answers = _split(lookups, anew=True)
        self._memory.let_land({ask.location for ask in asks})
        return answers | self._find(asks, self._provider.refresh)

    def batches(self, paths: Collection[str]) -> list[Collection[str]]:
        """Return what is known in one group, and all else as the provider groups it."""
        now = self._clock()
        known = {
            path: None
            for path in paths
            if self._memory.find(Ask(path, *_lenient_split(path), ()), now)
        }
        others = [path for path in paths if path not in known]
        groups = self._grouped(others, self._provider.batches)
        return [list(known), *groups] if known else groups

    def refresh_batches(self, paths: Collection[str]) -> list[Collection[str]]:
        """Return *paths* as the provider groups them for its own :meth:`refresh`."""
        return self._grouped(paths, self._provider.refresh_batches)

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Return what the provider makes of it; the option ``ttl`` of either ends at the path."""
        (path, typed_at_path), (key, typed_at_key) = _lenient_split(path), _lenient_split(key)
        path, key = self._provider.locate(path, key)
        (path, at_path), (key, at_key) = split_ttl(path), split_ttl(key)
        return with_ttl(path, (typed_at_path, typed_at_key, at_path, at_key)), key

    def invalidate(self, path: str | None = None, *, key: str = "") -> None:
        """Forget what is known about *path*, or about all.

        Two spellings are one path if the provider's :meth:`locate` makes one of them; it goes by
        the settings alone. For who got an authentication error with a value: the next :meth:`get`
        asks the backend, and no older answer comes back. Where the provider needs the key to tell
        the location, as for an ARN, *key* is the one typed with *path*.
        """
        locations = None if path is None else {_lenient_split(path)[0]}
        if path is not None and locations is not None:
            with suppress(Exception):  # The border around a plugin; it may not be as typed.
                locations.add(split_ttl(self.locate(path, key)[0])[0])
        self._memory.forget(locations)
        self._provider.invalidate(path)

    def _grouped(
        self,
        paths: Collection[str],
        batches: Callable[[Collection[str]], Iterable[Collection[str]]],
    ) -> list[Collection[str]]:
        """Return *paths* as the provider has *batches* of what they are without TTLs."""
        spellings: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            spellings[_lenient_split(path)[0]].append(path)
        groups = batches(spellings.keys()) if spellings else ()
        return [[path for location in group for path in spellings[location]] for group in groups]

    def _find(self, asks: list[Ask], call: _Call) -> dict[str, Answer]:
        """Answer each of *asks* from memory, by *call*, or by waiting for who is ahead."""
        answers: dict[str, Answer] = {}
        while asks:
            known, mine, waiting = self._memory.claim(asks, self._clock())
            answers.update(known)
            if mine:
                self._fetch(mine, call)
            asks = []
            for ask, fetch in waiting:
                outcome = fetch.flight.wait()
                answer = self._memory.meaning(outcome, ask, fetch, self._clock())
                if answer is None:
                    asks.append(ask)
                else:
                    answers[ask.path] = answer
        return answers

    def _fetch(self, mine: Mapping[str, Fetch], call: _Call) -> None:
        started = self._clock()
        outcomes: dict[str, Outcome] = {}
        try:
            answers = call({location: fetch.keys() for location, fetch in mine.items()})
            for location, fetch in mine.items():
                outcomes[location] = self._outcome(answers.get(location), fetch, started)
        except ConfigException as error:
            outcomes = dict.fromkeys(mine, error)
        except Exception as error:  # noqa: BLE001  The border around a plugin.
            outcomes = dict.fromkeys(mine, plugin_failure(self._provider, error))
        finally:  # An interrupt leaves no outcome; who waits asks again.
            changes = self._memory.land(mine, outcomes, self._clock())
        for location, outcome in changes.items():
            self._log(location, outcome)

    def _get_one(self, lookups: Lookups) -> dict[str, Answer]:
        return {path: self._provider.get(path, keys) for path, keys in lookups.items()}

    def _outcome(self, answer: object, fetch: Fetch, started: float) -> Outcome:
        answer = checked(answer)
        if isinstance(answer, ConfigException):
            return answer
        early = _EARLY + (1 - _EARLY) * self._jitter()
        return Entry(answer, fetch.keys(), started, early)

    def _log(self, location: str, outcome: Outcome) -> None:
        import logging

        log = logging.getLogger(__name__)
        name = type(self._provider).__name__
        if isinstance(outcome, Entry):
            log.info("%s answers again for %r", name, location)
        else:
            log.warning("%s fails for %r; its last answer is kept: %s", name, location, outcome)

    @property
    def config_def(self) -> ConfigDef:  # type: ignore[override]  # Not of the class but of what it is around.
        """The settings of the provider; those of the cache are :data:`CACHE_DEF`."""
        return self._provider.config_def

    @property
    def waits(self) -> bool:  # type: ignore[override]  # Not of the class but of what it is around.
        """As of the provider."""
        return self._provider.waits

    @property
    def calls_made(self) -> int:  # type: ignore[override]  # Not of the class but of what it is around.
        """As of the provider."""
        return self._provider.calls_made

    @property
    def values_outlive_it(self) -> bool:
        """As of the provider, and handed through to it."""
        return self._provider.values_outlive_it

    @values_outlive_it.setter
    def values_outlive_it(self, outlive: bool) -> None:
        self._provider.values_outlive_it = outlive

    @property
    def poll_interval(self) -> timedelta | None:
        """As of the provider, and handed through to it."""
        return self._provider.poll_interval

    @poll_interval.setter
    def poll_interval(self, interval: timedelta | None) -> None:
        self._provider.poll_interval = interval

    def configure(self, configs: Mapping[str, object]) -> None:
        """Configure the provider."""
        self._provider.configure(configs)

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return what the provider needs for *lookups*; a cache needs nothing."""
        keys: defaultdict[str, set[str]] = defaultdict(set)
        for path, wanted in lookups.items():
            keys[split_ttl(path)[0]].update(wanted)
        return self._provider.policy(keys, online=online)

    def files(self, path: str) -> Collection[str]:
        """As the provider, for *path* less its TTL."""
        return self._provider.files(_lenient_split(path)[0])

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        """As the provider, whose events concern a path whatever its TTL."""

        def less_ttl(concerns: Callable[[str], bool]) -> None:
            changed(lambda path: concerns(_lenient_split(path)[0]))

        return self._provider.listen(less_ttl)

    def close(self) -> None:
        """End all subscriptions, forget everything, and close the provider."""
        self.unsubscribe_all()
        self.invalidate()
        self._provider.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._provider!r})"


def _split(lookups: Lookups, *, anew: bool = False) -> tuple[list[Ask], dict[str, Answer]]:
    """Return the questions of *lookups*, and an error for each path that makes none."""
    asks = []
    errors: dict[str, Answer] = {}
    for path, keys in lookups.items():
        try:
            asks.append(Ask.of(path, keys, anew=anew))
        except ConfigException as error:
            errors[path] = error
    return asks, errors


def _lenient_split(text: str) -> tuple[str, timedelta | None]:
    """Split off a TTL; what only looks like one may be for the provider to take apart."""
    try:
        return split_ttl(text)
    except ConfigException:
        return text, None
