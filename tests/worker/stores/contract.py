"""What every store owes, as test cases; a subclass says in ``store`` how one is made."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from configproviders.worker.errors import BadRequest
from configproviders.worker.status import TargetState
from configproviders.worker.stores import Store, StoredConnector

TEXTS = {
    "empty": "",
    "reference": "${vault:secret/data/db:password} and $<file:/a:b>",
    "unicode": "pässwörd-密码-🔑",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "upper": "A",
    "lower": "a",
    "slash": "a/b%2Fc",
    "blanks": "  a \t ",
    "quotes": "'\";--",
    "lines": "a\r\nb\n",
    "nul": "a\0b",
    "nul_alone": "\0",
    "signs": "\u2028\ufeff\u202e\U0010ffff",
    "long": "x" * 300_000,
}


def connector(
    name: str,
    config: Mapping[str, str] | None = None,
    target: TargetState = TargetState.STARTED,
) -> StoredConnector:
    """Return a connector with something in its config."""
    return StoredConnector(name, {"name": name} if config is None else config, target)


class StoreContract:
    """The cases; ``store`` is an empty one, which the fixture closes."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store; a subclass must give it."""
        raise NotImplementedError

    def test_a_new_one_is_empty(self, store: Store) -> None:
        assert store.connectors() == []

    def test_what_was_put_is_there(self, store: Store) -> None:
        one = connector("orders", {"b": "1", "a": "${env:A}"}, TargetState.PAUSED)

        store.put(one)

        assert store.connectors() == [one]
        assert list(store.connectors()[0].config) == ["b", "a"]

    @pytest.mark.parametrize("target", TargetState)
    def test_every_target_is_kept(self, store: Store, target: TargetState) -> None:
        store.put(connector("orders", target=target))

        assert store.connectors()[0].target is target

    def test_putting_again_replaces_all_of_it(self, store: Store) -> None:
        store.put(connector("orders", {"a": "1", "b": "2"}))
        other = connector("orders", {"a": "3"}, TargetState.STOPPED)

        store.put(other)

        assert store.connectors() == [other]

    def test_they_come_in_the_order_in_which_they_were_first_put(self, store: Store) -> None:
        for name in ("b", "a", "c", "a"):
            store.put(connector(name))

        assert [each.name for each in store.connectors()] == ["b", "a", "c"]

    def test_one_that_was_deleted_and_put_again_comes_last(self, store: Store) -> None:
        for name in ("b", "a"):
            store.put(connector(name))

        store.delete("b")
        store.put(connector("b"))

        assert [each.name for each in store.connectors()] == ["a", "b"]

    def test_what_was_deleted_is_gone_and_the_rest_stays(self, store: Store) -> None:
        store.put(connector("a"))
        store.put(connector("b"))

        store.delete("a")

        assert store.connectors() == [connector("b")]

    def test_deleting_what_is_not_there_does_nothing(self, store: Store) -> None:
        store.put(connector("a"))

        store.delete("b")

        assert store.connectors() == [connector("a")]

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_any_text_arrives_unharmed(self, store: Store, text: str) -> None:
        one = connector(text, {text: text, "": text})

        store.put(one)

        assert store.connectors() == [one]

    def test_names_that_look_alike_are_different(self, store: Store) -> None:
        for text in TEXTS.values():
            store.put(connector(text))
        for text in TEXTS.values():
            store.delete(text)
            store.put(connector(text, {}))

        assert [each.name for each in store.connectors()] == list(TEXTS.values())

    @pytest.mark.parametrize("part", ["name", "key", "value"])
    def test_half_of_a_character_is_refused(self, store: Store, part: str) -> None:
        name, key, value = ("\ud800" if each == part else "a" for each in ("name", "key", "value"))

        with pytest.raises(BadRequest, match="lone surrogate") as caught:
            store.put(connector(name, {key: value}))

        str(caught.value).encode()
        assert store.connectors() == []

    def test_the_caller_may_change_what_it_gave_and_was_given(self, store: Store) -> None:
        config = {"a": "1"}
        store.put(connector("orders", config))
        given = store.connectors()

        config["a"] = "2"
        dict(given[0].config).clear()
        given.clear()

        assert store.connectors() == [connector("orders", {"a": "1"})]

    def test_any_thread_may_use_it(self, store: Store) -> None:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(store.put, connector("a")).result()

        assert store.connectors() == [connector("a")]

    def test_closing_twice_is_allowed(self, store: Store) -> None:
        with store as entered:
            assert entered is store

        store.close()
