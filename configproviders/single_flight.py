"""Several threads that want the same thing at the same time: one of them fetches it for all.

A forked process has none of the threads of its parent: what they hold or fetch is given up there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Generic, NoReturn, Protocol, TypeVar, cast
from weakref import WeakSet

T = TypeVar("T")
E = TypeVar("E", bound=Exception)


class Flight(Generic[T]):
    """One call under way: who makes it lands it, with a result; all others wait."""

    def __init__(self) -> None:
        """Take off."""
        self._landed = threading.Event()
        self._result: T | None = None

    def land(self, result: T) -> None:
        """Hand *result* to those who wait."""
        self._result = result
        self._landed.set()

    def wait(self) -> T:
        """Return the result as soon as there is one."""
        self._landed.wait()
        return cast("T", self._result)

    def renew(self) -> None:
        """Forget in a forked child who waits."""
        self._landed = threading.Event()


class SingleFlight(Generic[T]):
    """Calls under way, by key. No lock is held during a call."""

    def __init__(self) -> None:
        """Start with nothing under way."""
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Flight[Callable[[], T] | None]] = {}
        renew_in_children(self)

    def do(self, key: Hashable, call: Callable[[], T]) -> T:
        """Return what *call* returns, or raise what it raises, here or in the thread that is ahead.

        Who comes when the call is done starts a new one. Who waits gets an error of its own, and
        asks again if the thread that is ahead was interrupted.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if ahead := flight is None:
                    flight = self._flights[key] = Flight()
            if ahead:
                return self._lead(key, flight, call)
            outcome = flight.wait()
            if outcome is not None:
                return outcome()

    def renew(self) -> None:
        """Have nothing under way in a forked child, where nobody would land it."""
        self._lock = threading.Lock()
        flights, self._flights = self._flights, {}
        for flight in flights.values():
            flight.renew()

    def _lead(
        self, key: Hashable, flight: Flight[Callable[[], T] | None], call: Callable[[], T]
    ) -> T:
        outcome: Callable[[], T] | None = None
        try:
            result = call()
            outcome = partial(_same, result)
        except Exception as error:
            outcome = partial(_raise_again, again(error))
            raise
        finally:  # An interrupt leaves no outcome.
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.land(outcome)
        return result


def again(error: E) -> E:
    """Return *error* as if it came now.

    One that is raised again and again would collect a traceback, and the values in its frames.
    """
    try:
        # Not by its constructor, as copy.copy does: that may make the message of other arguments.
        fresh = type(error).__new__(type(error), *error.args)
    except Exception:  # noqa: BLE001  Of a class that may be a plugin's.
        return error
    fresh.__dict__.update(error.__dict__)
    fresh.__cause__ = error.__cause__
    return fresh


def _same(result: T) -> T:
    return result


def _raise_again(error: Exception) -> NoReturn:
    raise again(error)


class Renewed(Protocol):
    """What threads share, and a forked child has to make anew."""

    def renew(self) -> None:
        """Let go of what other threads hold or wait for: there are none."""


def renew_in_children(shared: Renewed) -> None:
    """Have *shared* renew itself in each process that is forked while it is in use."""
    _shared.add(shared)


def _renew_all() -> None:
    for each in list(_shared):
        each.renew()


_shared: WeakSet[Renewed] = WeakSet()
os.register_at_fork(after_in_child=_renew_all)
