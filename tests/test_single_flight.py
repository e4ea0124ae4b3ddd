from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from configproviders.single_flight import SingleFlight


class Announcing:
    """A key that says when a thread finds it under way: it is compared under the lock."""

    def __init__(self, found: threading.Semaphore) -> None:
        self.found = found

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        self.found.release()
        return isinstance(other, Announcing)


def ask_at_once(call: Callable[[], object], threads: int = 32) -> list[object]:
    """Ask in as many threads; the call of the first ends when all the others wait for it."""
    flights: SingleFlight[object] = SingleFlight()
    under_way, found = threading.Event(), threading.Semaphore(0)

    def first() -> object:
        under_way.set()
        for _ in range(threads - 1):
            assert found.acquire(timeout=30)
        return call()

    def ask(ask_for: Callable[[], object]) -> object:
        try:
            return flights.do(Announcing(found), ask_for)
        except ZeroDivisionError as error:
            return error

    def never() -> object:
        raise AssertionError("a second call")

    with ThreadPoolExecutor(threads) as pool:
        answers = [pool.submit(ask, first)]
        assert under_way.wait(timeout=30)
        answers += [pool.submit(ask, never) for _ in range(threads - 1)]
        return [answer.result() for answer in answers]


def test_those_who_ask_during_a_call_share_its_result() -> None:
    answers = ask_at_once(object)

    assert len(answers) == 32
    assert len(set(answers)) == 1


def test_those_who_ask_during_a_call_share_its_error() -> None:
    answers = ask_at_once(lambda: 1 // 0)

    assert {type(answer) for answer in answers} == {ZeroDivisionError}


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
