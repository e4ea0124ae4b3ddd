from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import pytest

from configproviders.single_flight import SingleFlight, again


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

    assert [(type(each), str(each)) for each in answers] == [
        (ZeroDivisionError, "integer division or modulo by zero")
    ] * 32


def test_each_of_them_gets_an_error_of_its_own_with_the_cause_and_nobody_else_s_frames() -> None:
    def fail() -> object:
        raise ZeroDivisionError from LookupError("why")

    answers = ask_at_once(fail)

    errors = [answer for answer in answers if isinstance(answer, ZeroDivisionError)]
    assert len({id(error) for error in errors}) == 32
    assert {str(error.__cause__) for error in errors} == {"why"}
    for error in errors[1:]:
        frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
        assert frames == ["ask", "do", "_raise_again"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_those_who_wait_for_an_interrupted_call_ask_again_and_one_of_them_for_all(
    interrupt: type[BaseException],
) -> None:
    flights: SingleFlight[object] = SingleFlight()
    under_way, found = threading.Event(), threading.Semaphore(0)
    made = []

    def interrupted() -> object:
        under_way.set()
        for _ in range(8):
            assert found.acquire(timeout=30)
        raise interrupt

    def asked_again() -> object:
        made.append(object())
        for _ in range(7):
            assert found.acquire(timeout=30)
        return made[-1]

    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(flights.do, Announcing(found), interrupted)
        assert under_way.wait(timeout=30)
        others = [pool.submit(flights.do, Announcing(found), asked_again) for _ in range(8)]
        answers = [other.result(timeout=30) for other in others]

    assert isinstance(first.exception(), interrupt)
    assert answers == made * 8


def test_an_error_comes_again_as_it_was_whatever_its_constructor_takes() -> None:
    class Odd(Exception):  # noqa: N818  A name is not what this is about.
        def __init__(self, what: str, *, why: str) -> None:
            super().__init__(f"{what}, since {why}")
            self.why = why

    error = Odd("no", why="so")

    fresh = again(error)

    assert fresh is not error
    assert (type(fresh), str(fresh), fresh.why) == (Odd, "no, since so", "so")


def test_an_error_that_cannot_be_made_twice_is_shared() -> None:
    class Single(Exception):  # noqa: N818  A name is not what this is about.
        def __new__(cls, *, only: bool) -> Self:
            return super().__new__(cls)

        def __init__(self, *, only: bool) -> None:
            super().__init__("only", "once")

    error = Single(only=True)

    assert again(error) is error


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
