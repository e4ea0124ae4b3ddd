from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from pathlib import Path
from queue import Queue

import pytest
from watched import Batching, Changing

from configproviders import (
    ConfigChangeCallback,
    ConfigData,
    ConfigException,
    ConfigTransformer,
    FileConfigProvider,
    Location,
    Watcher,
)
from configproviders.errors import ProviderUnavailable
from configproviders.provider import Changed
from configproviders.testing import CANARY
from configproviders.watch import ConfigChange

DB = Location("it", "db")
SECONDS = 20
SHORT = timedelta(milliseconds=50)
NEVER = timedelta(days=1)


@pytest.fixture
def provider() -> Changing:
    return Changing(user="u0", password="p0")


@pytest.fixture
def watcher(provider: Changing) -> Iterator[Watcher]:
    """Watch by polling, and often."""
    with Watcher({"it": provider}, poll_interval=SHORT, settle=SHORT) as watcher:
        yield watcher


def test_a_config_is_told_which_of_its_keys_are_affected(
    provider: Changing, watcher: Watcher
) -> None:
    told: Queue[ConfigChange] = Queue()
    configs = {"url": "x", "user": "${it:db:user}", "jaas": "u=${it:db:user} p=${it:db:password}"}
    plan = ConfigTransformer({"it": provider}).plan(configs)

    watcher.watch(plan, told.put)
    provider.put(user="u0", password="p1")
    first = told.get(timeout=SECONDS)
    provider.put(user="u1", password="p1")

    assert first.config_keys == ("jaas",)
    assert told.get(timeout=SECONDS).config_keys == ("user", "jaas")
    assert first.locations[DB].data.data == {"user": "u0", "password": "p1"}


def test_what_changed_since_a_config_was_resolved_is_told(
    provider: Changing, watcher: Watcher
) -> None:
    told: Queue[ConfigChange] = Queue()
    result = ConfigTransformer({"it": provider}).transform({"password": "${it:db:password}"})
    provider.put(password="p1")

    watcher.watch(result.plan, told.put, since=result.answers)

    assert told.get(timeout=SECONDS).config_keys == ("password",)


def test_subscribing_is_as_in_kip_297(provider: Changing, watcher: Watcher) -> None:
    told: Queue[tuple[str, ConfigData]] = Queue()

    def callback(path: str, data: ConfigData, /) -> None:
        told.put((path, data))

    watcher.subscribe(DB, {"password"}, callback)
    provider.put(user="u0", password="p1")
    path, data = told.get(timeout=SECONDS)
    watcher.unsubscribe(DB, {"password"}, callback)

    assert (path, data.data) == ("db", {"password": "p1"})
    assert watcher.health() == {}


def test_unsubscribing_what_was_not_subscribed_does_nothing(watcher: Watcher) -> None:
    def callback(path: str, data: ConfigData, /) -> None:
        """Is never called."""

    watcher.subscribe(DB, {"user"}, callback)
    watcher.unsubscribe(DB, {"password"}, callback)

    assert [*watcher.health()] == [DB]


def test_a_change_of_a_config_shows_no_value(provider: Changing, watcher: Watcher) -> None:
    told: Queue[ConfigChange] = Queue()
    watcher.watch(ConfigTransformer({"it": provider}).plan({"a": "${it:db:password}"}), told.put)

    provider.put(password=CANARY)

    assert CANARY not in repr(told.get(timeout=SECONDS))


def test_a_provider_that_is_not_there_is_an_error_that_says_what_is(watcher: Watcher) -> None:
    with pytest.raises(ConfigException, match=r"no config provider named 'its'.*'it'"):
        watcher.subscribe(Location("its", "db"), (), lambda _path, _data: None)


def test_a_closed_watcher_watches_nothing(watcher: Watcher) -> None:
    watcher.close()
    watcher.close()

    with pytest.raises(ConfigException, match="closed"):
        watcher.subscribe(DB, (), lambda _path, _data: None)


