from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

import pytest
from cache_backend import MINUTE, Backend, cached, code

from configproviders import ConfigData
from configproviders.cache import CachingConfigProvider
from configproviders.errors import LookupDenied
from configproviders.testing import FakeClock


@pytest.mark.parametrize("ttl", [timedelta(0), MINUTE])
def test_thirty_two_threads_cause_one_call(ttl: timedelta) -> None:
    backend, found = Backend(), threading.Semaphore(0)
    cache = cached(backend, default_ttl=ttl)
    under_way = threading.Event()

    class Path(str):
        """Says when it was found to be under way; that is under the lock."""

        __slots__ = ("asked",)
        asked: bool
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            if isinstance(other, Path) and not hasattr(other, "asked"):
                other.asked = True
                found.release()
            return str(self) == other

    def wait_for_the_others() -> None:
        under_way.set()
        for _ in range(31):
            assert found.acquire(timeout=30)

    backend.during = wait_for_the_others
    with ThreadPoolExecutor(32) as threads:
        answers = [threads.submit(cache.get, Path("x"), {"a"})]
        assert under_way.wait(timeout=30)
        answers += [threads.submit(cache.get, Path("x"), {"a"}) for _ in range(31)]

    assert [answer.result().data for answer in answers] == [{"a": "1"}] * 32
    assert len(backend.calls) == 1


def test_what_another_thread_fetches_already_is_waited_for_and_not_fetched() -> None:
    backend = Backend("x", "y", "z")
    cache = cached(backend, default_ttl=None)
    first_is_under_way, second_came = threading.Event(), threading.Event()

    def meet() -> None:
        if len(backend.calls) == 2:
            second_came.set()
            return
        first_is_under_way.set()
        assert second_came.wait(timeout=30)

    backend.during = meet
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cache.get, "x", {"a"})
        assert first_is_under_way.wait(timeout=30)
        second = threads.submit(cache.get_many, {path: {"a"} for path in "xyz"})

    assert backend.calls == [{"x": {"a"}}, {"y": {"a"}, "z": {"a"}}]
    assert second.result()["x"] == first.result()


def overtake(cache: CachingConfigProvider, backend: Backend, keys: str) -> Future[ConfigData]:
    """Have another thread ask for *keys* while the backend is asked, as long as that takes."""
    found = threading.Event()

    class Path(str):
        """Says when it was found to be under way."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            found.set()
            return str(self) == other

    threads = ThreadPoolExecutor(1)
    other = threads.submit(cache.get, Path("x"), set(keys))
    threads.shutdown(wait=False)
    assert found.wait(timeout=30)
    backend.during = lambda: None
    return other


def test_who_waits_for_an_interrupted_call_asks_again() -> None:
    backend = Backend()
    cache = cached(backend)
    others = []

    def interrupt() -> None:
        others.append(overtake(cache, backend, "a"))
        raise KeyboardInterrupt

    backend.during = interrupt
    with pytest.raises(KeyboardInterrupt):
        cache.get("x", {"a"})

    assert others[0].result(timeout=30).data == {"a": "2"}


def test_who_waits_for_a_call_with_other_keys_asks_for_all_of_them() -> None:
    backend = Backend()
    cache = cached(backend)
    others = []

    backend.during = lambda: others.append(overtake(cache, backend, "b"))
    cache.get("x", {"a"})

    assert others[0].result(timeout=30).data == {"b": "2"}
    assert backend.calls == [{"x": {"a"}}, {"x": {"a", "b"}}]


def test_a_refusal_of_one_key_is_no_answer_to_who_waits_for_another() -> None:
    backend = Backend()
    backend.refused = {"b"}
    cache = cached(backend)
    others = []

    backend.during = lambda: others.append(overtake(cache, backend, "a"))
    refused = code(lambda: cache.get("x", {"b"}))

    assert refused is LookupDenied
    assert others[0].result(timeout=30).data == {"a": "2"}


def test_one_location_asked_for_twice_at_once_has_one_refusal() -> None:
    backend = Backend()
    backend.refused = {"b"}
    cache = cached(backend)

    answers = cache.get_many({"x": {"a"}, "x?ttl=1000": {"b"}})

    assert [type(answer) for answer in answers.values()] == [LookupDenied, LookupDenied]
    assert backend.calls == [{"x": {"a", "b"}}]


def test_who_is_overtaken_before_the_claim_is_answered_from_memory() -> None:
    backend = Backend()
    ticks: list[Callable[[], object]] = []

    def clock() -> float:
        if ticks:
            ticks.pop()()
        return 0.0

    cache = CachingConfigProvider(backend, default_ttl=MINUTE, clock=clock)
    ticks += [lambda: cache.get("x", {"a"}), lambda: None]  # From the last one: look, then claim.

    assert cache.get("x", {"a"}).data == {"a": "1"}
    assert len(backend.calls) == 1


def test_one_caller_refreshes_early_while_the_others_are_served() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get("x", {"a"})
    served = []

    backend.during = lambda: served.append(cache.get("x", {"a"}).data)
    clock.advance(54)
    refreshed = cache.get("x", {"a"})

    assert served == [{"a": "1"}]
    assert (refreshed.data, refreshed.ttl) == ({"a": "2"}, MINUTE)


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 48), (0.5, 54), (0.9, 58.8)])
def test_the_early_refresh_is_at_a_random_point_of_the_last_fifth(
    jitter: float, seconds: float
) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, jitter=lambda: jitter)
    cache.get("x", {"a"})

    clock.advance(seconds - 0.01)
    before = cache.get("x", {"a"}).data
    clock.advance(0.02)

    assert (before, cache.get("x", {"a"}).data) == ({"a": "1"}, {"a": "2"})


def test_a_call_under_way_puts_nothing_back_that_was_invalidated_meanwhile() -> None:
    backend = Backend()
    cache = cached(backend)
    newer = []

    def rotate() -> None:
        backend.during = lambda: None
        cache.invalidate("x")
        newer.append(cache.get("x", {"a"}).data)

    backend.during = rotate
    cache.get("x", {"a"})

    assert newer == [cache.get("x", {"a"}).data] == [{"a": "2"}]
