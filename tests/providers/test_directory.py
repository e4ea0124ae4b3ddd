from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from configproviders import ConfigProvider, DirectoryConfigProvider
from configproviders.errors import LookupDenied, LookupFailed, MalformedText, PathNotFound
from configproviders.testing import CANARY, ConfigProviderContract, Serve


def write_all(directory: Path, values: Mapping[str, str]) -> Path:
    directory.mkdir(exist_ok=True)
    for name, value in values.items():
        (directory / name).write_text(value, newline="")
    return directory


def configured(**settings: object) -> DirectoryConfigProvider:
    provider = DirectoryConfigProvider()
    provider.configure({name.replace("_", "."): value for name, value in settings.items()})
    return provider


class TestDirectoryConfigProvider(ConfigProviderContract):
    registry_name = "directory"

    @pytest.fixture
    def serve(self, tmp_path: Path) -> Serve:
        return lambda values: (
            DirectoryConfigProvider(),
            str(write_all(tmp_path / "secrets", values)),
        )

    @pytest.fixture
    def refused(self, tmp_path: Path) -> tuple[ConfigProvider, str, str]:
        outside = write_all(tmp_path / "outside", {"key": CANARY})
        inside = write_all(tmp_path / "inside", {})
        return configured(allowed_paths=inside), str(outside), "key"


def test_files_are_keys_and_directories_are_not(tmp_path: Path) -> None:
    write_all(tmp_path / "dir", {"foo": "FOO", "bar": "BAR\n", ".hidden": "H"})
    write_all(tmp_path / "dir" / "subdir", {"file": "SUB"})

    data = DirectoryConfigProvider().get(str(tmp_path / "dir"))

    assert data.data == {"foo": "FOO", "bar": "BAR\n", ".hidden": "H"}


@pytest.mark.parametrize("key", ["subdir", "subdir/file", "../foo", "..", ".", "", "/etc/passwd"])
def test_a_key_is_the_plain_name_of_a_file_and_nothing_else(tmp_path: Path, key: str) -> None:
    write_all(tmp_path / "dir", {"foo": "FOO"})
    write_all(tmp_path / "dir" / "subdir", {"file": "SUB"})

    assert DirectoryConfigProvider().get(str(tmp_path / "dir"), {key}).data == {}


def test_an_empty_path_holds_nothing_and_the_message_shows_the_right_form() -> None:
    data = DirectoryConfigProvider().get("", {"password"})

    assert data.data == {}
    assert "${directory:/path:password}" in str(data.errors["password"])


def test_a_missing_directory_and_a_file_are_errors(tmp_path: Path) -> None:
    write_all(tmp_path, {"file": "x"})

    with pytest.raises(PathNotFound, match="No such file or directory"):
        DirectoryConfigProvider().get(str(tmp_path / "missing"))
    with pytest.raises(PathNotFound, match="Not a directory"):
        DirectoryConfigProvider().get(str(tmp_path / "file"))


