"""What a cache remembers: entries, refusals, and what is being fetched right now.

Every change is made under one lock, which nobody holds while a backend is asked; reading takes
none. What is forgotten while it is being fetched is not remembered when it comes.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from .cache_entry import Ask, Entry, Keys, Refusal, Terms, concerns, is_refusal
from .data import Answer
from .errors import ConfigException
from .single_flight import Flight, again, renew_in_children

T = TypeVar("T")
Outcome = Entry | ConfigException

RETRY_SECONDS = 1.0
"""How long a backend that fails is left alone while there is a value to serve."""


@dataclass(eq=False, slots=True)
class Fetch:
    """A call under way for one location, by who claimed it for *asks*; it may be made *anew*."""

    known: Entry | None
    anew: bool = False
    asks: list[Ask] = field(default_factory=list)
    flight: Flight[Entry | ConfigException | None] = field(default_factory=Flight)

    def wanted(self) -> Keys:
        """Return the keys that it is made for."""
        return _union(ask.keys for ask in self.asks)

    def keys(self) -> Keys:
        """Return the keys that it asks for: also the known ones, so that all are of one version."""
        if self.known is None:
            return self.wanted()
        found = None if self.known.asked is None else self.known.data.data.keys()
        return _union((self.wanted(), found))

    def answers(self, error: ConfigException, ask: Ask) -> bool:
        """Whether *error*, which came of it, is an answer to *ask* too.

        What is known is given up for a refusal that came anew, so it has to be of what is wanted:
        if it may be of a key that is known and no more, it answers nobody.
        """
        asked = self.keys() if self.anew and is_refusal(error) else self.wanted()
        claimed = any(ask is each for each in self.asks)
        return concerns(error, asked, ask._replace(keys=self.wanted()) if claimed else ask)


def _union(each: Iterable[Collection[str] | None]) -> Keys:
    union: set[str] = set()
    for keys in each:
        if keys is None:
            return None
        union.update(keys)
    return frozenset(union)


class Memory:
    """What is known by location, and who fetches what. Thread-safe."""

    def __init__(self, terms: Terms) -> None:
        """Keep answers as long as *terms* say."""
        self._terms = terms
        self._lock = threading.Lock()
        self._entries: _Expiring[Entry] = _Expiring()
        self._refusals: _Expiring[Refusal] = _Expiring()
        self._under_way: dict[str, Fetch] = {}
        renew_in_children(self)

    def __len__(self) -> int:
        return len(self._entries) + len(self._refusals)

    def find(self, ask: Ask, now: float) -> Answer | None:
        """Return the answer to *ask*; nothing if who asks has to fetch it, or to wait."""
        entry = self._entries.get(ask.location)
        if entry is not None:
            answer, due = entry.serve(ask, now, self._terms)
            if answer is not None and (not due or ask.location in self._under_way):
                return answer
        refusal = self._refusals.get(ask.location)
        if refusal is not None and now < refusal.until and refusal.answers(ask):
            return again(refusal.error)
        return None

    def claim(
        self, asks: Iterable[Ask], now: float
    ) -> tuple[dict[str, Answer], dict[str, Fetch], list[tuple[Ask, Fetch]]]:
        """Return answers to *asks*, what the caller has to fetch, and which ask waits for what.

        What another caller fetches is waited for and not fetched. Who asks anew waits for who
        does so too, and passes all others: what is under way to them will not be remembered.
        """
        answers: dict[str, Answer] = {}
        mine: dict[str, Fetch] = {}
        waiting = []
        with self._lock:
            for ask in asks:
                if ask.location not in mine:
                    answer = None if ask.anew else self.find(ask, now)
                    if answer is not None:
                        answers[ask.path] = answer
                        continue
                    ahead = self._under_way.get(ask.location)
                    if ahead is None or (ask.anew and not ahead.anew):
                        fetch = Fetch(self._entries.get(ask.location), ask.anew)
                        mine[ask.location] = self._under_way[ask.location] = fetch
                fetch = self._under_way[ask.location]
                if ask.location in mine:
                    fetch.asks.append(ask)
                waiting.append((ask, fetch))
        return answers, mine, waiting

    def let_land(self, locations: Iterable[str]) -> None:
        """Wait for what is under way to *locations*."""
        with self._lock:
            ahead = [self._under_way.get(location) for location in locations]
        for fetch in ahead:
            if fetch is not None:
                fetch.flight.wait()

    def land(
        self, mine: Mapping[str, Fetch], outcomes: Mapping[str, Outcome], now: float
    ) -> dict[str, Outcome]:
        """Take the outcomes of *mine* and hand them to who waits; one without any is asked again.

        Returns those with which the backend began to fail, or ended to.
        """
        changes = {}
        with self._lock:
            for location, fetch in mine.items():
                if self._under_way.get(location) is not fetch:
                    continue
                del self._under_way[location]
                outcome = outcomes.get(location)
                if outcome and self._remember(location, fetch, outcome, now):
                    changes[location] = outcome
            self._entries.drop_ended(now)
            self._refusals.drop_ended(now)
        for location, fetch in mine.items():
            fetch.flight.land(outcomes.get(location))
        return changes

    def forget(self, locations: Collection[str] | None = None) -> None:
        """Forget *locations*, or all; what is under way to them will not be remembered."""
        with self._lock:
            if locations is None:
                self._entries.clear()
                self._refusals.clear()
                self._under_way.clear()
            for location in locations or ():
                self._entries.pop(location)
                self._refusals.pop(location)
                self._under_way.pop(location, None)

    def renew(self) -> None:
        """Have nothing under way in a forked child; a change that was half made leaves nothing."""
        half_made, self._lock = self._lock.locked(), threading.Lock()
        flights = [fetch.flight for fetch in self._under_way.values()]
        self._under_way = {}
        if half_made:
            self.forget()
        for flight in flights:
            flight.renew()

    def meaning(self, outcome: Outcome | None, ask: Ask, fetch: Fetch, now: float) -> Answer | None:
        """Return what *outcome* of *fetch* means for *ask*; nothing if it was no answer to it."""
        if outcome is None:
            return None
        if isinstance(outcome, Entry):
            return outcome.answer(ask, now, self._terms)
        if not fetch.answers(outcome, ask):
            return None
        entry = self._entries.get(ask.location)
        kept = None if entry is None else entry.despite(outcome, ask, now, self._terms)
        return kept or again(outcome)

    def _remember(self, location: str, fetch: Fetch, outcome: Outcome, now: float) -> bool:
        """Take *outcome*; return whether the backend began to fail with it, or ended to."""
        known = self._entries.get(location)
        was_failing = known is not None and known.failure is not None
        if isinstance(outcome, Entry):
            if not outcome.data.stale:  # Else it is no newer than what is known.
                end, kept_until = outcome.fetched, self._entries.end(location)
                end += outcome.kept_for(fetch.asks, self._terms)
                if known and fetch.anew and kept_until > now:  # For whom that was kept, this is.
                    kept_until += outcome.fetched - known.fetched
                self._entries.put(location, outcome, max(end, kept_until))
                self._permit(location, fetch)
            return was_failing
        if is_refusal(outcome):
            self._refuse(location, fetch, outcome, now)
            return False
        if known is None or self._entries.end(location) <= now:
            return False
        failing = replace(known, failure=again(outcome), retry=now + RETRY_SECONDS)
        self._entries.put(location, failing, self._entries.end(location))
        return not was_failing

    def _permit(self, location: str, fetch: Fetch) -> None:
        refusal = self._refusals.get(location)
        if refusal is not None and refusal.answers(Ask(location, location, None, fetch.keys())):
            self._refusals.pop(location)

    def _refuse(self, location: str, fetch: Fetch, error: ConfigException, now: float) -> None:
        wanted, until = fetch.wanted(), now + self._terms.negative_ttl
        # Of more keys than were wanted, it may be one that was not wanted before.
        certain = concerns(error, fetch.keys(), Ask(location, location, None, wanted))
        if certain or not fetch.anew:
            self._refusals.put(location, Refusal(again(error), wanted, until), until)
        if certain or fetch.anew:
            self._entries.pop(location)


class _Expiring(Generic[T]):
    """Values by location, each with the time of its end. Written under a lock, read without."""

    def __init__(self) -> None:
        self._values: dict[str, T] = {}
        self._ends: dict[str, float] = {}
        self._order: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._values)

    def get(self, location: str) -> T | None:
        return self._values.get(location)

    def end(self, location: str) -> float:
        return self._ends.get(location, -math.inf)

    def put(self, location: str, value: T, end: float) -> None:
        self._values[location] = value
        if self._ends.get(location) != end:
            self._ends[location] = end
            heapq.heappush(self._order, (end, location))

    def pop(self, location: str) -> None:
        self._values.pop(location, None)
        self._ends.pop(location, None)

    def clear(self) -> None:
        for each in (self._values, self._ends, self._order):
            each.clear()

    def drop_ended(self, now: float) -> None:
        while self._order and self._order[0][0] <= now:
            _, location = heapq.heappop(self._order)
            if self._ends.get(location, now + 1) <= now:
                self.pop(location)
