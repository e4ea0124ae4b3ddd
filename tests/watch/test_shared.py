"""``subscribe`` of any provider, without a watcher of one's own."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from datetime import timedelta
from queue import Queue

import pytest
from watched import Changing

from configproviders import ConfigChangeCallback, ConfigData

SECONDS = 20


def changing(**values: str) -> Changing:
    provider = Changing(**values)
    provider.poll_interval = timedelta(milliseconds=50)
    return provider


def test_a_provider_that_can_only_be_asked_is_polled() -> None:
    told: Queue[tuple[str, ConfigData]] = Queue()
    with changing(password="p0") as provider:
        provider.subscribe("db", {"password"}, lambda path, data: told.put((path, data)))

        provider.put(password="p1")

        path, data = told.get(timeout=SECONDS)
        assert (path, data.data) == ("db", {"password": "p1"})


def test_two_providers_of_a_class_are_told_apart() -> None:
    told: Queue[str] = Queue()
    with changing(k="a0") as one, changing(k="b0") as other:
        one.subscribe("db", (), lambda _path, data: told.put(data.data["k"]))
        other.subscribe("db", (), lambda _path, data: told.put(data.data["k"]))

        one.put(k="a1")
        first = told.get(timeout=SECONDS)
        other.put(k="b1")

        assert (first, told.get(timeout=SECONDS)) == ("a1", "b1")


def test_the_last_that_ends_takes_the_threads_along() -> None:
    before = set(threading.enumerate())
    one, other = changing(k="a0"), changing(k="b0")

    def callback(path: str, data: ConfigData, /) -> None:
        """Is never called."""

    one.subscribe("db", (), callback)
    other.subscribe("db", {"k"}, callback)
    one.unsubscribe("db", {"k"}, callback)  # There is none.
    one.unsubscribe("db", (), callback)
    running = set(threading.enumerate()) - before
    other.close()

    assert running
    assert set(threading.enumerate()) == before


def test_subscribing_again_after_all_ended_works() -> None:
    told: Queue[ConfigData] = Queue()
    provider = changing(k="0")
    for number in (1, 2):
        provider.subscribe("db", (), lambda _path, data: told.put(data))
        provider.put(k=str(number))
        assert told.get(timeout=SECONDS).data == {"k": str(number)}
        provider.unsubscribe_all()


class Extending(Changing):
    """Does something of its own besides, as a subclass may."""

    def subscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        super().subscribe(path, keys, callback)

    def unsubscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        super().unsubscribe(path, keys, callback)


def test_a_provider_that_extends_subscribe_begins_and_ends_as_any_other() -> None:
    before = set(threading.enumerate())
    told: Queue[ConfigData] = Queue()
    provider = Extending(k="0")
    provider.poll_interval = timedelta(milliseconds=50)

    def callback(_path: str, data: ConfigData, /) -> None:
        told.put(data)

    provider.subscribe("db", (), callback)
    provider.put(k="1")
    data = told.get(timeout=SECONDS).data
    provider.unsubscribe("db", (), callback)

    assert data == {"k": "1"}
    assert set(threading.enumerate()) == before


def test_closing_a_provider_while_somebody_subscribes_leaves_nothing() -> None:
    before = set(threading.enumerate())
    provider = changing(k="0")
    asked, go_on = threading.Event(), threading.Event()

    def slow(lookups: Mapping[str, object]) -> dict[str, ConfigData]:
        asked.set()
        go_on.wait(SECONDS)
        return {path: ConfigData({"k": "0"}) for path in lookups}

    provider.refresh = slow  # type: ignore[method-assign]  # It takes its time.
    thread = threading.Thread(
        target=lambda: provider.subscribe("db", (), lambda _path, _data: None)
    )
    thread.start()
    asked.wait(SECONDS)

    provider.close()
    go_on.set()
    thread.join(SECONDS)

    assert set(threading.enumerate()) == before


def test_a_subscription_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    provider = changing(k="0")

    def interrupted(lookups: object) -> dict[str, ConfigData]:
        raise KeyboardInterrupt

    monkeypatch.setattr(provider, "refresh", interrupted)

    with pytest.raises(KeyboardInterrupt):
        provider.subscribe("db", (), lambda _path, _data: None)
    assert set(threading.enumerate()) == before
