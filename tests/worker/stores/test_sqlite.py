from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from worker.stores.contract import StoreContract, connector

from configproviders.worker.errors import ConnectException
from configproviders.worker.stores import Store
from configproviders.worker.stores.sqlite import SqliteStore

BIG = {"sql": "x" * 500_000}


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with SqliteStore(str(tmp_path / "connectors.db")) as store:
            yield store


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return the path of a store with one connector."""
    path = str(tmp_path / "connectors.db")
    with SqliteStore(path) as store:
        store.put(connector("a"))
    return path


def test_what_was_put_is_there_when_it_is_opened_again(path: str) -> None:
    with SqliteStore(path) as store:
        assert store.connectors() == [connector("a")]


def test_it_is_one_file_that_only_its_owner_may_read(path: str) -> None:
    assert os.listdir(os.path.dirname(path)) == ["connectors.db"]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_file_that_others_may_read_is_taken_from_them(path: str) -> None:
    os.chmod(path, 0o644)

    SqliteStore(path).close()

    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_nobody_else_may_read_what_stands_beside_it_while_it_is_open(path: str) -> None:
    with SqliteStore(path) as store:
        store.put(connector("b"))

        modes = {stat.S_IMODE(each.stat().st_mode) for each in Path(path).parent.iterdir()}

    assert modes == {0o600}


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "connectors.db"
    path.touch()

    with SqliteStore(str(path)) as store:
        store.put(connector("a"))

    assert path.read_bytes().startswith(b"SQLite")


def test_names_that_mean_more_to_sqlite_are_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    for name in (":memory:", "file:a?mode=memory", "ä %41#"):
        SqliteStore(name).close()

    assert sorted(os.listdir()) == sorted([":memory:", "file:a?mode=memory", "ä %41#"])


def test_a_relative_path_stays_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore("connectors.db") as store:
        monkeypatch.chdir("/")

        store.put(connector("a"))

        assert store.connectors() == [connector("a")]


def test_a_second_one_of_the_same_process_is_refused(path: str) -> None:
    with SqliteStore(path) as store:
        with pytest.raises(ConnectException, match=r"another worker uses it"):
            SqliteStore(path)

        store.put(connector("b"))

        with pytest.raises(ConnectException, match=r"another worker uses it"):
            SqliteStore(path)


def test_a_second_process_is_refused(path: str, in_a_process: Callable[..., str]) -> None:
    program = (
        "from configproviders.worker.stores.sqlite import SqliteStore\n"
        "from configproviders.worker.errors import ConnectException\n"
        f"try: SqliteStore({path!r})\n"
        "except ConnectException as error: print(error)\n"
    )

    with SqliteStore(path) as store:
        said = in_a_process(program)
        store.put(connector("b"))

    assert "another worker uses it" in said
    assert path in said
    assert in_a_process(program) == ""


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Have the system refuse to make a file larger, as a quota does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def most_pages(store: SqliteStore) -> Iterator[None]:
    """Have SQLite find the disk full."""
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    yield
    store._connection.execute("PRAGMA max_page_count = 4294967294")


def test_a_full_disk_is_an_error_that_changes_nothing_and_passes(path: str) -> None:
    with SqliteStore(path) as store:
        with most_pages(store), pytest.raises(ConnectException, match="the disk is full"):
            store.put(connector("a", BIG))

        assert store.connectors() == [connector("a")]

        store.put(connector("a", BIG))

    with SqliteStore(path) as store:
        assert store.connectors() == [connector("a", BIG)]


def test_a_write_that_the_system_refuses_changes_nothing_and_passes(path: str) -> None:
    with SqliteStore(path) as store:
        for _ in range(3):
            with (
                largest_file(os.stat(path).st_size),
                pytest.raises(ConnectException, match="failed to read or write it"),
            ):
                store.put(connector("a", BIG))
            assert store.connectors() == [connector("a")]

        store.put(connector("b", BIG))
        with pytest.raises(ConnectException, match="another worker"):
            SqliteStore(path)

    with SqliteStore(path) as store:
        assert store.connectors() == [connector("a"), connector("b", BIG)]


def test_a_disk_that_is_full_at_the_start_leaves_what_becomes_a_store_later(tmp_path: Path) -> None:
    path = str(tmp_path / "connectors.db")

    with largest_file(4096), pytest.raises(ConnectException, match="is the disk full"):
        SqliteStore(path)

    with SqliteStore(path) as store:
        assert store.connectors() == []


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConnectException, match="No such file or directory"):
        SqliteStore(str(tmp_path / "absent" / "connectors.db"))


@pytest.mark.parametrize("path", ["nul\0", "/", "/proc/connectors.db", "x" * 300])
def test_a_path_of_no_file_is_an_error(path: str) -> None:
    with pytest.raises(ConnectException, match="cannot open the store"):
        SqliteStore(path)


@pytest.mark.parametrize("mode", ["file", "directory"])
def test_what_may_not_be_written_is_an_error(
    public_directory: Path, as_nobody: Callable[[], AbstractContextManager[None]], mode: str
) -> None:
    path = public_directory / "connectors.db"
    SqliteStore(str(path)).close()
    if mode == "file":
        path.chmod(0o444)
    else:
        path.chmod(0o666)
    content = path.read_bytes()

    with as_nobody(), pytest.raises(ConnectException, match="cannot open the store"):
        SqliteStore(str(path))

    assert path.read_bytes() == content


@pytest.mark.parametrize("cut", [1, 100, 1024, 4096, 5000])
def test_a_file_that_was_cut_is_an_error(path: str, cut: int) -> None:
    content = Path(path).read_bytes()[:cut]
    Path(path).write_bytes(content)

    with pytest.raises(ConnectException, match="damaged"):
        SqliteStore(path)

    assert Path(path).read_bytes() == content


def test_a_damaged_page_is_an_error(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content[4096:4200] = b"\xff" * 104
    Path(path).write_bytes(content)

    with pytest.raises(ConnectException, match="damaged"):
        SqliteStore(path)

    assert Path(path).read_bytes() == content


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_text("listeners=http://127.0.0.1:8083\n" * 100)
    path.chmod(0o644)

    with pytest.raises(ConnectException, match="not a SQLite database"):
        SqliteStore(str(path))

    assert path.read_text() == "listeners=http://127.0.0.1:8083\n" * 100
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "orders.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE connectors (name TEXT)")
    content = path.read_bytes()

    with pytest.raises(ConnectException, match="a file of another program"):
        SqliteStore(str(path))

    assert path.read_bytes() == content


def test_a_file_of_a_later_version_is_left_alone(path: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 2")
    content = Path(path).read_bytes()

    with pytest.raises(ConnectException, match="of version 2, written by a later"):
        SqliteStore(path)

    assert Path(path).read_bytes() == content


@pytest.mark.parametrize("column", ["config", "target"])
def test_a_row_that_somebody_wrote_otherwise_is_an_error(path: str, column: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"UPDATE connectors SET {column} = 'x'")
        database.commit()

    with SqliteStore(path) as store, pytest.raises(ConnectException, match="cannot read the store"):
        store.connectors()


def test_a_file_that_was_replaced_is_an_error_and_not_written_to_in_vain(path: str) -> None:
    with SqliteStore(path) as store:
        store.put(connector("b"))
        shutil.copy(path, f"{path}.copy")
        os.replace(f"{path}.copy", path)

        with pytest.raises(ConnectException, match="was replaced while it is used"):
            store.put(connector("c"))

        os.remove(path)
        with pytest.raises(ConnectException, match="No such file"):
            store.put(connector("c"))


def test_a_closed_store_says_so(path: str) -> None:
    store = SqliteStore(path)
    store.close()

    with pytest.raises(ConnectException, match="it is closed"):
        store.connectors()
    with pytest.raises(ConnectException, match="it is closed"):
        store.put(connector("b"))
