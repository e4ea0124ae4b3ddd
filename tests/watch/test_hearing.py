"""What a watcher hears from plugins that take their time, hide in a cache, or answer nonsense."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from providers.vault.conftest import eventually
from watch.backends import Memory

from configproviders import ConfigData, ConfigProvider, Location, Watcher
from configproviders.cache import CachingConfigProvider
from configproviders.data import ConfigChangeCallback
from configproviders.provider import Changed

NEVER = timedelta(days=1)
SETTLE = timedelta(milliseconds=1)
LONG = 20


class Told(Memory):
    """Holds one password, and has nobody ask for it by themselves."""

    poll_interval = NEVER

    def __init__(self) -> None:
        super().__init__()
        self.content = {"password": "p0"}


class Listening(Told):
    """Starts to listen, and stops, as slowly as a test likes."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may_listen = threading.Event(), threading.Event()
        self.stopped, self.may_stop = threading.Event(), threading.Event()
        self.listeners: list[Changed] = []

    def listen(self, changed: Changed) -> Callable[[], None]:
        self.asked.set()
        self.may_listen.wait(LONG)
        self.listeners.append(changed)

        def stop() -> None:
            self.stopped.set()
            self.may_stop.wait(LONG)
            self.listeners.remove(changed)

        return stop


class Pushing(Told):
    """Tells by itself who subscribes."""

    def __init__(self) -> None:
        super().__init__()
        self.subscribed: list[tuple[str, ConfigChangeCallback]] = []

    def subscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        assert not keys
        self.subscribed.append((path, callback))

    def unsubscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        assert not keys
        self.subscribed.remove((path, callback))


class Filed(ConfigProvider):
    """Reads a file, and says of its files what a test likes."""

    def __init__(self, file: Path, files: object) -> None:
        self._file, self._files = file, files

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        return ConfigData({"password": self._file.read_text()})

    def files(self, path: str) -> Collection[str]:
        return self._files  # type: ignore[return-value]  # That is what is tested.


@pytest.fixture
def watching() -> Iterator[Callable[..., Watcher]]:
    """Make watchers, and close them at the end."""
    made: list[Watcher] = []

    def watch(**providers: ConfigProvider) -> Watcher:
        made.append(Watcher(providers, poll_interval=NEVER, settle=SETTLE))
        return made[-1]

    yield watch
    for watcher in made:
        watcher.close()


def ignore(_path: str, _data: ConfigData, /) -> None:
    pass


def subscribing(watcher: Watcher, name: str, path: str) -> threading.Thread:
    """Subscribe in a thread."""
    location = Location(name, path)
    thread = threading.Thread(target=watcher.subscribe, args=(location, (), ignore), daemon=True)
    thread.start()
    return thread


def test_closing_stops_all_who_listen_and_waits_for_none_that_hangs(
    watching: Callable[..., Watcher],
) -> None:
    slow = {f"slow{n}": Listening() for n in range(3)}
    watcher = watching(**slow)
    for name, provider in slow.items():
        provider.may_listen.set()
        watcher.subscribe(Location(name, "db"), (), ignore)

    watcher.close()

    still_stopping = [len(each.listeners) for each in slow.values()]
    eventually(lambda: all(each.stopped.is_set() for each in slow.values()))
    for each in slow.values():
        each.may_stop.set()
    assert still_stopping == [1, 1, 1]
    eventually(lambda: not any(each.listeners for each in slow.values()))


def test_nobody_waits_for_a_provider_that_is_slow_to_listen(
    watching: Callable[..., Watcher],
) -> None:
    slow, quick = Listening(), Listening()
    quick.may_listen.set()
    watcher = watching(slow=slow, quick=quick)
    subscribing(watcher, "slow", "db")
    assert slow.asked.wait(LONG)

    subscribing(watcher, "quick", "db")

    eventually(lambda: bool(quick.listeners), LONG / 2)
    assert not slow.listeners
    slow.may_listen.set()
    for each in (slow, quick):
        each.may_stop.set()


def test_who_listens_only_after_the_close_is_stopped_then(
    watching: Callable[..., Watcher],
) -> None:
    slow = Listening()
    watcher = watching(slow=slow)
    slow.may_stop.set()
    subscribing(watcher, "slow", "db")
    assert slow.asked.wait(LONG)

    watcher.close()
    slow.may_listen.set()

    assert slow.stopped.wait(LONG)
    eventually(lambda: not slow.listeners)


def test_who_comes_while_the_last_one_leaves_is_listened_for(
    watching: Callable[..., Watcher],
) -> None:
    slow = Listening()
    slow.may_listen.set()
    watcher = watching(slow=slow)
    first = Location("slow", "first")
    watcher.subscribe(first, (), ignore)
    leaving = threading.Thread(target=watcher.unsubscribe, args=(first, (), ignore), daemon=True)
    leaving.start()
    assert slow.stopped.wait(LONG)

    watcher.subscribe(Location("slow", "second"), (), ignore)
    slow.may_stop.set()
    leaving.join(LONG)

    assert len(slow.listeners) == 1


def test_a_provider_that_stays_watched_is_listened_to(watching: Callable[..., Watcher]) -> None:
    provider = Listening()
    provider.may_listen.set()
    provider.may_stop.set()
    watcher = watching(slow=provider)
    one, other = Location("slow", "one"), Location("slow", "other")
    for each in (one, other):
        watcher.subscribe(each, (), ignore)

    watcher.unsubscribe(one, (), ignore)

    assert len(provider.listeners) == 1
    watcher.unsubscribe(other, (), ignore)
    assert not provider.listeners


@pytest.mark.parametrize("caches", [0, 1, 2])
def test_a_provider_that_subscribes_by_itself_is_heard_through_caches(
    watching: Callable[..., Watcher], caches: int
) -> None:
    pushing = Pushing()
    provider: ConfigProvider = pushing
    for _ in range(caches):
        provider = CachingConfigProvider(provider, default_ttl=NEVER)
    told: list[str] = []
    location = Location("push", "db?ttl=60000" if caches else "db")

    def callback(_path: str, data: ConfigData, /) -> None:
        told.append(data.data["password"])

    watcher = watching(push=provider)
    watcher.subscribe(location, (), callback)
    pushing.content = {"password": "p1"}
    for path, changed in pushing.subscribed:
        changed(path, ConfigData({}))

    eventually(lambda: told == ["p1"])
    assert [path for path, _ in pushing.subscribed] == ["db"]
    watcher.unsubscribe(location, (), callback)
    assert not pushing.subscribed


@pytest.mark.parametrize(
    "files", [None, 5, [None], [b"/tmp"], [Path("/tmp")], ["a\0b"], [""], "\0"], ids=repr
)
def test_files_that_are_none_are_left_out(
    watching: Callable[..., Watcher], tmp_path: Path, files: object
) -> None:
    file = tmp_path / "password"
    file.write_text("p0")
    location = Location("filed", "db")
    watcher = watching(filed=Filed(file, files))

    watcher.subscribe(location, (), ignore)

    assert watcher.health()[location].error is None


@pytest.mark.parametrize("how", [str, lambda file: [None, str(file)]], ids=["text", "mixed"])
def test_a_file_is_observed_even_if_it_stands_alone_or_beside_nonsense(
    watching: Callable[..., Watcher], tmp_path: Path, how: Callable[[Path], object]
) -> None:
    file = tmp_path / "password"
    file.write_text("p0")
    told = threading.Event()
    watcher = watching(filed=Filed(file, how(file)))
    watcher.subscribe(Location("filed", "db"), (), lambda _path, _data: told.set())

    file.write_text("p1")

    assert told.wait(LONG)
