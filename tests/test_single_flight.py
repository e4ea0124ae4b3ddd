from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from configproviders.single_flight import SingleFlight


def test_those_who_ask_during_a_call_share_its_result() -> None:
    flights: SingleFlight[object] = SingleFlight()
    calls = []
    started, go_on = threading.Event(), threading.Event()

    def call() -> object:
        calls.append(1)
        started.set()
        go_on.wait()
        return object()

    with ThreadPoolExecutor(32) as threads:
        first = threads.submit(flights.do, "key", call)
        started.wait()
        others = [threads.submit(flights.do, "key", call) for _ in range(31)]
        go_on.set()

    assert len(calls) <= 32 - sum(other.result() is first.result() for other in others)
    assert len({id(future.result()) for future in [first, *others]}) == len(calls)


def test_who_asks_after_a_call_starts_a_new_one() -> None:
    flights: SingleFlight[object] = SingleFlight()

    assert flights.do("key", object) is not flights.do("key", object)


def test_another_key_does_not_wait() -> None:
    flights: SingleFlight[str] = SingleFlight()

    assert flights.do("a", lambda: flights.do("b", lambda: "inner")) == "inner"


def test_an_error_is_raised_and_not_kept() -> None:
    flights: SingleFlight[int] = SingleFlight()

    with pytest.raises(ZeroDivisionError):
        flights.do("key", lambda: 1 // 0)

    assert flights.do("key", lambda: 1) == 1
