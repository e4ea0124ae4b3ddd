"""Options bound late, without Spark: what they give while the secret changes behind them."""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Collection, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from configproviders import ConfigData, ConfigException, ConfigProvider, UnresolvedError, Watcher
from configproviders.errors import PathNotFound
from configproviders.spark import LiveConfigs, LiveOptions
from configproviders.testing import CANARY

SOON = partial(Watcher, poll_interval=timedelta(milliseconds=50), settle=timedelta(0))
CONFIGS = {"user": "${db:orders:user}", "password": "${db:orders:password}", "fetchsize": 100}


class Database(ConfigProvider):
    """A secret that changes, and the calls for it."""

    def __init__(self) -> None:
        self.content = {"user": "u0", "password": f"{CANARY}-0"}
        self.forgotten: list[str | None] = []
        self.calls = 0

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        self.calls += 1
        content = self.content
        if not content:
            raise PathNotFound(f"nothing at {path!r}")
        return ConfigData({key: content[key] for key in keys or content if key in content})

    def rotate(self, number: int) -> None:
        self.content = {"user": f"u{number}", "password": f"{CANARY}-{number}"}

    def invalidate(self, path: str | None = None) -> None:
        self.forgotten.append(path)


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def live(database: Database) -> Iterator[LiveConfigs]:
    with LiveConfigs(providers={"db": database}, watcher=SOON) as live:
        yield live


@pytest.fixture
def slow(database: Database) -> Iterator[LiveConfigs]:
    """Have a watcher that will not look again while the test runs."""
    with LiveConfigs(providers={"db": database}) as live:
        yield live


def until(options: LiveOptions, revision: int) -> None:
    end = time.monotonic() + 20
    while options.revision < revision:
        assert time.monotonic() < end, "the change never came"
        time.sleep(0.005)


def test_a_call_gives_the_values_of_now_and_asks_no_backend(
    slow: LiveConfigs, database: Database
) -> None:
    options = slow.options(CONFIGS)
    calls = database.calls

    given = [options() for _ in range(100)]

    expected = {"user": "u0", "password": f"{CANARY}-0", "fetchsize": "100"}
    assert all(each == expected for each in given)
    assert database.calls == calls
    assert given[0] is not given[1]


def test_a_change_comes_by_itself(live: LiveConfigs, database: Database) -> None:
    options = live.options(CONFIGS)

    database.rotate(1)
    until(options, 1)

    assert options() == {"user": "u1", "password": f"{CANARY}-1", "fetchsize": "100"}


def test_user_and_password_are_always_of_one_version(live: LiveConfigs, database: Database) -> None:
    options = live.options(CONFIGS)
    mixed = []

    for number in range(1, 50):
        database.rotate(number)
        if number % 7 == 0:
            options.invalidate()
        given = options()
        if given["user"][1:] != given["password"].rpartition("-")[2]:
            mixed.append(given)
    until(options, options.revision)

    assert mixed == []


def test_who_was_refused_gets_the_values_of_now_at_once(
    slow: LiveConfigs, database: Database
) -> None:
    options = slow.options(CONFIGS)
    database.rotate(1)

    options.invalidate()

    assert options()["user"] == "u1"
    assert options.revision == 1
    assert database.forgotten == []  # There was another already.


def test_what_is_still_the_refused_value_is_forgotten_and_asked_for_again(
    slow: LiveConfigs, database: Database
) -> None:
    options = slow.options(CONFIGS)

    options.invalidate()

    assert database.forgotten == ["orders"]