@pytest.mark.parametrize(
    "wrong", [{"poll_interval": timedelta(0)}, {"calls_per_second": 0}, {"concurrency": -1}]
)
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigException, match=next(iter(wrong))):
        Watcher({}, **wrong)  # type: ignore[arg-type]  # They are wrong.


def test_an_outside_trigger_makes_it_look_now(provider: Changing) -> None:
    told: Queue[ConfigData] = Queue()
    with Watcher({"it": provider}, poll_interval=NEVER, settle=SHORT) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))
        provider.put(password="p1")

        watcher.invalidate(DB)
        first = told.get(timeout=SECONDS)
        provider.put(password="p2")
        watcher.invalidate()

        assert first.data == {"password": "p1"}
        assert told.get(timeout=SECONDS).data == {"password": "p2"}


class Leasing(Changing):
    """Issues another password when it is told to forget the one before."""

    def invalidate(self, path: str | None = None) -> None:
        self.put(password=f"after {path}")


def test_who_was_refused_with_a_value_has_the_provider_forget_it() -> None:
    told: Queue[ConfigData] = Queue()
    provider = Leasing(password="revoked")
    with Watcher({"it": provider}, poll_interval=NEVER, settle=SHORT) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))

        watcher.invalidate()  # Forgets nothing.
        watcher.invalidate(DB)

        assert told.get(timeout=SECONDS).data == {"password": "after db"}


class Slow(Changing):
    """Is asked for something all the time: each answer takes a while."""

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        threading.Event().wait(0.01)
        return super().get(path, keys)


def test_watching_what_is_being_asked_for_all_the_time_begins_nevertheless() -> None:
    provider = Slow()
    paths = [f"p{number}" for number in range(30)]
    for path in paths:
        provider.put(path, k="v")
    plan = ConfigTransformer({"it": provider}).plan({p: f"${{it:{p}:k}}" for p in paths})
    often = timedelta(milliseconds=1)
    with Watcher({"it": provider}, poll_interval=often, calls_per_second=1e6) as watcher:
        watcher.watch(plan, lambda _change: None)

        for _ in range(3):
            watcher.watch(plan, lambda _change: None)

        assert len(watcher.health()) == len(paths)


class Locking(Batching):
    """Holds a lock of its own while it groups, and while its backend's event is handed on."""

    def __init__(self) -> None:
        super().__init__(k="v")
        self.lock = threading.Lock()
        self.changed: Changed | None = None

    def batches(self, paths: Collection[str]) -> list[Collection[str]]:
        with self.lock:
            return [paths]

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        self.changed = changed
        return None


def test_a_provider_may_hold_its_lock_while_it_groups_and_while_it_tells_of_events() -> None:
    provider = Locking()
    often = timedelta(milliseconds=1)
    with Watcher({"it": provider}, poll_interval=often, calls_per_second=1e6) as watcher:
        watcher.subscribe(DB, (), lambda _path, _data: None)

        for _ in range(300):
            with provider.lock:
                assert provider.changed
                provider.changed(lambda _path: True)

        assert [*watcher.health()] == [DB]


def test_a_backend_that_hangs_keeps_no_other_from_being_asked() -> None:
    told: Queue[ConfigData] = Queue()
    hangs, healthy = threading.Event(), Changing(password="p0")

    def hang(_lookups: object) -> dict[str, ConfigData]:
        hangs.wait(SECONDS)
        return {}

    dead = Changing(k="v")
    paths = [f"p{number}" for number in range(40)]
    for path in paths:
        dead.put(path, k="v")
    with Watcher({"dead": dead, "it": healthy}, poll_interval=SHORT, settle=SHORT) as watcher:
        for path in paths:
            watcher.subscribe(Location("dead", path), (), lambda _path, _data: None)
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))
        dead.refresh = hang  # type: ignore[method-assign,assignment]  # It takes its time.

        threading.Event().wait(0.3)  # Until all threads for it hang.
        healthy.put(password="p1")

        assert told.get(timeout=SECONDS / 4).data == {"password": "p1"}
        hangs.set()


