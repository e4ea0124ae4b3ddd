"""Several threads that want the same thing at the same time: one of them fetches it for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Calls under way, by key. No lock is held during a call."""

    def __init__(self) -> None:
        """Start with nothing under way."""
        self._lock = threading.Lock()
        self._flights: dict[Hashable, _Flight[T]] = {}

    def do(self, key: Hashable, call: Callable[[], T]) -> T:
        """Return what *call* returns, or raise what it raises, here or in the thread that is ahead.

        Who comes when the call is done starts a new one.
        """
        with self._lock:
            flight = self._flights.get(key)
            if ahead := flight is None:
                flight = self._flights[key] = _Flight()
        if not ahead:
            return flight.wait()
        try:
            flight.result = result = call()
        except BaseException as error:
            flight.error = error
            raise
        else:
            return result
        finally:
            with self._lock:
                del self._flights[key]
            flight.landed.set()


class _Flight(Generic[T]):
    def __init__(self) -> None:
        self.landed = threading.Event()
        self.result: T | None = None
        self.error: BaseException | None = None

    def wait(self) -> T:
        self.landed.wait()
        if self.error is not None:
            raise self.error
        return cast("T", self.result)