def test_of_several_that_were_refused_at_once_one_asks(
    slow: LiveConfigs, database: Database
) -> None:
    options = slow.options(CONFIGS)
    database.rotate(1)

    threads = [threading.Thread(target=partial(options.invalidate, revision=0)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert options.revision == 1
    assert database.forgotten == []


def test_what_changes_after_a_refusal_still_comes_by_itself(
    live: LiveConfigs, database: Database
) -> None:
    options = live.options(CONFIGS)
    database.rotate(1)
    options.invalidate()

    database.rotate(2)
    until(options, 2)

    assert options()["user"] == "u2"


def test_the_last_values_stay_when_the_secret_is_deleted(
    live: LiveConfigs, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    options = live.options(CONFIGS)
    other = live.options({"user": "${db:other:user}"})
    database.content = {}
    end = time.monotonic() + 20
    while caplog.text.count("is gone") < 2 and time.monotonic() < end:
        time.sleep(0.005)

    with pytest.raises(UnresolvedError):
        options.invalidate()

    assert options()["user"] == "u0"
    assert other.revision == 0
    database.rotate(1)
    until(options, 1)
    assert options()["user"] == "u1"


def test_a_provider_may_answer_more_keys_than_it_was_asked_for() -> None:
    class Generous(Database):
        def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
            return super().get(path, None)

    database = Generous()
    with LiveConfigs(providers={"db": database}, watcher=SOON) as live:
        options = live.options({"password": "${db:orders:password}"})
        database.rotate(1)
        until(options, 1)

        assert options()["password"] == f"{CANARY}-1"


def test_options_that_differ_in_plain_entries_share_what_is_watched(
    live: LiveConfigs, database: Database
) -> None:
    first = live.options({"password": "${db:orders:password}", "dbtable": "a"})
    calls = database.calls

    second = live.options({"password": "${db:orders:password}", "dbtable": "b", "fetchsize": 10})

    assert database.calls == calls
    assert first() == {"password": f"{CANARY}-0", "dbtable": "a"}
    assert second() == {"password": f"{CANARY}-0", "dbtable": "b", "fetchsize": "10"}


def test_all_are_asked_though_one_cannot_be_had(database: Database) -> None:
    other = Database()
    with LiveConfigs(providers={"gone": other, "db": database}) as live:
        live.options({"a": "${gone:orders:user}"})
        options = live.options({"b": "${db:orders:user}"})
        other.content = {}
        database.rotate(1)

        with pytest.raises(UnresolvedError):
            live.invalidate()

        assert options()["b"] == "u1"


def test_the_same_options_are_asked_for_once(live: LiveConfigs, database: Database) -> None:
    live.options(CONFIGS)
    calls = database.calls

    live.options(CONFIGS)

    assert database.calls - calls <= 1  # What the watcher asks meanwhile.


def test_options_without_a_reference_are_not_watched(live: LiveConfigs) -> None:
    options = live.options({"header": True})

    options.invalidate()

    assert options() == {"header": "true"}


def test_a_reference_without_a_value_is_an_error_when_the_options_are_made(
    live: LiveConfigs,
) -> None:
    with pytest.raises(UnresolvedError, match="passwort"):
        live.options({"password": "${db:orders:passwort}"})


def test_options_that_are_bound_late_do_not_leave_the_driver(live: LiveConfigs) -> None:
    with pytest.raises(TypeError, match="stay in the driver"):
        pickle.dumps(live.options(CONFIGS))


def test_an_option_that_would_show_its_value_is_refused(live: LiveConfigs) -> None:
    with pytest.raises(ConfigException, match="url"):
        live.options({"url": "jdbc:postgresql://db/x?password=${db:orders:password}"})


def test_providers_of_a_builder_are_refused(live: LiveConfigs) -> None:
    from pyspark.sql import SparkSession

    with pytest.raises(ConfigException, match="in the configs of LiveConfigs"):
        live.create_session(SparkSession.builder.config("config.providers", "file"))


def test_providers_are_those_that_the_configs_declare(tmp_path: Path) -> None:
    file = tmp_path / "s.properties"
    file.write_text("password=one\n")
    configs = {"config.providers": "secrets", "config.providers.secrets.class": "file"}

    with LiveConfigs(configs, watcher=SOON) as live:
        options = live.options({"password": f"${{secrets:{file}:password}}"})
        file.write_text("password=two\n")
        until(options, 1)

    assert options() == {"password": "two"}


def test_closed_it_keeps_the_last_values_and_asks_nobody(database: Database) -> None:
    with LiveConfigs(providers={"db": database}, watcher=SOON) as live:
        options = live.options(CONFIGS)
    database.rotate(1)

    live.close()

    assert options()["user"] == "u0"
    with pytest.raises(ConfigException, match="closed"):
        live.options({"user": "${db:orders:user}"})


def test_no_value_is_shown(
    live: LiveConfigs, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    options = live.options(CONFIGS)

    database.rotate(1)
    options.invalidate()

    assert "user, password: there are new values" in caplog.text
    assert CANARY not in caplog.text + repr(options) + repr(options()) + repr(options._config._now)
