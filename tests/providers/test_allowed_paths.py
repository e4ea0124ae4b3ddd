"""``allowed.paths``, through the provider of files; that of directories shares the code."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from configproviders import ConfigException, FileConfigProvider
from configproviders.errors import LookupDenied, LookupFailed, PathNotFound
from configproviders.testing import CANARY

Settled = Callable[..., Path]


def allowing(*paths: object) -> FileConfigProvider:
    provider = FileConfigProvider()
    provider.configure({"allowed.paths": ",".join(map(str, paths))})
    return provider


def test_a_file_within_an_allowed_directory_or_listed_itself_is_read(settled: Settled) -> None:
    file = settled("a.properties", "key=value")

    assert allowing("/usr", file.parent).get(str(file)).data == {"key": "value"}
    assert allowing(file).get(str(file)).data == {"key": "value"}


def test_a_path_outside_is_refused_also_by_dots_a_link_or_a_common_beginning(
    settled: Settled, tmp_path: Path
) -> None:
    outside = settled("outside.properties", {"key": CANARY})
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "inside2").mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "up").symlink_to(tmp_path)
    provider = allowing(inside)

    for path in (
        outside,
        f"{inside}/../outside.properties",
        inside / "link",
        inside / "up" / "outside.properties",
        tmp_path / "inside2" / "x",
    ):
        with pytest.raises(LookupDenied, match="is refused: it is not within"):
            provider.get(str(path))


def test_a_directory_swapped_for_a_link_while_it_is_read_leads_nowhere(tmp_path: Path) -> None:
    for place, value in (("inside/d", "inside"), ("outside", CANARY)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "f").write_text(f"key={value}")
    (tmp_path / "inside" / "l").symlink_to(tmp_path / "outside")
    done = threading.Event()

    def swap() -> None:
        inside = tmp_path / "inside"
        for _ in range(3000):
            for one, two in (("d", "x"), ("l", "d"), ("d", "l"), ("x", "d")):
                (inside / one).rename(inside / two)
        done.set()

    writer = threading.Thread(target=swap)
    writer.start()
    provider, seen = allowing(tmp_path / "inside"), set()
    while not done.is_set():
        with suppress(LookupFailed):
            seen.add(provider.get(str(tmp_path / "inside" / "d" / "f")).data["key"])
    writer.join()

    assert CANARY not in seen


def test_an_allowed_path_may_itself_be_a_link(settled: Settled, tmp_path: Path) -> None:
    file = settled("a.properties", "key=value")
    link = tmp_path / "link"
    link.symlink_to(file)

    assert allowing(link).get(str(link)).data == {"key": "value"}


def test_empty_allowed_paths_allow_all_and_a_lone_comma_nothing(settled: Settled) -> None:
    file = settled("a.properties", "key=value")

    assert allowing("").get(str(file)).data == {"key": "value"}
    with pytest.raises(LookupDenied):
        allowing(",").get(str(file))


@pytest.mark.parametrize(("path", "reason"), [("x/y", "not absolute"), ("/no/such", "not exist")])
def test_an_allowed_path_must_be_absolute_and_exist(path: str, reason: str) -> None:
    with pytest.raises(ConfigException, match=f"'allowed.paths' is not a .*{reason}"):
        allowing(path)


def test_a_path_that_does_not_exist_is_not_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(PathNotFound):
        allowing(tmp_path).get(str(tmp_path / "missing"))