def test_without_permission_the_error_says_denied(
    public_directory: Path, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    directory = write_all(public_directory / "dir", {"key": CANARY, "other": "o"})
    with as_nobody():
        assert DirectoryConfigProvider().get(str(directory), {"key"}).data == {"key": CANARY}

    (directory / "key").chmod(0)
    with as_nobody():
        data = DirectoryConfigProvider().get(str(directory))
    assert data.data == {"other": "o"}
    assert isinstance(data.errors["key"], LookupDenied)

    directory.chmod(0)
    with as_nobody(), pytest.raises(LookupDenied, match="Permission denied"):
        DirectoryConfigProvider().get(str(directory))


def test_a_loop_of_links_is_an_error_of_its_key_alone(tmp_path: Path) -> None:
    directory = write_all(tmp_path / "dir", {"key": "k"})
    (directory / "loop").symlink_to("loop")

    for provider in (DirectoryConfigProvider(), configured(allowed_paths=directory)):
        data = provider.get(str(directory))
        assert data.data == {"key": "k"}
        assert "Too many levels of symbolic links" in str(data.errors["loop"])


@pytest.mark.parametrize(
    ("content", "value"),
    [("x\n", "x"), ("x\r\n", "x"), ("x\n\n", "x\n"), ("x", "x"), ("\n", ""), ("x\r", "x\r")],
)
def test_one_trailing_newline_can_be_dropped(tmp_path: Path, content: str, value: str) -> None:
    directory = write_all(tmp_path / "dir", {"key": content})

    assert configured(strip_trailing_newline="true").get(str(directory)).data == {"key": value}
    assert configured().get(str(directory)).data == {"key": content}


def test_content_that_is_not_utf_8_is_an_error_of_its_key_alone(tmp_path: Path) -> None:
    directory = write_all(tmp_path / "dir", {"password": "p"})
    (directory / "keystore.jks").write_bytes(b"\n\xfe\xed")

    data = DirectoryConfigProvider().get(str(directory))

    assert data.data == {"password": "p"}
    assert isinstance(data.errors["keystore.jks"], MalformedText)
    assert "keystore.jks: line 2: not UTF-8" in str(data.errors["keystore.jks"])


def test_a_file_of_100_megabytes_is_an_error_of_its_key(tmp_path: Path) -> None:
    directory = write_all(tmp_path / "dir", {"password": "p"})
    os.truncate(directory / "password", 100 * 1024 * 1024)

    error = DirectoryConfigProvider().get(str(directory), {"password"}).errors["password"]

    assert isinstance(error, LookupFailed)
    assert "larger than 16 MiB" in str(error)


def test_a_link_inside_that_leads_outside_is_refused(tmp_path: Path) -> None:
    outside = write_all(tmp_path / "outside", {"key": CANARY})
    inside = write_all(tmp_path / "inside", {"fine": "f"})
    (inside / "link").symlink_to(outside / "key")

    data = configured(allowed_paths=inside).get(str(inside))

    assert data.data == {"fine": "f"}
    assert isinstance(data.errors["link"], LookupDenied)


def test_a_path_that_leaves_by_dots_is_refused(tmp_path: Path) -> None:
    write_all(tmp_path / "outside", {"key": CANARY})
    inside = write_all(tmp_path / "inside", {})

    with pytest.raises(LookupDenied, match="is refused"):
        configured(allowed_paths=inside).get(f"{inside}/../outside")


def test_a_kubernetes_mount_is_read_from_one_state_while_it_is_swapped(tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()

    def swap(turn: int) -> None:
        write_all(mount / f"..data-{turn}", {"user": f"{turn}", "password": f"{turn}"})
        (mount / "..data_tmp").symlink_to(f"..data-{turn}")
        (mount / "..data_tmp").replace(mount / "..data")
        if turn:
            for file in (mount / f"..data-{turn - 1}").iterdir():
                file.unlink()
            (mount / f"..data-{turn - 1}").rmdir()

    swap(0)
    for key in ("user", "password"):
        (mount / key).symlink_to(f"..data/{key}")
    done = threading.Event()

    def rotate() -> None:
        for turn in range(1, 200):
            swap(turn)
            done.wait(0.002)
        done.set()

    writer = threading.Thread(target=rotate)
    writer.start()
    provider, seen = configured(allowed_paths=mount), set()
    while not done.is_set():
        data = provider.get(str(mount), {"user", "password"}).data
        assert data["user"] == data["password"]
        seen.add(data["user"])
    writer.join()
    assert len(seen) > 1


def test_its_files_are_itself_and_the_links_that_lead_out_of_it(tmp_path: Path) -> None:
    mount = write_all(tmp_path / "mount", {"plain": "p"})
    write_all(mount / "..data-1", {"password": "p"})
    for name, target in {
        "..data": "..data-1",
        "password": "..data/password",
        "beside": "../beside",
        "absolute": "/etc/hostname",
        "below": "..data-1/password",
    }.items():
        (mount / name).symlink_to(target)

    files = DirectoryConfigProvider().files(str(mount))

    assert sorted(files) == [str(mount / name) for name in ("", "absolute", "below", "beside")]


def test_the_files_of_a_directory_that_is_not_there_or_refused_are_itself(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    provider = configured(allowed_paths=tmp_path / "inside")

    assert provider.files(str(tmp_path / "inside" / "no")) == (str(tmp_path / "inside" / "no"),)
    assert provider.files(str(tmp_path)) == (str(tmp_path),)
    assert provider.files("") == ()
