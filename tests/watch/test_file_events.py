"""Everything that editors, deployments and Kubernetes do to files, and what is told of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from queue import Empty, Queue

import pytest
from watchdog.events import DirDeletedEvent

from configproviders import ConfigData, DirectoryConfigProvider, FileConfigProvider
from configproviders.watch.file_events import FileEvents

SECONDS = 20


class Told:
    """What a callback got; each is waited for, and that nothing more comes."""

    def __init__(self) -> None:
        self._queue: Queue[dict[str, str]] = Queue()

    def __call__(self, _path: str, data: ConfigData, /) -> None:
        self._queue.put(data.data)

    def next(self) -> dict[str, str]:
        return self._queue.get(timeout=SECONDS)

    def is_silent(self, seconds: float = 0.3) -> bool:
        try:
            self._queue.get(timeout=seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    directory = tmp_path / "mounted" / "secrets"
    directory.mkdir(parents=True)
    write(directory / "db.properties", "p0")
    return directory


@pytest.fixture
def file(secrets: Path, told: Told) -> Iterator[Path]:
    """Subscribe to the password in a file."""
    with FileConfigProvider() as provider:
        provider.subscribe(str(secrets / "db.properties"), {"password"}, told)
        yield secrets / "db.properties"


def write(file: Path, password: str) -> None:
    file.write_text(f"user=orders\npassword={password}\n")


def in_place(file: Path) -> None:
    write(file, "p1")


def by_rename(file: Path) -> None:
    write(file.with_suffix(".new"), "p1")
    file.with_suffix(".new").rename(file)


def from_elsewhere(file: Path) -> None:
    write(file.parent.parent / "new", "p1")
    (file.parent.parent / "new").rename(file)


def with_a_backup(file: Path) -> None:
    file.rename(file.with_name("db.properties~"))
    write(file, "p1")


def piece_by_piece(file: Path) -> None:
    with file.open("w") as opened:
        for piece in ("user=ord", "ers\npassw", "ord=p1\n"):
            opened.write(piece)
            opened.flush()
            os.fsync(opened.fileno())


def deleted_and_made_again(file: Path) -> None:
    file.unlink()
    write(file, "p1")


def by_a_link(file: Path) -> None:
    write(file.with_name("v1"), "p1")
    file.with_name("link").symlink_to("v1")
    file.with_name("link").rename(file)


def with_its_directory(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.mkdir()
    write(file, "p1")


def by_another_directory(file: Path) -> None:
    new = file.parent.with_name("new")
    new.mkdir()
    write(new / file.name, "p1")
    file.parent.rename(file.parent.with_name("old"))
    new.rename(file.parent)


Change = Callable[[Path], None]


@pytest.mark.parametrize(
    "change",
    [
        in_place,
        by_rename,
        from_elsewhere,
        with_a_backup,
        piece_by_piece,
        deleted_and_made_again,
        by_a_link,
        with_its_directory,
        by_another_directory,
    ],
)
def test_a_change_is_told_once_however_it_is_made_and_so_is_the_next(
    file: Path, told: Told, change: Change
) -> None:
    change(file)

    assert told.next() == {"password": "p1"}
    assert told.is_silent()
    write(file, "p2")
    assert told.next() == {"password": "p2"}


@pytest.mark.parametrize("change", [in_place, by_rename, with_a_backup, deleted_and_made_again])
def test_the_same_content_again_is_not_told(file: Path, told: Told, change: Change) -> None:
    write(file, "p1")
    told.next()

    change(file)

    assert told.is_silent()


def test_a_file_that_goes_is_told_and_so_is_its_return(file: Path, told: Told) -> None:
    file.unlink()
    gone = told.next()
    write(file, "p0")

    assert (gone, told.next()) == ({}, {"password": "p0"})


@pytest.mark.parametrize("levels", [1, 2])
def test_a_directory_may_be_moved_away_and_back(file: Path, told: Told, levels: int) -> None:
    directory = file.parents[levels - 1]
    away = directory.with_name("away")

    directory.rename(away)
    if levels == 1:  # What is further up is polled until the way ends there.
        assert told.next() == {}
    away.rename(directory)

    if levels == 1:
        assert told.next() == {"password": "p0"}
    write(file, "p1")
    assert told.next() == {"password": "p1"}


def test_what_is_not_there_yet_may_come_with_its_directories(tmp_path: Path, told: Told) -> None:
    file = tmp_path / "not" / "there" / "db.properties"
    with FileConfigProvider() as provider:
        provider.subscribe(str(file), (), told)

        file.parent.mkdir(parents=True)
        write(file, "p1")

        assert told.next() == {"user": "orders", "password": "p1"}


def test_other_files_of_the_directory_do_not_matter(file: Path, told: Told) -> None:
    write(file.with_name("other.properties"), "p1")

    assert told.is_silent()


class Saving(FileConfigProvider):
    """Reads a file once while it is being saved: just when it is empty."""

    is_armed = False

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        if not self.is_armed:
            return super().get(path, keys)
        self.is_armed = False
        Path(path).write_text("")
        data = super().get(path, keys)
        write(Path(path), "p2")
        return data


def test_a_file_that_is_read_in_the_middle_of_a_save_is_told_when_it_is_whole(
    secrets: Path, told: Told
) -> None:
    file = secrets / "db.properties"
    with Saving() as provider:
        provider.subscribe(str(file), {"password"}, told)
        provider.is_armed = True

        write(file, "p1")

        assert told.next() == {"password": "p2"}
        assert told.is_silent()


def test_ending_during_half_a_move_logs_no_error_of_watchdog_s(
    secrets: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FileConfigProvider() as provider:
        provider.subscribe(str(secrets / "db.properties"), (), lambda _path, _data: None)

        (secrets / "db.properties").rename(secrets.parent.parent / "away")

    assert caplog.text == ""


class Mount:
    """A secret as Kubernetes mounts it: links through ``..data``, which a rename replaces."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()
        self._count = 0

    def put(self, **values: str) -> None:
        self._count += 1
        real = self.directory / f"..2026_{self._count}"
        real.mkdir()
        for name, value in values.items():
            (real / name).write_text(value)
        (self.directory / "..data_tmp").symlink_to(real.name)
        before = self.directory / "..data"
        replaced = before.resolve() if before.is_symlink() else None
        (self.directory / "..data_tmp").rename(before)
        for name in values.keys() - set(os.listdir(self.directory)):
            (self.directory / name).symlink_to(f"..data/{name}")
        if replaced:
            shutil.rmtree(replaced)


