"""What is due when: a heap in which a date may be moved."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")


class Agenda(Generic[T]):
    """Things, each with the time when it is due.

    One that is moved leaves its old date in the heap, where it is passed over.
    """

    def __init__(self) -> None:
        """Start with nothing due."""
        self._dates: dict[T, float] = {}
        self._heap: list[tuple[float, int, T]] = []
        self._numbers = count()  # What is due at the same time comes in the order of its coming.

    def __len__(self) -> int:
        return len(self._dates)

    def put(self, thing: T, date: float) -> None:
        """Have *thing* due at *date*, and at no other time."""
        if self._dates.get(thing) == date:
            return
        self._dates[thing] = date
        heapq.heappush(self._heap, (date, next(self._numbers), thing))
        if len(self._heap) > 2 * len(self._dates) + 64:
            self._tidy()

    def date(self, thing: T) -> float | None:
        """Return when *thing* is due."""
        return self._dates.get(thing)

    def drop(self, thing: T) -> None:
        """Have *thing* due no more."""
        self._dates.pop(thing, None)

    def next(self) -> float | None:
        """Return when the next thing is due."""
        while self._heap and self._dates.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: float) -> Iterator[T]:
        """Take out what is due, the longest due first."""
        while (date := self.next()) is not None and date <= now:
            _, _, thing = heapq.heappop(self._heap)
            del self._dates[thing]
            yield thing

    def _tidy(self) -> None:
        self._heap = [each for each in self._heap if self._dates.get(each[2]) == each[0]]
        heapq.heapify(self._heap)