def test_one_text_for_keys_is_refused(watcher: Watcher) -> None:
    with pytest.raises(ConfigException, match="not one text"):
        watcher.subscribe(DB, "password", lambda _path, _data: None)


def test_a_provider_s_interval_below_nothing_is_refused(provider: Changing) -> None:
    provider.poll_interval = timedelta(seconds=-1)
    with Watcher({"it": provider}) as watcher, pytest.raises(ConfigException, match="above 0"):
        watcher.subscribe(DB, (), lambda _path, _data: None)


def test_the_interval_of_a_provider_goes_before_that_of_the_watcher(provider: Changing) -> None:
    told: Queue[ConfigData] = Queue()
    provider.poll_interval = SHORT
    with Watcher({"it": provider}, poll_interval=NEVER) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))

        provider.put(password="p1")

        assert told.get(timeout=SECONDS).data == {"password": "p1"}


class Listening(Changing):
    """Hears of changes from its backend; ``changed`` is what it was given."""

    changed: Changed | None = None
    stopped = False

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        self.changed = changed
        return self._stop

    def _stop(self) -> None:
        self.stopped = True


def test_what_a_provider_hears_makes_it_look_there_and_nowhere_else() -> None:
    told: Queue[ConfigData] = Queue()
    provider = Listening(password="p0")
    provider.put("other", password="p0")
    with Watcher({"it": provider}, poll_interval=NEVER, settle=SHORT) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))
        watcher.subscribe(Location("it", "other"), (), lambda _path, data: told.put(data))
        provider.asked.clear()
        provider.put(password="p1")

        assert provider.changed
        provider.changed(lambda path: path == "db")

        assert told.get(timeout=SECONDS).data == {"password": "p1"}
        assert provider.asked == [["db"]]
    assert provider.stopped


class Subscribing(Changing):
    """Notices changes by itself, as KIP-297 has it."""

    def __init__(self) -> None:
        super().__init__(password="p0")
        self.callbacks: list[ConfigChangeCallback] = []

    def subscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        self.callbacks.append(callback)

    def unsubscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        self.callbacks.remove(callback)


def test_a_provider_that_notices_by_itself_is_believed_when_it_says_so() -> None:
    told: Queue[ConfigData] = Queue()
    provider = Subscribing()
    with Watcher({"it": provider}, poll_interval=NEVER, settle=SHORT) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))
        provider.put(password="p1")

        provider.callbacks[0]("db", ConfigData({"password": "p1"}))

        assert told.get(timeout=SECONDS).data == {"password": "p1"}
    assert provider.callbacks == []


class Deaf(Changing):
    """Fails at all that is optional."""

    def files(self, path: str) -> Collection[str]:
        raise ValueError(CANARY)

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        raise ProviderUnavailable("the queue is gone")


def test_a_provider_that_cannot_listen_is_polled_and_that_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: Queue[ConfigData] = Queue()
    provider = Deaf(password="p0")
    with Watcher({"it": provider}, poll_interval=SHORT) as watcher:
        watcher.subscribe(DB, (), lambda _path, data: told.put(data))

        provider.put(password="p1")

        assert told.get(timeout=SECONDS).data == {"password": "p1"}
    assert "it cannot be listened to, so it is polled alone: the queue is gone" in caplog.text
    assert CANARY not in caplog.text