def test_a_mount_of_kubernetes_is_told_as_one_change(tmp_path: Path, told: Told) -> None:
    mount = Mount(tmp_path / "mount")
    mount.put(user="u0", password="p0")
    with DirectoryConfigProvider() as provider:
        provider.subscribe(str(mount.directory), {"user", "password"}, told)

        for number in (1, 2, 3):
            mount.put(user=f"u{number}", password=f"p{number}")

            assert told.next() == {"user": f"u{number}", "password": f"p{number}"}
        assert told.is_silent()


def test_a_file_in_a_mount_of_kubernetes_is_followed(tmp_path: Path, told: Told) -> None:
    mount = Mount(tmp_path / "mount")
    mount.put(**{"db.properties": "password=p0"})
    with FileConfigProvider() as provider:
        provider.subscribe(str(mount.directory / "db.properties"), {"password"}, told)

        for number in (1, 2, 3):
            mount.put(**{"db.properties": f"password=p{number}"})

            assert told.next() == {"password": f"p{number}"}


def test_a_directory_tells_of_files_that_come_and_go(tmp_path: Path, told: Told) -> None:
    (tmp_path / "user").write_text("u0")
    with DirectoryConfigProvider() as provider:
        provider.subscribe(str(tmp_path), (), told)

        (tmp_path / "password").write_text("p0")
        came = told.next()
        (tmp_path / "user").unlink()

        assert (came, told.next()) == ({"user": "u0", "password": "p0"}, {"password": "p0"})


@pytest.mark.parametrize("link", ["../outside/password", "current/password"])
def test_a_file_outside_that_a_link_in_a_directory_leads_to_is_followed(
    tmp_path: Path, told: Told, link: str
) -> None:
    directory, outside = tmp_path / "directory", tmp_path / "outside"
    directory.mkdir()
    outside.mkdir()
    (outside / "password").write_text("p0")
    (directory / "current").symlink_to("../outside")
    (directory / "password").symlink_to(link)
    with DirectoryConfigProvider() as provider:
        provider.subscribe(str(directory), {"password"}, told)

        (outside / "password").write_text("p1")

        assert told.next() == {"password": "p1"}


@pytest.fixture
def events() -> Iterator[FileEvents[str]]:
    events = FileEvents[str](lambda _things: None)
    yield events
    events.close()


def test_directories_that_go_beside_a_watched_file_are_not_kept(
    tmp_path: Path, events: FileEvents[str]
) -> None:
    events.watch("file", [str(tmp_path / "file")])
    tracemalloc.start()

    for number in range(1000):
        events.dispatch(DirDeletedEvent(f"{tmp_path}/{number:01000}"))

    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


def test_that_a_directory_may_not_be_listed_is_logged_once(
    public_directory: Path,
    as_nobody: Callable[[], AbstractContextManager[None]],
    events: FileEvents[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in "xy":
        (public_directory / name).mkdir()
        (public_directory / name).chmod(0o311)

    with as_nobody():
        for name in "xyx":
            events.watch(name, [str(public_directory / name / "file")])

    assert [record.getMessage() for record in caplog.records] == [
        f"no file events: {public_directory}/x may not be listed; files are polled instead"
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_forked_child_holds_nothing_of_its_parent_s_events(tmp_path: Path) -> None:
    program = f"""
import os
from queue import Queue
from configproviders.watch.file_events import FileEvents

def descriptors():
    return sorted(os.listdir("/proc/self/fd"))

told = Queue()
events = FileEvents(told.put)
before = descriptors()
events.watch("file", [{str(tmp_path / "file")!r}])
assert descriptors() != before
child = os.fork()
if child == 0:
    assert descriptors() == before
    events.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
open({str(tmp_path / "file")!r}, "w").close()
print(told.get(timeout=20))
events.close()
assert descriptors() == before
"""

    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )

    assert (shown.stdout, shown.stderr) == ("{'file'}\n", "")
