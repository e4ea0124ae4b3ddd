"""Where caches of others went wrong, each test named after what goes right here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

import pytest

from configproviders import ConfigData, ConfigProvider, ConfigTransformer
from configproviders.cache import CachingConfigProvider, with_cache
from configproviders.cache_memory import RETRY_SECONDS
from configproviders.cache_settings import CACHE_DEF
from configproviders.errors import ProviderUnavailable
from configproviders.testing import FakeClock, StaticConfigProvider

MINUTE = timedelta(minutes=1)


class Changing(ConfigProvider):
    """Has one value, which may change, and cannot be reached while it is sealed."""

    def __init__(self, value: str) -> None:
        self.value = value
        self.sealed = False
        self.calls = 0

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        self.calls += 1
        if self.sealed:
            raise ProviderUnavailable("sealed")
        return ConfigData({"a": self.value})


def test_a_ttl_of_zero_keeps_no_value_and_still_no_broken_reference_hammers_the_backend() -> None:
    """Lenses: with a TTL of 0 nothing is shared at all."""
    backend = StaticConfigProvider({"x": {"a": "1"}})
    cache = CachingConfigProvider(backend, default_ttl=timedelta(0), clock=FakeClock())

    for _ in range(3):
        cache.get_many({"x": {"a"}, "y": {"a"}})
        cache.get_many({"x": {"absent"}})

    assert [path for path, _ in backend.calls].count("y") == 1
    assert backend.calls.count(("x", frozenset({"a"}))) == 3
    assert backend.calls.count(("x", frozenset({"absent"}))) == 1


def test_a_value_without_a_ttl_has_none_so_that_nothing_restarts_every_second() -> None:
    """jcustenborder: a secret without a lease has a TTL of 1,000 ms by default."""
    cache = with_cache(StaticConfigProvider({"x": {"a": "1"}}), {"max.stale.ms": "60000"})

    result = ConfigTransformer({"it": cache}).transform({"key": "${it:x:a}"})

    assert result.ttls == {}


def test_a_lease_of_a_minute_is_kept_for_a_minute() -> None:
    """jcustenborder: the seconds of a lease are taken for milliseconds."""
    clock = FakeClock()
    backend = StaticConfigProvider({"x": {"a": "1"}}, ttl=MINUTE)
    cache = CachingConfigProvider(backend, clock=clock)

    cache.get("x", {"a"})
    clock.advance(47)

    assert cache.get("x", {"a"}).ttl == timedelta(seconds=13)
    assert len(backend.calls) == 1


def test_a_lease_is_not_stretched_by_a_default_or_an_option_that_is_longer() -> None:
    """jcustenborder: a lease shorter than the minimum TTL is served dead."""
    backend = StaticConfigProvider({"x": {"a": "1"}}, ttl=timedelta(seconds=5))
    cache = CachingConfigProvider(backend, default_ttl=MINUTE, clock=FakeClock())

    assert cache.get("x?ttl=60000", {"a"}).ttl == timedelta(seconds=5)


@pytest.mark.parametrize("jitter", [0.0, 0.25, 0.5, 0.75, 0.999])
def test_nothing_is_refreshed_before_the_last_fifth_of_its_ttl(jitter: float) -> None:
    """aws-secretsmanager-caching-python: from half of the TTL on."""
    clock = FakeClock()
    backend = StaticConfigProvider({"x": {"a": "1"}})
    cache = CachingConfigProvider(backend, default_ttl=MINUTE, clock=clock, jitter=lambda: jitter)

    for _ in range(4):
        cache.get("x", {"a"})
        clock.advance(11.99)
    cache.get("x", {"a"})

    assert len(backend.calls) == 1


def test_a_failing_backend_is_left_alone_for_a_second_and_not_for_a_millisecond() -> None:
    """aws-secretsmanager-caching-python: a delay in seconds is applied as milliseconds."""
    clock = FakeClock()
    backend = Changing("1")
    cache = CachingConfigProvider(backend, default_ttl=MINUTE, max_stale=MINUTE, clock=clock)
    cache.get("x", {"a"})
    backend.sealed = True
    clock.advance(60)

    for _ in range(9):
        cache.get("x", {"a"})
        clock.advance(RETRY_SECONDS / 10)

    assert backend.calls == 2
    assert RETRY_SECONDS == 1


def test_who_holds_the_provider_and_not_the_value_gets_the_new_one() -> None:
    """aws-secretsmanager-caching-python: a decorated function keeps its first value for ever."""
    clock = FakeClock()
    backend = Changing("before")
    cache = CachingConfigProvider(backend, default_ttl=MINUTE, clock=clock)
    transformer = ConfigTransformer({"it": cache})
    before = transformer.transform({"key": "${it:x:a}"}).data

    backend.value = "after"
    clock.advance(60)

    assert before == {"key": "before"}
    assert transformer.transform({"key": "${it:x:a}"}).data == {"key": "after"}


@pytest.mark.parametrize(
    "name",
    ["secret.default.ttl", "secret.ttl.ms", "vault.secret.minimum.ttl.ms", "secret.default.ttl.ms"],
)
def test_the_ttl_of_every_peer_is_in_milliseconds(name: str) -> None:
    ttl, *_ = CACHE_DEF

    assert ttl.read({name: "300000"}) == timedelta(minutes=5)
