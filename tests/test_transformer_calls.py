"""Which calls a plan comes to, and how many at the same time."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

import pytest

from configproviders import (
    ConfigData,
    ConfigException,
    ConfigTransformer,
    Location,
)
from configproviders.errors import (
    PathNotFound,
)
from configproviders.testing import StaticConfigProvider


class Batching(StaticConfigProvider):
    """Takes three paths in a call, and counts the calls."""

    def __init__(self, paths: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(paths)
        self.batched: list[list[str]] = []

    def batches(self, paths: Collection[str]) -> list[list[str]]:
        ordered = sorted(paths)
        return [ordered[at : at + 3] for at in range(0, len(ordered), 3)]

    def get_many(
        self, lookups: Mapping[str, Collection[str] | None]
    ) -> Mapping[str, ConfigData | ConfigException]:
        self.batched.append(sorted(lookups))
        return super().get_many(lookups)


def test_lookups_go_together_as_their_provider_batches_them() -> None:
    provider = Batching({str(number): {"k": f"v{number}"} for number in range(7)})
    config = {f"c{number}": f"${{p:{number}:k}}" for number in range(8)}

    result = ConfigTransformer({"p": provider}).plan(config)
    answers = ConfigTransformer({"p": provider}).fetch(result)

    assert sorted(provider.batched) == [["0", "1", "2"], ["3", "4", "5"], ["6", "7"]]
    assert isinstance(answers[Location("p", "7")], PathNotFound)
    assert [each.path for each, answer in answers.items() if isinstance(answer, ConfigData)] == [
        str(number) for number in range(7)
    ]


@pytest.mark.parametrize("batches", [[], [["0"]], [["0", "1"], ["1"]], [["0", "1", "2"]]])
def test_a_provider_that_batches_wrong_is_asked_one_by_one(batches: list[list[str]]) -> None:
    class Wrong(Batching):
        def batches(self, paths: Collection[str]) -> list[list[str]]:
            return batches

    provider = Wrong({"0": {"k": "a"}, "1": {"k": "b"}})

    data = ConfigTransformer({"p": provider}).transform({"a": "${p:0:k}", "b": "${p:1:k}"}).data

    assert data == {"a": "a", "b": "b"}
    assert sorted(provider.batched) == [["0"], ["1"]]


def test_lookups_that_wait_run_at_the_same_time_and_no_more_than_allowed() -> None:
    together = threading.Barrier(4, timeout=20)

    class Waiting(StaticConfigProvider):
        waits = True

        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            together.wait()  # Nobody goes on before four are here.
            return super().get(path, keys)

    provider = Waiting({str(number): {"k": "v"} for number in range(8)})
    config = {f"c{number}": f"${{p:{number}:k}}" for number in range(8)}

    result = ConfigTransformer({"p": provider}, concurrency=4).transform(config)

    assert set(result.data.values()) == {"v"}
    assert not [each for each in threading.enumerate() if each.name.startswith("lookup")]


def test_a_provider_that_answers_at_once_is_asked_in_the_thread_of_the_caller() -> None:
    class AtOnce(StaticConfigProvider):
        waits = False

        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return ConfigData({"k": threading.current_thread().name})

    result = ConfigTransformer({"p": AtOnce({})}).transform({"a": "${p:1:k}", "b": "${p:2:k}"})

    assert set(result.data.values()) == {threading.current_thread().name}


def test_a_concurrency_below_one_is_an_error() -> None:
    with pytest.raises(ConfigException, match=r"lookup\.concurrency is 0: write 1 or more"):
        ConfigTransformer({}, concurrency=0)
