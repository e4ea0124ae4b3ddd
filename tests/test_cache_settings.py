from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from cache_backend import MINUTE, Backend, Spelling, cached

from configproviders import ConfigException
from configproviders.cache import CachingConfigProvider, with_cache
from configproviders.cache_settings import CACHE_DEF
from configproviders.config_def import ConfigDef
from configproviders.path_options import split_options
from configproviders.provider import Changed
from configproviders.testing import FakeClock


def test_an_answer_says_what_is_left_of_its_ttl_and_keeps_all_else() -> None:
    clock = FakeClock()
    cache = cached(Backend(), clock)
    first = cache.get("x", {"a"})

    clock.advance(20)
    second = cache.get("x", {"a"})

    assert (first.ttl, second.ttl) == (MINUTE, timedelta(seconds=40))
    assert (second.version, second.lease, second.stale) == ("1", "l", False)
    assert set(second.available) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("typed", "located"),
    [
        (("X", "a"), ("x", "a")),
        (("x/ttl=5", "a"), ("x/ttl=5", "a")),
        (("X?ttl=5000", "a"), ("x?ttl=5000", "a")),
        (("X", "a?ttl=5000"), ("x?ttl=5000", "a")),
        (("X?ttl=5000", "a?ttl=60000"), ("x?ttl=5000", "a")),
        (("X?version=2&ttl=5000", "a"), ("x?ttl=5000&version=2", "a")),
        (("X?version=2", "a?ttl=5000"), ("x?ttl=5000&version=2", "a")),
        (("x?ttl=5000", "a?decode=hex&ttl=6000"), ("x?ttl=5000", "a?decode=hex")),
        (("X?version=&ttl=5000", "a"), ("x?ttl=5000&version=", "a")),
    ],
)
def test_the_option_ttl_ends_at_the_path_of_a_provider_that_knows_no_options(
    typed: tuple[str, str], located: tuple[str, str]
) -> None:
    cache = cached(Spelling())

    assert cache.locate(*typed) == located
    assert cache.locate(*located) == located


def test_a_ttl_in_the_middle_of_a_text_is_for_the_provider_to_find() -> None:
    class Arn(Backend):
        def locate(self, path: str, key: str) -> tuple[str, str]:
            path, _, key = f"{path}:{key}".rpartition(":")
            return path, key

    assert cached(Arn()).locate("arn", "aws:db?ttl=5000:password") == (
        "arn:aws:db?ttl=5000",
        "password",
    )


def test_an_option_without_a_value_is_for_the_provider_to_refuse() -> None:
    class Versioned(Backend):
        def locate(self, path: str, key: str) -> tuple[str, str]:
            split_options(path, ["version"])
            return path, key

    with pytest.raises(ConfigException, match="option 'version' has no value"):
        cached(Versioned()).locate("x?version=&ttl=5000", "a")


@pytest.mark.parametrize("typed", [("x?ttl=soon", "a"), ("x?ttl=", "a"), ("x", "a?ttl=-1")])
def test_a_ttl_that_is_no_number_is_an_error(typed: tuple[str, str]) -> None:
    with pytest.raises(ConfigException, match="option 'ttl'"):
        cached(Backend()).locate(*typed)


def test_all_else_is_the_providers() -> None:
    backend = Backend()
    cache = cached(backend)

    cache.configure({"address": "there"})
    cache.values_outlive_it = True
    cache.poll_interval = MINUTE
    cache.close()

    assert backend.seen == [{"address": "there"}, "close"]
    assert cache.config_def is backend.config_def
    assert (cache.waits, cache.wrapped) == (True, backend)
    assert (cache.values_outlive_it, backend.values_outlive_it) == (True, True)
    assert (cache.poll_interval, backend.poll_interval) == (MINUTE, MINUTE)
    assert list(cache.files("x?ttl=5")) == list(cache.files("x")) == ["/run/x"]
    assert cache.policy({"x?ttl=5": {"a"}, "x": {"b"}}, online=True) == "['x'] True"


def test_an_event_of_the_provider_concerns_a_path_whatever_its_ttl() -> None:
    class Telling(Backend):
        def listen(self, changed: Changed) -> Callable[[], None]:
            changed(lambda path: path == "x")
            return self.close

    backend = Telling()
    heard: list[Callable[[str], bool]] = []

    end = cached(backend).listen(heard.append)

    assert [path for path in ("x", "x?ttl=5", "y", "y?ttl=5") if heard[0](path)] == ["x", "x?ttl=5"]
    assert end == backend.close
    assert cached(Backend()).listen(heard.append) is None


def test_subscriptions_end_before_the_provider_is_closed() -> None:
    class Subscribed(CachingConfigProvider):
        def unsubscribe_all(self) -> None:
            backend.seen.append("unsubscribe_all")

    backend = Backend()

    Subscribed(backend).close()

    assert backend.seen == ["unsubscribe_all", "close"]


def test_nothing_is_kept_after_close() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a"})

    cache.close()

    assert cache.get("x", {"a"}).data == {"a": "2"}


def test_the_settings_of_a_cache_stand_among_those_of_the_provider() -> None:
    backend = Backend()

    cache = with_cache(backend, {"address": "there", "secret.default.ttl.ms": "5000"})

    assert isinstance(cache, CachingConfigProvider)
    assert (cache.get("x", {"a"}).ttl or MINUTE) <= timedelta(seconds=5)
    assert backend.seen == [{"address": "there"}]


@pytest.mark.parametrize(
    ("settings", "wrapped"),
    [
        ({}, False),
        ({"secret.default.ttl.ms": "0", "negative.ttl.ms": "5"}, False),
        ({"max.stale.ms": "5"}, True),
        ({"secret.default.ttl": "5"}, True),
    ],
)
def test_there_is_a_cache_if_there_is_something_to_keep(
    settings: dict[str, str], *, wrapped: bool
) -> None:
    backend = Backend()

    assert (with_cache(backend, settings) is not backend) == wrapped


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max.stale.ms": "long"}, "'max.stale.ms' is not a number of milliseconds"),
        ({"max.stale": "5"}, "no setting named 'max.stale'"),
        ({"secret.ttl.ms": "5", "secret.default.ttl": "6"}, "differ"),
    ],
)
def test_a_wrong_setting_is_an_error(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigException, match=message):
        with_cache(Backend(), settings)


def test_a_setting_that_the_provider_has_itself_is_left_to_it() -> None:
    class Own(Backend):
        config_def = ConfigDef(CACHE_DEF.keys[:1])

    backend = Own()

    assert with_cache(backend, {"secret.ttl.ms": "5"}) is backend
    assert backend.seen == [{"secret.ttl.ms": "5"}]


def test_every_setting_of_the_cache_is_documented() -> None:
    assert all(key.doc and key.importance for key in CachingConfigProvider.CACHE_DEF)
