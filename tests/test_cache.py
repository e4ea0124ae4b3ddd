from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from cache_backend import MINUTE, Backend, Spelling, cached, code

from configproviders import ConfigData, ConfigException, ConfigProvider, ConfigTransformer
from configproviders.errors import LookupDenied, PathNotFound
from configproviders.testing import ConfigProviderContract, FakeClock, Serve, StaticConfigProvider


class TestCachingConfigProvider(ConfigProviderContract):
    registry_name = "configproviders.testing:StaticConfigProvider"
    CHANGES = False

    @pytest.fixture
    def serve(self) -> Serve:
        return lambda values: (cached(StaticConfigProvider({"path": values})), "path")

    @pytest.fixture
    def refused(self) -> tuple[ConfigProvider, str, str]:
        backend = Backend()
        backend.refused = {"a"}
        return cached(backend), "x", "a"


class TestCachingConfigProviderWithoutTtl(TestCachingConfigProvider):
    @pytest.fixture
    def serve(self) -> Serve:
        static = StaticConfigProvider
        return lambda values: (cached(static({"p": values}), default_ttl=None), "p")


def test_a_value_is_served_from_memory_until_its_ttl_is_over() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)

    served = [cache.get("x", {"a"}).data]
    for seconds in (53, 7):
        clock.advance(seconds)
        served.append(cache.get("x", {"a"}).data)

    assert served == [{"a": "1"}, {"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize(
    ("option", "given", "default", "ttl"),
    [
        (5, 60, 30, 5),
        (60, 5, 30, 5),
        (None, 5, 3, 5),
        (None, 60, 30, 60),
        (5, None, 30, 5),
        (60, None, 30, 60),
        (None, None, 30, 30),
        (None, None, 0, None),
        (0, None, 30, None),
    ],
)
def test_the_ttl_is_that_of_the_reference_or_the_backend_or_the_default(
    option: int | None, given: int | None, default: int, ttl: int | None
) -> None:
    backend = Backend(ttl=None if given is None else timedelta(seconds=given))
    cache = cached(backend, default_ttl=timedelta(seconds=default))
    path = "x" if option is None else f"x?ttl={option * 1000}"

    answer = cache.get(path, {"a"})
    cache.get(path, {"a"})

    assert answer.ttl == (None if ttl is None else timedelta(seconds=ttl))
    assert backend.calls == [{"x": {"a"}}] * (2 if ttl is None else 1)


def test_two_ttls_of_one_location_share_what_was_fetched() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)

    answers = cache.get_many({"x?ttl=1000": {"a"}, "x?ttl=30000": {"b"}})
    clock.advance(2)
    cache.get("x?ttl=30000", {"b"})

    assert [answer.ttl for answer in answers.values() if isinstance(answer, ConfigData)] == [
        timedelta(seconds=1),
        timedelta(seconds=30),
    ]
    assert backend.calls == [{"x": {"a", "b"}}]


def test_more_keys_are_fetched_with_the_known_ones_so_that_all_are_of_one_version() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a"})

    answers = [cache.get("x", keys).data for keys in ({"b"}, {"a"}, {"a", "b"})]

    assert answers == [{"b": "2"}, {"a": "2"}, {"a": "2", "b": "2"}]
    assert backend.calls == [{"x": {"a"}}, {"x": {"a", "b"}}]


def test_all_keys_cover_each_of_them_and_not_the_other_way_round() -> None:
    backend = Backend()
    cache = cached(backend)
    cache.get("x", {"a"})

    whole = cache.get("x")

    assert cache.get("x", {"c"}).data == {"c": "2"}
    assert whole.data == cache.get("x").data == dict.fromkeys("abc", "2")


def test_get_many_asks_for_what_is_missing_only() -> None:
    backend = Backend("x", "y", "z")
    cache = cached(backend)
    cache.get("y", {"a"})

    answers = cache.get_many({path: {"a"} for path in "xyz"} | {"x?ttl=soon": {"a"}})

    assert backend.calls[1:] == [{"x": {"a"}, "z": {"a"}}]
    assert isinstance(answers.pop("x?ttl=soon"), ConfigException)
    assert [answer.version for answer in answers.values() if isinstance(answer, ConfigData)] == [
        "1",
        "2",
        "2",
    ]


