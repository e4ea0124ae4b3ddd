"""Asks providers: which lookups make one call, which calls wait, and an answer for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from .data import Answer, checked
from .errors import ConfigException, plugin_failure
from .plan import Location
from .provider import ConfigProvider

LOOKUP_CONCURRENCY = 16
"""How many lookups wait for backends at the same time, if nothing else is said."""

Lookups = Mapping[str, Collection[str] | None]
Answers = dict[Location, Answer]
_Batches = Callable[[Collection[str]], Iterable[Collection[str]]]


class Call(NamedTuple):
    """What is asked of one provider at once: paths with their keys."""

    provider: ConfigProvider
    name: str
    lookups: Lookups

    def get(self) -> Answers:
        """Ask; return an answer or an error for each lookup, whatever the provider does."""
        return self._ask(lambda: self.provider.get_many(self.lookups))

    def refresh(self) -> Answers:
        """Ask the backend itself; as :meth:`get`."""
        return self._ask(lambda: self.provider.refresh(self.lookups))

    def _ask(self, ask: Callable[[], Mapping[str, Answer]]) -> Answers:
        try:
            answers = ask()
            return {Location(self.name, path): checked(answers.get(path)) for path in self.lookups}
        except ConfigException as error:
            failure = error
        except Exception as error:  # noqa: BLE001  The border around a plugin.
            failure = plugin_failure(self.provider, error)
        return {Location(self.name, path): failure for path in self.lookups}


def calls(provider: ConfigProvider, name: str, lookups: Lookups) -> list[Call]:
    """Return the calls that *lookups* come to, as *provider* batches them."""
    return _calls(provider, name, lookups, provider.batches)


def refresh_calls(provider: ConfigProvider, name: str, lookups: Lookups) -> list[Call]:
    """Return the calls that *lookups* come to, if they go to the backend itself."""
    return _calls(provider, name, lookups, provider.refresh_batches)


def ask_all(
    calls: Iterable[Call], concurrency: int, ask: Callable[[Call], Answers] = Call.get
) -> Answers:
    """Return the answers to *calls*; those that wait for a backend run in threads."""
    at_once: list[Call] = []
    waiting: list[Call] = []
    for call in calls:
        (waiting if call.provider.waits else at_once).append(call)
    answers: Answers = {}
    if len(waiting) > 1:
        answers.update(_together(waiting, concurrency, ask))
    else:
        at_once += waiting
    for call in at_once:
        answers.update(ask(call))
    return answers


def _together(
    calls: Sequence[Call], concurrency: int, ask: Callable[[Call], Answers]
) -> Iterable[tuple[Location, Answer]]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(concurrency, len(calls)), "lookup") as threads:
        for asked in threads.map(ask, calls):
            yield from asked.items()


def _calls(provider: ConfigProvider, name: str, lookups: Lookups, batches: _Batches) -> list[Call]:
    return [
        Call(provider, name, {path: lookups[path] for path in batch})
        for batch in _each_once(lookups, batches)
    ]


def _each_once(lookups: Lookups, batched: _Batches) -> Iterable[Collection[str]]:
    """Return the paths as they are *batched*, each of them once whatever the provider says."""
    try:
        batches = [dict.fromkeys(batch) for batch in batched(lookups.keys())]
    except Exception:  # noqa: BLE001  The border around a plugin; get_many may still work.
        batches = []
    if Counter(chain.from_iterable(batches)) != Counter(lookups.keys()):
        return [(path,) for path in lookups]
    return batches
