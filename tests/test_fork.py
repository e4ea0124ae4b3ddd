"""A forked child has none of the other threads: nothing that they hold may keep it waiting."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from cache_backend import Backend, cached

from configproviders.single_flight import SingleFlight

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def holds_in_a_child(statement: Callable[[], bool]) -> bool:
    """Return whether *statement* is true in a forked child, which does not live for long."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        holds = False
        try:
            holds = statement()
        finally:
            os._exit(0 if holds else 1)
    return os.waitpid(child, 0)[1] == 0


@contextmanager
def another_thread_in(call: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """Have another thread make *call*, and stay in it where that calls what it is given."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        inside.set()
        assert leave.wait(timeout=60)

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(call, stay)
        assert inside.wait(timeout=30)
        try:
            yield
        finally:
            leave.set()
        done.result(timeout=30)


def test_what_another_thread_asks_for_is_asked_for_anew_in_a_child() -> None:
    flights: SingleFlight[object] = SingleFlight()

    with another_thread_in(lambda stay: flights.do("key", stay)):
        assert holds_in_a_child(lambda: flights.do("key", lambda: "own") == "own")


def test_a_lock_of_another_thread_is_none_in_a_child() -> None:
    flights: SingleFlight[str] = SingleFlight()

    with flights._lock:
        assert holds_in_a_child(lambda: flights.do("key", lambda: "own") == "own")
    assert flights.do("key", lambda: "still") == "still"


def test_a_call_that_forks_ends_in_both_processes() -> None:
    flights: SingleFlight[bool] = SingleFlight()

    assert flights.do("key", lambda: holds_in_a_child(lambda: flights.do("key", lambda: True)))
    assert holds_in_a_child(lambda: flights.do("key", lambda: True))


def test_a_cache_asks_anew_in_a_child_for_what_another_thread_fetches() -> None:
    backend = Backend("x", "y")
    cache = cached(backend)
    cache.get("y", {"a"})

    def fetch(stay: Callable[[], None]) -> object:
        backend.during = stay
        return cache.get("x", {"a"})

    def answers() -> bool:
        backend.during = lambda: None
        return [cache.get(path, {"a"}).data["a"] for path in "xy"] == ["3", "1"]

    with another_thread_in(fetch):
        assert holds_in_a_child(answers)
    assert cache.get("x", {"a"}).data == {"a": "2"}


def test_a_cache_that_was_about_to_change_starts_with_nothing_in_a_child() -> None:
    cache = cached(Backend())
    cache.get("x", {"a"})

    with cache._memory._lock:
        assert holds_in_a_child(lambda: cache.get("x", {"a"}).data == {"a": "2"})
    assert cache.get("x", {"a"}).data == {"a": "1"}


def test_a_fetch_that_forks_is_answered_in_both_processes() -> None:
    backend = Backend()
    cache = cached(backend)
    children = []

    def fork() -> None:
        backend.during = lambda: None
        children.append(os.fork())
        signal.alarm(0 if children[0] else 20)

    backend.during = fork
    data = cache.get("x", {"a"}).data
    if children == [0]:
        answers = [data, cache.get("x", {"a"}).data]
        os._exit(0 if answers == [{"a": "1"}, {"a": "2"}] else 1)

    assert data == {"a": "1"}
    assert os.waitpid(children[0], 0)[1] == 0
