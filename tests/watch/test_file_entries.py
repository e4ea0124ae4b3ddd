from __future__ import annotations

from pathlib import Path

import pytest

from configproviders.watch.file_entries import Entry, entries_of


def entries(path: Path) -> set[Entry]:
    return set(entries_of(str(path)))


def test_a_file_is_an_entry_of_its_directory_and_that_of_the_one_above(tmp_path: Path) -> None:
    (tmp_path / "x").touch()

    assert entries(tmp_path / "x") == {
        Entry(str(tmp_path), "x"),
        Entry(str(tmp_path.parent), tmp_path.name),
    }


def test_everything_in_a_directory_counts(tmp_path: Path) -> None:
    assert Entry(str(tmp_path), "") in entries(tmp_path)


def test_each_link_on_the_way_counts_where_it_really_stands(tmp_path: Path) -> None:
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "password").touch()
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "password").symlink_to("..data/password")

    assert entries(tmp_path / "password") == {
        Entry(str(tmp_path), "password"),
        Entry(str(tmp_path), "..data"),
        Entry(str(tmp_path / "..2026"), "password"),
        Entry(str(tmp_path), "..2026"),
        Entry(str(tmp_path.parent), tmp_path.name),
    }


def test_links_may_be_absolute_and_lead_up(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "file").touch()
    (tmp_path / "a" / "up").symlink_to("../b")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "up" / "file")

    assert {Entry(str(tmp_path / "a"), "up"), Entry(str(tmp_path / "b"), "file")} <= entries(
        tmp_path / "link"
    )


def test_up_from_a_link_is_up_from_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    (tmp_path / "link").symlink_to("a/b")

    found = set(entries_of(f"{tmp_path}/link/../file"))

    assert {Entry(str(tmp_path), "link"), Entry(str(tmp_path / "a"), "file")} <= found
    assert Entry(str(tmp_path), "file") not in found


@pytest.mark.parametrize("end", ["/", "/.", "/b/.."])
def test_a_directory_may_be_named_in_many_ways(tmp_path: Path, end: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)

    assert entries(tmp_path / "a") <= set(entries_of(f"{tmp_path}/a{end}"))


def test_a_relative_path_starts_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert set(entries_of("./x")) == entries(tmp_path / "x")


def test_what_is_not_there_is_awaited_where_the_way_ends(tmp_path: Path) -> None:
    assert Entry(str(tmp_path), "no") in entries(tmp_path / "no" / "such" / "file")


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    assert {Entry(str(tmp_path), "a"), Entry(str(tmp_path), "b")} <= entries(tmp_path / "a")
