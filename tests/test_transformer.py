from __future__ import annotations

import re
import time
from collections.abc import Collection
from datetime import timedelta

import pytest

from configproviders import (
    ConfigData,
    ConfigException,
    ConfigProvider,
    ConfigTransformer,
    Location,
    UnresolvedError,
)
from configproviders.errors import (
    KeyNotFound,
    LookupDenied,
    LookupFailed,
    PathNotFound,
    ProviderUnavailable,
    UnknownProvider,
)
from configproviders.testing import CANARY, StaticConfigProvider


class KafkaTestProvider(ConfigProvider):
    """The provider of Kafka's own ConfigTransformerTest."""

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        if path != "testPath":
            return ConfigData({"testKey": "testResultNoPath"}, None)
        values = {
            "testKey": "testResult",
            "testKeyWithTTL": "testResultWithTTL",
            "testIndirection": "${test:testPath:testResult}",
        }
        found = {key: values[key] for key in keys or () if key in values}
        return ConfigData(found, timedelta(milliseconds=1) if "testKeyWithTTL" in found else None)


@pytest.mark.parametrize(
    ("text", "expected", "ttls"),
    [
        ("${test:testPath:testKey}", "testResult", {}),
        ("${test:testPath:testKeyWithTTL}", "testResultWithTTL", {("test", "testPath"): 1}),
        (
            "hello, ${test:testPath:testKey}; goodbye, ${test:testPath:testKeyWithTTL}!!!",
            "hello, testResult; goodbye, testResultWithTTL!!!",
            {("test", "testPath"): 1},
        ),
        ("${test:testPath:missingKey}", "${test:testPath:missingKey}", {}),
        ("${test:testPath:testIndirection}", "${test:testPath:testResult}", {}),
        ("${test:testKey}", "testResultNoPath", {}),
        (
            "first ${test:testKey}; second ${test:testKey}",
            "first testResultNoPath; second testResultNoPath",
            {},
        ),
        (None, None, {}),
    ],
)
def test_what_kafka_s_own_test_expects(
    text: str | None, expected: str | None, ttls: dict[tuple[str, str], int]
) -> None:
    result = ConfigTransformer({"test": KafkaTestProvider()}).transform({"key": text})

    assert result.data == {"key": expected}
    assert result.ttls == {at: timedelta(milliseconds=ms) for at, ms in ttls.items()}


def test_kip_297_s_example_follows_one_level() -> None:
    file = StaticConfigProvider({"": {"bar": "hello", "baz": "world"}})

    result = ConfigTransformer({"file": file}).transform(
        {"foo": "${file:bar}", "bar": "${file:baz}"}
    )

    assert result.data == {"foo": "hello", "bar": "world"}


