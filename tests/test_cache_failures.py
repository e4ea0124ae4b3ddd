from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

import pytest
from cache_backend import MINUTE, UNREACHABLE, Backend, cached, code

from configproviders import ConfigData, ConfigException, ConfigTransformer, Location
from configproviders.errors import LookupDenied, LookupFailed, PathNotFound, ProviderUnavailable
from configproviders.testing import CANARY, FakeClock, StaticConfigProvider


def test_an_unreachable_backend_is_asked_every_time_while_there_is_nothing_to_serve() -> None:
    backend = Backend()
    backend.error = UNREACHABLE
    cache = cached(backend, max_stale=MINUTE)

    codes = [code(lambda: cache.get("x", {"a"})) for _ in range(3)]

    assert codes == [ProviderUnavailable] * 3
    assert len(backend.calls) == 3


@pytest.mark.parametrize("error", [UNREACHABLE, LookupFailed("odd"), RuntimeError(CANARY)])
def test_a_failed_early_refresh_leaves_the_valid_value_and_is_tried_again_after_a_pause(
    error: Exception,
) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get("x", {"a"})

    backend.error = error
    clock.advance(54)
    answers = [cache.get("x", {"a"}) for _ in range(3)]
    clock.advance(1)
    answers.append(cache.get("x", {"a"}))

    assert [(answer.data, answer.stale) for answer in answers] == [({"a": "1"}, False)] * 4
    assert len(backend.calls) == 3


def test_a_stale_value_is_served_marked_for_max_stale_if_the_backend_cannot_be_reached() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})

    backend.error = UNREACHABLE
    clock.advance(60)
    stale = [cache.get("x", {"a"}) for _ in range(3)]
    clock.advance(60)

    assert [(answer.data, answer.stale) for answer in stale] == [({"a": "1"}, True)] * 3
    assert stale[0].ttl == timedelta(seconds=1)
    assert len(backend.calls) == 2
    assert code(lambda: cache.get("x", {"a"})) is ProviderUnavailable


def test_a_value_is_fresh_again_as_soon_as_the_backend_is_back() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})
    backend.error = UNREACHABLE
    clock.advance(60)
    stale = cache.get("x", {"a"}).stale

    backend.error = None
    clock.advance(1)
    fresh = cache.get("x", {"a"})

    assert stale
    assert (fresh.data, fresh.stale, fresh.ttl) == ({"a": "3"}, False, MINUTE)


@pytest.mark.parametrize("ttl", ["", "?ttl=0"])
def test_no_stale_value_is_served_if_that_was_not_asked_for(ttl: str) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get(f"x{ttl}", {"a"})

    backend.error = UNREACHABLE
    clock.advance(60)

    assert code(lambda: cache.get(f"x{ttl}", {"a"})) is ProviderUnavailable


@pytest.mark.parametrize(
    "error", [PathNotFound("deleted"), LookupDenied("refused"), LookupFailed("odd")]
)
def test_a_deletion_a_refusal_and_an_odd_failure_are_no_reason_for_a_stale_value(
    error: ConfigException,
) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})

    backend.error = error
    clock.advance(60)

    assert code(lambda: cache.get("x", {"a"})) is type(error)


def test_without_a_ttl_the_last_value_still_helps_if_the_backend_cannot_be_reached() -> None:
    backend = Backend()
    cache = cached(backend, default_ttl=None, max_stale=MINUTE)
    first = cache.get("x", {"a"})

    backend.error = UNREACHABLE
    second = cache.get("x", {"a"})

    assert (first.stale, second.stale, second.data) == (False, True, {"a": "1"})


def test_a_key_nobody_can_ask_for_any_more_says_so_beside_its_valid_neighbour() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)
    cache.get("x", {"a", "absent"})

    backend.error = UNREACHABLE
    clock.advance(1)
    answer = cache.get("x", {"a", "absent"})

    assert answer.data == {"a": "1"}
    assert isinstance(answer.errors["absent"], ProviderUnavailable)
    assert code(lambda: cache.get("x", {"absent"})) is ProviderUnavailable


def test_a_key_that_could_not_be_reached_is_not_remembered_as_missing() -> None:
    class Partial(StaticConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData(super().get(path, keys).data, errors={"b": UNREACHABLE})

    backend = Partial({"x": {"a": "1"}})
    cache = cached(backend)

    answers = [cache.get("x", {"a", "b"}) for _ in range(2)]

    assert [(answer.data, list(answer.errors)) for answer in answers] == [({"a": "1"}, ["b"])] * 2
    assert len(backend.calls) == 2
    assert cache.get("x", {"a"}).errors == {}


def test_what_the_provider_marks_as_stale_is_handed_on_and_not_kept() -> None:
    class Stale(StaticConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData(super().get(path, keys).data, stale=True)

    backend = Stale({"x": {"a": "1"}})
    cache = cached(backend)

    assert [cache.get("x").stale, cache.get("x").stale] == [True, True]
    assert len(backend.calls) == 2


def test_a_transformer_says_which_locations_are_stale_and_which_config_keys_have_their_values() -> (
    None
):
    backend, clock = Backend("x", "y"), FakeClock()
    transformer = ConfigTransformer({"it": cached(backend, clock, max_stale=MINUTE)})
    config = {"p": "${it:x:a}-${it:x:absent}", "q": "${it:x:b}", "r": "${it:x:absent}", "s": "t"}
    fresh = transformer.transform(config)

    backend.error = UNREACHABLE
    clock.advance(60)
    stale = transformer.transform({key: config[key] for key in "qs"})

    assert (fresh.stale, fresh.stale_keys) == (frozenset(), [])
    assert (stale.stale, stale.stale_keys) == (frozenset({Location("it", "x")}), ["q"])
    assert stale.data == {"q": "1", "s": "t"}


def test_an_invalidated_value_is_not_served_stale() -> None:
    backend = Backend()
    cache = cached(backend, max_stale=MINUTE)
    cache.get("x", {"a"})

    cache.invalidate("x")
    backend.error = UNREACHABLE

    assert code(lambda: cache.get("x", {"a"})) is ProviderUnavailable


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"a": "1"},
        RuntimeError(CANARY),
        ConfigData({}, errors=None),  # type: ignore[arg-type]  # On purpose.
        ConfigData({}, errors={"a": RuntimeError(CANARY)}),  # type: ignore[dict-item]  # As well.
    ],
)
def test_a_broken_provider_is_one_of_our_errors_and_is_not_remembered(answer: object) -> None:
    class Broken(Backend):
        def get_many(self, lookups: Mapping[str, Collection[str] | None]) -> Any:
            self.calls.append({})
            if isinstance(answer, Exception):
                raise answer
            return dict.fromkeys(lookups, answer)

    backend = Broken()
    cache = cached(backend)

    for _ in range(2):
        failure = cache.get_many({"x": {"a"}})["x"]
        assert isinstance(failure, LookupFailed)
        assert CANARY not in str(failure)
    assert len(backend.calls) == 2


def test_the_log_says_once_that_the_backend_fails_and_once_that_it_answers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    cache.get("x", {"a"})

    with caplog.at_level(logging.INFO):
        backend.error = UNREACHABLE
        for _ in range(3):
            clock.advance(30)
            code(lambda: cache.get("x", {"a"}))
        backend.error = None
        clock.advance(5)
        cache.get("x", {"a"})

    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
