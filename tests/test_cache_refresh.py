from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from cache_backend import MINUTE, UNREACHABLE, Backend, cached, code

from configproviders import ConfigData, ConfigException
from configproviders.cache import CachingConfigProvider
from configproviders.data import Answer
from configproviders.errors import (
    LookupDenied,
    LookupFailed,
    MalformedText,
    PathNotFound,
    ProviderUnavailable,
)
from configproviders.testing import FakeClock


def refreshed(cache: CachingConfigProvider, path: str, keys: str) -> ConfigData:
    """Return the new answer, or raise the error that there is instead."""
    answer = cache.refresh({path: set(keys)})[path]
    if isinstance(answer, ConfigException):
        raise answer
    return answer


def test_the_backend_is_asked_though_there_is_a_fresh_value_and_readers_get_the_new_one() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get("x", {"a"})

    clock.advance(50)
    new = refreshed(cache, "x", "a")
    clock.advance(50)
    read = cache.get("x", {"a"})

    assert (new.data, new.ttl, new.stale) == ({"a": "2"}, MINUTE, False)
    assert (read.data, read.ttl) == ({"a": "2"}, timedelta(seconds=10))


def test_many_locations_are_refreshed_in_one_call() -> None:
    backend = Backend("x", "y")
    cache = cached(backend)
    cache.get("x", {"a"})

    answers = cache.refresh({path: {"a"} for path in ("x", "y", "absent", "x?ttl=soon")})

    assert backend.calls[1:] == [{"x": {"a"}, "y": {"a"}, "absent": {"a"}}]
    assert [type(answer) for answer in map(answers.get, ("x", "y", "absent", "x?ttl=soon"))] == [
        ConfigData,
        ConfigData,
        PathNotFound,
        ConfigException,
    ]


def test_what_the_provider_remembers_is_looked_past_too() -> None:
    class Remembering(Backend):
        def refresh(self, lookups: Mapping[str, Collection[str] | None]) -> dict[str, Answer]:
            return {path: ConfigData({"a": "new"}) for path in lookups}

    cache = cached(Remembering())
    cache.get("x", {"a"})

    assert refreshed(cache, "x", "a").data == cache.get("x", {"a"}).data == {"a": "new"}


def test_the_known_keys_are_refreshed_with_those_asked_for() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a"})

    new = refreshed(cache, "x", "b")

    assert backend.calls[1:] == [{"x": {"a", "b"}}]
    assert new.data == {"b": "2"}
    assert cache.get("x", {"a", "b"}).data == {"a": "2", "b": "2"}


def test_all_keys_stay_known_when_some_are_refreshed() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x")

    refreshed(cache, "x", "b")

    assert cache.get("x").data == dict.fromkeys("abc", "2")
    assert backend.calls == [{"x": None}, {"x": None}]


def test_a_refreshed_value_is_kept_for_those_with_a_longer_ttl_as_well() -> None:
    backend, clock = Backend("x", "y"), FakeClock()
    cache = cached(backend, clock, default_ttl=None)
    cache.get("x?ttl=60000", {"a"})

    clock.advance(50)
    refreshed(cache, "x", "a")
    clock.advance(50)
    cache.get("y", {"a"})

    assert cache.get("x?ttl=60000", {"a"}).data == {"a": "2"}
    assert len(backend.calls) == 3


def test_a_refreshed_value_is_not_kept_for_those_who_stay_away() -> None:
    clock = FakeClock()
    cache = cached(Backend(), clock, default_ttl=None)
    cache.get("x?ttl=60000", {"a"})

    clock.advance(70)
    refreshed(cache, "x", "a")

    assert len(cache._memory) == 0


def test_a_key_that_is_gone_is_gone_for_readers_too() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a", "b"})

    backend.keys.remove("b")

    assert refreshed(cache, "x", "b").data == {}
    assert cache.get("x", {"a", "b"}).data == {"a": "2"}


@pytest.mark.parametrize("error", [PathNotFound("deleted"), LookupDenied("refused")])
def test_a_refusal_replaces_what_was_kept(error: ConfigException) -> None:
    backend = Backend()
    cache = cached(backend, max_stale=MINUTE)
    cache.get("x", {"a"})

    backend.error = error
    new = code(partial(refreshed, cache, "x", "a"))

    assert new is code(partial(cache.get, "x", {"a"})) is type(error)
    assert len(backend.calls) == 2


def test_a_refused_key_that_somebody_else_asked_for_once_takes_no_other_with_it() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a", "b"})

    backend.refused = {"b"}
    new = refreshed(cache, "x", "a")

    assert new.data == cache.get("x", {"a"}).data == {"a": "3"}
    assert backend.calls[1:] == [{"x": {"a", "b"}}, {"x": {"a"}}]
    assert code(partial(cache.get, "x", {"b"})) is LookupDenied


def test_a_refusal_that_may_be_of_another_key_is_not_remembered_for_those_asked_for() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a", "b"})

    def fail_then() -> None:
        backend.error = UNREACHABLE if len(backend.calls) > 2 else None

    backend.refused, backend.during = {"b"}, fail_then
    new, read = (code(partial(ask, "x", "a")) for ask in (partial(refreshed, cache), cache.get))

    assert (new, read) == (ProviderUnavailable, ProviderUnavailable)


def test_two_refreshes_of_one_location_at_once_have_one_refusal() -> None:
    backend = Backend()
    backend.refused = {"b"}
    cache = cached(backend)

    answers = cache.refresh({"x": {"a"}, "x?ttl=1000": {"b"}})

    assert [type(answer) for answer in answers.values()] == [LookupDenied, LookupDenied]