def test_known_locations_are_one_batch_and_the_others_are_grouped_by_the_provider() -> None:
    cache = cached(Backend(*"uvwxyz"))
    cache.get_many({"u": {"a"}, "v": {"a"}})

    batches = cache.batches(["u", "w", "w?ttl=5", "x", "v", "y", "z?ttl=bad"])

    assert batches == [["u", "v"], ["w", "w?ttl=5", "x"], ["y", "z?ttl=bad"]]
    assert cache.batches(["u"]) == [["u"]]


def test_a_transformer_is_answered_from_memory_the_second_time() -> None:
    backend = Backend(*"uvwxyz")
    transformer = ConfigTransformer({"it": cached(backend)})
    config = {path: f"${{it:{path}:a?ttl=5000}}" for path in "uvwxyz"}

    first = transformer.transform(config, strict=True)
    made = len(backend.calls)
    second = transformer.transform(config, strict=True)

    assert first.data == second.data
    assert len(backend.calls) == made


def test_a_missing_path_is_remembered_briefly() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock, negative_ttl=timedelta(seconds=2))

    for _ in range(3):
        assert code(lambda: cache.get("absent", {"a"})) is PathNotFound
    clock.advance(2)
    backend.paths.add("absent")

    assert cache.get("absent", {"a"}).data == {"a": "2"}


def test_a_missing_key_is_remembered_briefly_and_its_neighbour_for_its_ttl() -> None:
    backend, clock = Backend(), FakeClock()
    cache = cached(backend, clock)

    for _ in range(3):
        assert cache.get("x", {"a", "absent"}).data == {"a": "1"}
    clock.advance(1)

    assert cache.get("x", {"a"}).data == {"a": "1"}
    assert cache.get("x", {"a", "absent"}).data == {"a": "2"}
    assert len(backend.calls) == 2


def test_a_refused_key_is_remembered_briefly_and_takes_no_neighbour_with_it() -> None:
    backend = Backend()
    backend.refused = {"b"}
    cache = cached(backend)
    cache.get("x", {"a"})

    asked: list[set[str]] = [{"b"}, {"b"}, {"b", "a"}, {"a"}]
    codes = [code(partial(cache.get, "x", keys)) for keys in asked]

    assert codes == [LookupDenied, LookupDenied, LookupDenied, None]
    assert len(backend.calls) == 2


def test_a_remembered_error_collects_no_traceback() -> None:
    cache = cached(Backend())
    errors = []

    for _ in range(3):
        with pytest.raises(PathNotFound, match="nothing at 'absent'") as caught:
            cache.get("absent")
        errors.append(caught.value)

    assert len({id(error) for error in errors}) == 3


@pytest.mark.parametrize("path", ["secret", "SECRET", "Secret?ttl=1000", None])
def test_an_invalidated_location_is_forgotten_in_every_spelling(path: str | None) -> None:
    backend = Spelling("secret", "other")
    cache = cached(backend)
    cache.get_many({"secret": {"a"}, "other": {"a"}})

    cache.invalidate(path)

    assert cache.get("secret", {"a"}).data == {"a": "2"}
    assert cache.get("other", {"a"}).data == {"a": "1" if path else "3"}


def test_spellings_that_the_settings_make_one_share_what_was_fetched() -> None:
    backend = Spelling("secret")
    transformer = ConfigTransformer({"it": cached(backend)})
    typed = {"a": "${it:secret:a}", "b": "${it:SECRET:b}", "c": "${it:Secret?ttl=5000:c}"}

    results = [transformer.transform({key: typed[key] for key in keys}) for keys in ("abc", "cba")]

    assert [result.data for result in results] == [{"a": "1", "b": "1", "c": "1"}] * 2
    assert len(backend.calls) == 1


def test_what_is_over_is_dropped_so_that_changing_paths_do_not_pile_up() -> None:
    backend, clock = Backend(*map(str, range(1000))), FakeClock()
    cache = cached(backend, clock, max_stale=MINUTE)
    sizes = set()

    for number in range(1000):
        cache.get(str(number), {"a"})
        code(partial(cache.get, f"absent {number}"))
        clock.advance(10)
        sizes.add(len(cache._memory))

    assert max(sizes) <= 14