def test_a_provider_needs_no_more_than_get() -> None:
    class Smallest(ConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData({key: path.upper() for key in keys or ()})

    with Smallest() as provider:
        result = ConfigTransformer({"p": provider}).transform({"k": "${p:up:x}"})

    assert result.data == {"k": "UP"}


def test_each_location_is_asked_once_with_all_its_keys() -> None:
    one, two = (StaticConfigProvider({"x": {"a": "1", "b": "2"}, "y": {"a": "3"}}) for _ in "12")

    ConfigTransformer({"one": one, "two": two}).transform(
        {"p": "${one:x:a}${one:x:b}", "q": "${one:x:a} ${two:x:a}", "r": "$<one:y:a>"}
    )

    assert sorted(one.calls, key=str) == [
        ("x", frozenset({"a", "b"})),
        ("y", frozenset({"a"})),
    ]
    assert two.calls == [("x", frozenset({"a"}))]


def test_same_path_in_two_providers_keeps_two_ttls() -> None:
    slow = StaticConfigProvider({"x": {"k": "1"}}, ttl=timedelta(hours=1))
    fast = StaticConfigProvider({"x": {"k": "2"}}, ttl=timedelta(0))

    result = ConfigTransformer({"slow": slow, "fast": fast}).transform(
        {"a": "${slow:x:k}", "b": "${fast:x:k}"}
    )

    assert result.ttls == {
        Location("slow", "x"): timedelta(hours=1),
        Location("fast", "x"): timedelta(0),
    }


def test_a_negative_ttl_counts_as_none() -> None:
    provider = StaticConfigProvider({"": {"k": "v"}}, ttl=timedelta(seconds=-1))

    assert ConfigTransformer({"p": provider}).transform({"k": "${p:k}"}).ttls == {}


def test_unresolved_references_stay_as_typed_and_are_listed_in_order() -> None:
    provider = StaticConfigProvider({"": {"password": "p"}})
    configs = {"a": "${p:pasword}", "b": "${nobody:x:y}", "c": "${p:password}", "d": "plain"}

    result = ConfigTransformer({"p": provider}).transform(configs)

    assert result.data == configs | {"c": "p"}
    assert [(each.config_key, each.reference.text) for each in result.unresolved] == [
        ("a", "${p:pasword}"),
        ("b", "${nobody:x:y}"),
    ]
    assert isinstance(result.unresolved[0].error, KeyNotFound)
    assert "did you mean 'password'?" in str(result.unresolved[0].error)
    assert isinstance(result.unresolved[1].error, UnknownProvider)
    assert "there are: 'p'" in str(result.unresolved[1].error)


def test_strict_names_all_of_them_at_once() -> None:
    transformer = ConfigTransformer({"p": StaticConfigProvider({"": {"password": CANARY}})})

    with pytest.raises(UnresolvedError) as caught:
        transformer.transform({"a": "${p:x}${p:password}", "b": "${q:x}"}, strict=True)

    assert [each.config_key for each in caught.value.unresolved] == ["a", "b"]
    assert "a: ${p:x}: no key 'x'" in str(caught.value)
    assert "b: ${q:x}: no config provider named 'q'" in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("error", [ProviderUnavailable("down"), LookupDenied("refused")])
def test_a_failing_or_refusing_provider_is_one_error_after_all_others_were_asked(
    error: ConfigException,
) -> None:
    class Failing(ConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            raise error

    healthy = StaticConfigProvider({"x": {"k": "v"}})

    with pytest.raises(UnresolvedError) as caught:
        ConfigTransformer({"bad": Failing(), "good": healthy}).transform(
            {"a": "${bad:x:k}", "b": "${good:x:k}", "c": "${bad:y:k}", "d": "${good:x:no}"}
        )

    assert [each.config_key for each in caught.value.unresolved] == ["a", "c", "d"]
    assert caught.value.__cause__ is error
    assert len(healthy.calls) == 1


def test_a_missing_path_is_a_failure_of_the_lookup() -> None:
    with pytest.raises(UnresolvedError) as caught:
        ConfigTransformer({"p": StaticConfigProvider({})}).transform({"a": "${p:x:k}"})

    assert isinstance(caught.value.unresolved[0].error, PathNotFound)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"k": "v"},
        ConfigData({"k": 1}),  # type: ignore[dict-item]  # On purpose.
        ConfigData({}, errors=[CANARY]),  # type: ignore[arg-type]  # On purpose.
        ConfigData({}, errors={"k": RuntimeError(CANARY)}),  # type: ignore[dict-item]  # On purpose.
    ],
)
def test_an_answer_that_is_no_config_data_of_text_is_the_provider_s_failure(
    answer: ConfigData,
) -> None:
    class Odd(ConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return answer

    with pytest.raises(UnresolvedError, match=r"a: \$\{p:k\}: the provider returned "):
        ConfigTransformer({"p": Odd()}).transform({"a": "${p:k}"})


def test_an_exception_of_a_plugin_is_ours_with_the_cause_kept_and_its_text_left_out() -> None:
    class Buggy(ConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            raise RuntimeError(CANARY)

    with pytest.raises(UnresolvedError) as caught:
        ConfigTransformer({"p": Buggy()}).transform({"a": "${p:k}"})

    error = caught.value.unresolved[0].error
    assert isinstance(error, LookupFailed)
    assert str(error) == "Buggy raised RuntimeError"
    assert isinstance(error.__cause__, RuntimeError)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("available", [7, [None]])
def test_available_keys_that_are_no_names_cost_the_hint_and_nothing_else(
    available: Collection[str],
) -> None:
    class Odd(ConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData({}, available=available)

    (unresolved,) = ConfigTransformer({"p": Odd()}).transform({"a": "${p:x:k}"}).unresolved

    assert str(unresolved.error) == "no key 'k' at 'x'"


def test_config_keys_with_a_value_from_a_stale_location_are_known_and_others_are_not() -> None:
    class Stale(StaticConfigProvider):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData(super().get(path, keys).data, stale=path == "old")

    provider = Stale({"old": {"k": "v"}, "new": {"k": "w"}})
    config = {"a": "${p:new:k}", "b": "${p:old:k}${p:old:k}", "c": "${p:old:no}", "d": "${q:old:k}"}

    result = ConfigTransformer({"p": provider}).transform(config)

    assert result.stale == {Location("p", "old")}
    assert result.stale_keys == ["b"]


class Located(StaticConfigProvider):
    """Takes ``a/x`` and ``x`` for one path, and the key ``bad`` for an error."""

    def locate(self, path: str, key: str) -> tuple[str, str]:
        if key == "bad":
            raise ConfigException("a bad key can mean nothing")
        return path.removeprefix("a/"), key.lower()


def test_references_that_mean_one_location_are_fetched_together() -> None:
    provider = Located({"x": {"k": "v", "j": "w"}})

    result = ConfigTransformer({"p": provider}).transform(
        {"a": "${p:a/x:K}", "b": "${p:x:k}-${p:x:J}", "c": "${p:x:no}"}
    )

    assert provider.calls == [("x", frozenset({"k", "j", "no"}))]
    assert result.data == {"a": "v", "b": "v-w", "c": "${p:x:no}"}


def test_a_reference_that_cannot_be_located_is_a_failure_of_its_own() -> None:
    provider = Located({"x": {"k": "v", "bad": "w"}})

    with pytest.raises(UnresolvedError, match=r"a: .* a bad key can mean nothing"):
        ConfigTransformer({"p": provider}).transform({"a": "${p:x:bad}", "b": "${p:x:k}"})

    assert provider.calls == [("x", frozenset({"k"}))]


def test_an_exception_of_locate_is_ours_and_the_others_are_asked() -> None:
    class Buggy(StaticConfigProvider):
        def locate(self, path: str, key: str) -> tuple[str, str]:
            raise IndexError(CANARY)

    healthy = StaticConfigProvider({"x": {"k": "v"}})
    transformer = ConfigTransformer({"bad": Buggy({}), "good": healthy})

    with pytest.raises(UnresolvedError, match=r"a: \$\{bad:x:k\}: Buggy raised IndexError"):
        transformer.transform({"a": "${bad:x:k}", "b": "${good:x:k}"})

    assert len(healthy.calls) == 1


def test_a_thousand_missing_keys_among_a_thousand_are_named_without_delay() -> None:
    provider = StaticConfigProvider({"": {f"there-{n}": "v" for n in range(1000)}})
    configs = {f"c{n}": f"${{p:their-{n}}}" for n in range(1000)}
    start = time.process_time()

    result = ConfigTransformer({"p": provider}).transform(configs)

    assert len(result.unresolved) == 1000
    assert "did you mean 'there-" in str(result.unresolved[0].error)
    assert time.process_time() - start < 10  # A hint for each would take minutes.


def test_the_plan_asks_nobody_and_says_what_would_be_asked() -> None:
    provider = StaticConfigProvider({})

    plan = ConfigTransformer({"p": provider}).plan({"a": "${p:x:k}", "b": "${q:y:j}", "c": "z"})

    assert provider.calls == []
    assert plan.lookups == {Location("p", "x"): {"k"}}
    assert [(use.config_key, use.location, use.key) for use in plan.uses()] == [
        ("a", Location("p", "x"), "k"),
        ("b", Location("q", "y"), "j"),
    ]


def test_the_result_is_a_fresh_dict_and_only_text_is_scanned() -> None:
    configs = {"n": 7, "t": "${p:k}", "b": True}

    result = ConfigTransformer({"p": StaticConfigProvider({"": {"k": "v"}})}).transform(configs)  # type: ignore[type-var]  # Other types pass.

    assert result.data == {"n": 7, "t": "v", "b": True}
    assert configs["t"] == "${p:k}"


def test_a_pattern_of_the_user_is_used() -> None:
    transformer = ConfigTransformer(
        {"p": StaticConfigProvider({"": {"k": "v"}})},
        re.compile(r"%\((?P<provider>\w+)/(?P<key>\w+)\)"),
    )

    assert transformer.transform({"a": "%(p/k) ${p:k}"}).data == {"a": "v ${p:k}"}


def test_a_pattern_without_groups_is_an_error_at_once() -> None:
    with pytest.raises(ConfigException, match="no groups named"):
        ConfigTransformer({}, re.compile("x"))


def test_no_repr_shows_a_value() -> None:
    result = ConfigTransformer({"p": StaticConfigProvider({"": {"k": CANARY}})}).transform(
        {"a": "${p:k}"}
    )

    assert CANARY not in repr(result)
    assert CANARY not in repr(ConfigData({"k": CANARY}))


def test_empty_parts_are_looked_up_like_any_other() -> None:
    provider = StaticConfigProvider({"": {"": "nothing"}})

    result = ConfigTransformer({"": provider}).transform({"a": "${:}${::}"})

    assert result.data == {"a": "nothingnothing"}


def test_a_ttl_that_is_no_timedelta_is_an_error_of_the_author() -> None:
    with pytest.raises(TypeError, match="ttl is a timedelta or None, not int"):
        ConfigData({}, 5000)  # type: ignore[arg-type]  # The mistake this test is about.


def test_a_locate_that_returns_no_text_is_an_error_that_says_so() -> None:
    class Odd(StaticConfigProvider):
        def locate(self, path: str, key: str) -> tuple[str, str]:
            return [path], None  # type: ignore[return-value]  # Wrong on purpose.

    with pytest.raises(UnresolvedError, match=r"Odd\.locate returned what is no path and key"):
        ConfigTransformer({"p": Odd({})}).transform({"a": "${p:x:y}"})
