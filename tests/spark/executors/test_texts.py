"""What the driver does for its executors, and each process for itself: without Spark."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from spark.executors.counted import Backend

from configproviders.errors import ConfigException, KeyNotFound, LookupFailed, UnresolvedError
from configproviders.spark.executors.texts import CachedTexts
from configproviders.testing import CANARY

USER, PASSWORD = "${counted:db:user}", "${counted:db:password}"
URL = "jdbc:x?user=${counted:db:user}&password=${counted:db:password}"


@pytest.fixture
def backend(tmp_path: Path) -> Backend:
    backend = Backend(tmp_path / "backend")
    backend.put("db", user="orders", password=CANARY)
    return backend


@pytest.fixture
def texts(backend: Backend) -> Iterator[CachedTexts]:
    opened = CachedTexts({}, {"counted": backend.provider()})
    yield opened
    opened.close()


def test_what_several_texts_want_of_one_place_is_fetched_once(
    texts: CachedTexts, backend: Backend
) -> None:
    texts.add({"a": USER, "b": PASSWORD, "c": URL})

    values = [texts.resolve(text).value for text in (USER, PASSWORD, URL)]

    assert values == ["orders", CANARY, f"jdbc:x?user=orders&password={CANARY}"]
    assert backend.fetches() == ["db password,user"]


def test_the_secrets_of_a_text_come_apart_from_what_stands_around_them(texts: CachedTexts) -> None:
    assert texts.resolve(URL).secrets == ("orders", CANARY)
    assert texts.resolve("plain").secrets == ()


def test_texts_that_belong_together_are_fetched_together_unasked(
    texts: CachedTexts, backend: Backend
) -> None:
    texts.resolve(USER, (USER, PASSWORD))
    texts.resolve(PASSWORD, (USER, PASSWORD))

    assert backend.fetches() == ["db password,user"]


def test_a_key_that_is_not_there_does_not_keep_its_neighbours_from_the_cache(
    backend: Backend,
) -> None:
    texts = CachedTexts({}, {"counted": backend.provider()})
    together = (USER, "${counted:db:no}")

    values = {texts.resolve(USER, together).value for _ in range(3)}

    assert values == {"orders"}
    assert backend.fetches() == ["db no,user"]


def test_a_refused_version_is_fetched_once_however_many_refuse_it(
    texts: CachedTexts, backend: Backend
) -> None:
    texts.add({"a": USER, "b": PASSWORD})
    old = [(text, texts.resolve(text).version) for text in (USER, PASSWORD)]
    backend.fetches()
    backend.put("db", user="orders", password="new")
    start = threading.Barrier(16)

    def fail(number: int) -> str:
        text, version = old[number % 2]
        start.wait()
        texts.refuse(text, version)
        return texts.resolve(text).value

    with ThreadPoolExecutor(16) as threads:
        values = set(threads.map(fail, range(16)))

    assert values == {"orders", "new"}
    assert len(backend.fetches()) == 1


def test_a_value_that_stays_the_same_is_refused_once_too(
    texts: CachedTexts, backend: Backend
) -> None:
    first = texts.resolve(PASSWORD).version

    for _ in range(3):
        texts.refuse(PASSWORD, first)
        texts.resolve(PASSWORD)

    assert len(backend.fetches()) == 2
    assert texts.resolve(PASSWORD).version != first


def test_a_version_says_nothing_of_its_value(backend: Backend) -> None:
    versions = set()
    for _ in range(2):
        texts = CachedTexts({}, {"counted": backend.provider()})
        versions |= {texts.resolve(PASSWORD).version, texts.resolve(PASSWORD).version}

    assert len(versions) == 2


def test_a_value_is_kept_for_the_ttl_that_is_left_of_it(backend: Backend) -> None:
    texts = CachedTexts({}, {"counted": backend.provider()}, ttl=timedelta(minutes=1))

    seconds = [
        texts.resolve(text).seconds
        for text in (USER, "${counted:db?ttl=5000:user}", f"{USER}${{counted:db?ttl=5000:user}}")
    ]

    assert [round(each, -1 if each > 9 else 0) for each in seconds] == [60, 5, 5]


def test_all_that_cannot_be_resolved_is_one_error_when_it_is_added(texts: CachedTexts) -> None:
    with pytest.raises(UnresolvedError) as caught:
        texts.add({"a": "${counted:no:x}", "b": f"{URL}${{counted:db:x}}", "c": "${who::x}"})

    keys = [(each.config_key, each.reference.text) for each in caught.value.unresolved]
    assert keys == [("a", "${counted:no:x}"), ("b", "${counted:db:x}"), ("c", "${who::x}")]
    assert CANARY not in str(caught.value)


def test_an_error_where_a_value_is_used_can_be_pickled(texts: CachedTexts) -> None:
    with pytest.raises(KeyNotFound) as missing:
        texts.resolve("${counted:db:x}")
    with pytest.raises(LookupFailed) as several:
        texts.resolve("${counted:db:x}${counted:no:y}")

    for caught in (missing.value, several.value):
        copy = pickle.loads(pickle.dumps(caught))
        assert (type(copy), str(copy)) == (type(caught), str(caught))
    assert str(missing.value) == "${counted:db:x}: no key 'x' at 'db'"
    assert str(several.value).endswith("; ${counted:no:y}: nothing at 'no'")


@pytest.mark.parametrize("ttl", [timedelta.max, timedelta(seconds=-1)])
def test_a_ttl_that_no_clock_measures_is_refused(ttl: timedelta) -> None:
    with pytest.raises(ConfigException, match="it must not be below 0 or above"):
        CachedTexts({}, ttl=ttl)