def test_what_has_appeared_is_there_for_readers_at_once() -> None:
    backend = Backend()
    cache = cached(backend, default_ttl=None)
    codes = [code(partial(cache.get, "new", {key})) for key in "ab"]

    backend.paths.add("new")
    refreshed(cache, "new", "a")

    assert codes == [PathNotFound] * 2
    assert cache.get("new", {"b"}).data == {"b": "3"}


def test_a_refusal_of_another_key_outlives_a_refresh() -> None:
    backend = Backend()
    backend.refused = {"b"}
    cache = cached(backend)
    code(partial(cache.get, "x", {"b"}))

    refreshed(cache, "x", "a")

    assert code(partial(cache.get, "x", {"b"})) is LookupDenied
    assert len(backend.calls) == 2


@pytest.mark.parametrize("error", [UNREACHABLE, LookupFailed("odd"), MalformedText("no JSON")])
def test_what_is_kept_since_the_backend_fails_is_marked_though_it_is_within_its_ttl(
    error: ConfigException,
) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get("x", {"a", "b"})

    backend.error = error
    new, read = refreshed(cache, "x", "a"), cache.get("x", {"a"})
    clock.advance(60)

    assert (new.data, new.stale) == ({"a": "1"}, True)
    assert (read.data, read.stale) == ({"a": "1"}, False)
    assert code(partial(refreshed, cache, "x", "a")) is type(error)


def test_a_stale_value_is_served_for_max_stale_and_then_the_error() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})

    backend.error = UNREACHABLE
    stale = []
    for _ in range(3):
        stale.append(refreshed(cache, "x", "a").stale)
        clock.advance(39)

    assert stale == [True] * 3
    assert len(backend.calls) == 4
    clock.advance(3)
    assert code(partial(refreshed, cache, "x", "a")) is ProviderUnavailable


def test_readers_have_the_new_value_as_soon_as_a_refresh_reaches_the_backend_again() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})
    backend.error = UNREACHABLE
    clock.advance(60)
    stale = cache.get("x", {"a"}).stale

    backend.error = None
    refreshed(cache, "x", "a")

    assert stale
    assert cache.get("x", {"a"}) == ConfigData({"a": "3"}, MINUTE, version="3", lease="l")


def watched(found: threading.Semaphore) -> str:
    """Return a path that tells when it is found to be under way; that is under the lock."""

    class Path(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            found.release()
            return str(self) == str(other)

    return Path("x")


@pytest.mark.parametrize("ahead", ["get", "refresh"])
def test_a_call_under_way_hides_no_change_that_was_made_since_it_began(ahead: str) -> None:
    backend, found = Backend(), threading.Semaphore(0)
    cache = cached(backend)
    later: list[Future[ConfigData]] = []

    def change() -> None:
        backend.during = lambda: None
        later.append(threads.submit(refreshed, cache, watched(found), "a"))
        found.acquire(timeout=30)

    backend.during = change
    with ThreadPoolExecutor(1) as threads:
        first = cache.get("x", {"a"}) if ahead == "get" else refreshed(cache, "x", "a")

    assert (first.data, later[0].result().data) == ({"a": "1"}, {"a": "2"})
    assert cache.get("x", {"a"}).data == {"a": "2"}


def test_those_who_wait_for_one_call_share_the_next() -> None:
    backend, found = Backend(), threading.Semaphore(0)
    cache = cached(backend, default_ttl=None)
    later: list[Future[ConfigData]] = []

    def overtake() -> None:
        backend.during = lambda: found.acquire(timeout=30)  # The other one claims it too late.
        for _ in range(2):
            later.append(threads.submit(refreshed, cache, watched(found), "a"))
            found.acquire(timeout=30)

    backend.during = overtake
    with ThreadPoolExecutor(2) as threads:
        refreshed(cache, "x", "a")

    assert [each.result().data for each in later] == [{"a": "2"}] * 2
    assert len(backend.calls) == 2


def test_a_reader_shares_a_refresh_that_is_under_way() -> None:
    backend, found = Backend(), threading.Semaphore(0)
    cache = cached(backend, default_ttl=None)
    readers: list[Future[ConfigData]] = []

    def read() -> None:
        readers.append(threads.submit(cache.get, watched(found), {"a"}))
        found.acquire(timeout=30)

    backend.during = read
    with ThreadPoolExecutor(1) as threads:
        refreshed(cache, "x", "a")

    assert readers[0].result().data == {"a": "1"}
    assert len(backend.calls) == 1


def test_a_reader_who_is_ahead_by_a_moment_answers_no_refresh_and_puts_nothing_back() -> None:
    backend, under_way, go_on = Backend(), threading.Event(), threading.Event()
    readers: list[Future[ConfigData]] = []

    def clock() -> float:
        if moments:
            moments.pop()()
        return 0.0

    def read() -> None:
        backend.during = wait
        readers.append(threads.submit(cache.get, "x", {"a"}))
        under_way.wait(timeout=30)

    def wait() -> None:
        backend.during = lambda: None
        under_way.set()
        go_on.wait(timeout=30)

    moments = [read]
    cache = CachingConfigProvider(backend, default_ttl=MINUTE, clock=clock)
    with ThreadPoolExecutor(1) as threads:
        new = refreshed(cache, "x", "a")
        go_on.set()

    assert (readers[0].result().data, new.data) == ({"a": "1"}, {"a": "2"})
    assert cache.get("x", {"a"}).data == {"a": "2"}