def test_a_callback_that_raises_is_logged_without_its_text_and_is_called_again(
    provider: Changing, watcher: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    told: Queue[ConfigData] = Queue()

    def callback(_path: str, data: ConfigData, /) -> None:
        told.put(data)
        raise ValueError(data.data["password"])

    watcher.subscribe(DB, {"password"}, callback)
    provider.put(password=f"{CANARY}1")
    told.get(timeout=SECONDS)
    provider.put(password=f"{CANARY}2")
    told.get(timeout=SECONDS)
    watcher.close()

    assert caplog.text.count("the callback of it:db raised ValueError") == 2
    assert "test_watcher.py" in caplog.text
    assert CANARY not in caplog.text


def test_a_callback_that_hangs_stops_no_other_and_gets_what_came_meanwhile_at_once(
    provider: Changing, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hangs, told = threading.Event(), Queue[ConfigData]()
    slow: Queue[ConfigData] = Queue()

    def hang(_path: str, data: ConfigData, /) -> None:
        slow.put(data)
        hangs.wait(SECONDS)

    with Watcher(
        {"it": provider}, poll_interval=SHORT, settle=SHORT, slow_callback=SHORT
    ) as watcher:
        watcher.subscribe(DB, {"password"}, hang)
        watcher.subscribe(DB, {"password"}, lambda _path, data: told.put(data))
        for number in (1, 2, 3):
            provider.put(password=f"p{number}")
            assert told.get(timeout=SECONDS).data == {"password": f"p{number}"}
        hangs.set()

        assert slow.get(timeout=SECONDS).data == {"password": "p1"}
        assert slow.get(timeout=SECONDS).data == {"password": "p3"}
    assert caplog.text.count("the callback of it:db takes longer than") == 1
    assert caplog.text.count("the callback of it:db has come back") == 1


def test_a_callback_may_end_its_own_subscription_and_close_the_watcher(
    provider: Changing, watcher: Watcher
) -> None:
    told: Queue[ConfigData] = Queue()

    def callback(_path: str, data: ConfigData, /) -> None:
        watcher.unsubscribe(DB, (), callback)
        watcher.close()
        told.put(data)

    watcher.subscribe(DB, (), callback)
    provider.put(password="p1")

    assert told.get(timeout=SECONDS).data == {"password": "p1"}


def test_a_first_look_that_is_interrupted_leaves_nothing_behind(
    provider: Changing, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lookups: object) -> dict[str, ConfigData]:
        raise KeyboardInterrupt

    monkeypatch.setattr(provider, "refresh", interrupted)

    with pytest.raises(KeyboardInterrupt):
        watcher.subscribe(DB, (), lambda _path, _data: None)
    assert watcher.health() == {}


def test_what_ends_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    (tmp_path / "a.properties").write_text("k=v")
    providers = {"file": FileConfigProvider(), "it": Changing(k="v")}
    watcher = Watcher(providers, poll_interval=SHORT)
    watcher.subscribe(
        Location("file", str(tmp_path / "a.properties")), (), lambda _path, _data: None
    )
    watcher.subscribe(DB, (), lambda _path, _data: None)

    watcher.close()

    assert set(threading.enumerate()) == before


def test_a_forked_child_watches_nothing_and_can_begin_anew(
    in_a_process: Callable[..., str],
) -> None:
    shown = in_a_process(
        """
import os
from datetime import timedelta
from pathlib import Path
from queue import Queue
from configproviders import FileConfigProvider, Location, Watcher

file = Path("a.properties").resolve()
file.write_text("k=0")
told = Queue()
at = Location("file", str(file))
watcher = Watcher({"file": FileConfigProvider()}, settle=timedelta(milliseconds=20))
watcher.subscribe(at, (), lambda path, data: told.put(data.data))
child = os.fork()
if child == 0:
    file.write_text("k=1")
    print("child", watcher.health(), flush=True)
    watcher.subscribe(at, (), lambda path, data: told.put(data.data))
    file.write_text("k=2")
    print("child", told.get(timeout=20), flush=True)
    watcher.close()
    os._exit(0)
os.waitpid(child, 0)
while told.get(timeout=20) != {"k": "2"}:
    pass
print("parent", flush=True)
watcher.close()
"""
    )

    assert shown == "child {}\nchild {'k': '2'}\nparent\n"
