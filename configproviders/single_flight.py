"""Several threads that want the same thing at the same time: one of them fetches it for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Flight(Generic[T]):
    """One call under way: who makes it lands it, with a result or an error; all others wait."""

    def __init__(self) -> None:
        """Take off."""
        self._landed = threading.Event()
        self._result: T | None = None
        self._error: BaseException | None = None

    def land(self, result: T) -> None:
        """Hand *result* to those who wait."""
        self._result = result
        self._landed.set()

    def fail(self, error: BaseException) -> None:
        """Raise *error* where somebody waits."""
        self._error = error
        self._landed.set()

    def wait(self) -> T:
        """Return the result, or raise the error, as soon as there is one."""
        self._landed.wait()
        if self._error is not None:
            raise self._error
        return cast("T", self._result)


class SingleFlight(Generic[T]):
    """Calls under way, by key. No lock is held during a call."""

    def __init__(self) -> None:
        """Start with nothing under way."""
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Flight[T]] = {}

    def do(self, key: Hashable, call: Callable[[], T]) -> T:
        """Return what *call* returns, or raise what it raises, here or in the thread that is ahead.

        Who comes when the call is done starts a new one.
        """
        with self._lock:
            flight = self._flights.get(key)
            if ahead := flight is None:
                flight = self._flights[key] = Flight()
        if not ahead:
            return flight.wait()
        try:
            result = call()
        except BaseException as error:
            self._end(key)
            flight.fail(error)
            raise
        self._end(key)
        flight.land(result)
        return result

    def _end(self, key: Hashable) -> None:
        with self._lock:
            del self._flights[key]
