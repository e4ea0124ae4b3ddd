"""The loop of ``resolve-config watch``, in this thread: what comes late, early, or too often."""

from __future__ import annotations

import gc
from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest
from cli_watching import in_time, rotate

from configproviders import ConfigData, ConfigProvider, ConfigTransformerResult
from configproviders.cli.keeper import Events, Keeper
from configproviders.cli.session import Session, Sources
from configproviders.cli.status_line import StatusLine
from configproviders.cli.watch_command import watch_parser
from configproviders.errors import LookupFailed
from configproviders.plan import Location
from configproviders.testing import CANARY
from configproviders.watch import ChangeKind, ConfigChange, LocationChange

pytestmark = pytest.mark.usefixtures("job_directory")


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    with in_time():
        yield


def arguments(*argv: str) -> Namespace:
    return watch_parser().parse_args(argv)


def keeper(given: Namespace, events: Events | None = None) -> Keeper:
    return Keeper(given, lambda: 0, StatusLine(), SimpleQueue() if events is None else events)


def test_what_an_input_that_was_replaced_tells_is_passed_over(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given, events = arguments("job.properties"), SimpleQueue[tuple[Session, ConfigChange] | None]()
    location = Location("file", "secrets.properties")
    data = ConfigData({"user": "x", "password": "y"})
    change = LocationChange(ChangeKind.CHANGED, frozenset({"user"}), None, None, data)

    with (
        closing(Session(given, Sources(given), lambda *_: None)) as replaced,
        closing(keeper(given, events)) as kept,
    ):
        events.put((replaced, ConfigChange({location: change})))
        rotate()
        kept.run(once=True)

    assert len(capfd.readouterr().out.splitlines()) == 1


class Moving(ConfigProvider):
    """Has another value as soon as it was asked once."""

    waits = False
    asked = 0

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        self.asked += 1
        return ConfigData({"k": str(self.asked > 1)})


def test_what_changes_before_the_watch_begins_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    Path("in.properties").write_text(
        f"config.providers=p\nconfig.providers.p.class={__name__}:Moving\na=${{p:x:k}}\n"
    )

    with closing(keeper(arguments("in.properties", "-o", "out"))) as kept:
        kept.run(once=True)

    assert capfd.readouterr().out.endswith(" changed p:x: a\n")
    assert Path("out").read_text() == "a=True\n"


class Failing(ConfigProvider):
    """Fails three times, each time in other words, and works for ever after."""

    waits = False
    asked = 0

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        Failing.asked += 1
        if Failing.asked < 4:
            raise LookupFailed(f"failed after {Failing.asked} ms")
        return ConfigData({"k": "v"})


def test_what_is_tried_again_is_said_once_whatever_its_words(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Failing, "asked", 0)
    monkeypatch.setattr("configproviders.cli.keeper._FIRST_PAUSE", 0.02)
    monkeypatch.setattr("configproviders.cli.keeper._TICK", 0.01)

    with closing(keeper(arguments("job.properties", "-o", "out"))) as kept:
        Path("next").write_text(
            f"config.providers=p\nconfig.providers.p.class={__name__}:Failing\na=${{p:x:k}}\n"
        )
        Path("next").replace("job.properties")
        kept.run(once=True)

    err = capfd.readouterr().err
    assert err.count("what was there stays: ") == 1
    assert err.count("failed after 1 ms") == 1
    assert err.endswith("resolve-config: all is up to date again\n")


def test_values_go_when_they_are_replaced() -> None:
    of_other_tests = {id(each) for each in gc.get_objects() if holds(each, CANARY)}
    with closing(keeper(arguments("job.properties", "-o", "out"))) as kept:
        rotate()
        kept.run(once=True)
        gc.collect()
        held = [each for each in gc.get_objects() if holds(each, CANARY)]

    assert {id(each) for each in held} <= of_other_tests


def holds(thing: object, value: str) -> bool:
    """Whether *thing* is data that has *value* as one of its own."""
    if isinstance(thing, ConfigTransformerResult):
        return value in thing.data.values()
    return isinstance(thing, ConfigData) and value in thing.data.values()
