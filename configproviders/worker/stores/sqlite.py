"""Connectors in one SQLite file, which is the worker's alone while it runs.

The file is locked from the first moment to the last, so a second worker gets an error instead of
half of the connectors. Each change is a transaction that is on the disk when its method returns.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import shorten
from ..errors import ConnectException
from ..status import TargetState
from . import Store, StoredConnector

_APPLICATION = 0x63666770
"""What SQLite's header says whose file it is: ``cfgp``."""

_VERSION = 1
_PATIENCE = 1  # Seconds; a worker that is about to end may hold the file still.

_REASONS = {
    sqlite3.SQLITE_BUSY: "another worker uses it; each worker needs a file of its own",
    sqlite3.SQLITE_CANTOPEN: "it is a directory, or this user may not write there",
    sqlite3.SQLITE_CORRUPT: "it is damaged; put a copy in its place, or begin with a new file",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the system failed to read or write it; is the disk full?",
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database",
    sqlite3.SQLITE_PERM: "this user may not write it",
    sqlite3.SQLITE_READONLY: "it is read-only",
}


class SqliteStore(Store):
    """Keeps connectors in the file at *path*, which it makes if there is none, for its owner only.

    Configs are kept as JSON, with references as they were given.
    """

    def __init__(self, path: str) -> None:
        """Open *path*; raise :class:`ConnectException` for a file that is not of this store."""
        self._path = os.path.abspath(path)
        with self._failing("open"):
            _create(self._path)
            self._file = _file_at(self._path)
            self._connection = sqlite3.connect(
                self._path,
                timeout=_PATIENCE,
                isolation_level=None,  # Transactions begin where this says so.
                check_same_thread=False,
            )
            try:
                self._begin()
            except BaseException:
                self._connection.close()
                raise

    def connectors(self) -> list[StoredConnector]:
        """Return all, in the order in which they were first put."""
        with self._failing("read"):
            rows = self._connection.execute(
                "SELECT name, config, target FROM connectors ORDER BY position"
            ).fetchall()
            return [_connector(*row) for row in rows]

    def put(self, connector: StoredConnector) -> None:
        """Keep *connector*, in the place of the one of its name if there is one."""
        config = json.dumps(dict(connector.config), ensure_ascii=False)
        self._change(
            "INSERT INTO connectors (name, config, target) VALUES (?, ?, ?) ON CONFLICT (name)"
            " DO UPDATE SET config = excluded.config, target = excluded.target",
            (connector.name, config, connector.target.value),
        )

    def delete(self, name: str) -> None:
        """Keep the connector *name* no more; nothing happens if there is none."""
        self._change("DELETE FROM connectors WHERE name = ?", (name,))

    def close(self) -> None:
        """Unlock and close the file; may be called twice."""
        self._connection.close()

    def _begin(self) -> None:
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._connection.execute("PRAGMA synchronous = EXTRA")
        with self._transaction():
            self._refuse_others()
            os.chmod(self._path, stat.S_IRUSR | stat.S_IWUSR)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS connectors (position INTEGER PRIMARY KEY,"
                " name TEXT NOT NULL UNIQUE, config TEXT NOT NULL, target TEXT NOT NULL)"
            )
            # Written each time, so that a file that cannot be written is known at once.
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _refuse_others(self) -> None:
        """Raise for a file of another program or a later version, and for one that is damaged."""
        application, version, tables = (
            self._connection.execute(asked).fetchone()[0]
            for asked in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_schema",
            )
        )
        if (application, version, tables, os.path.getsize(self._path)) == (0, 0, 0, 0):
            return
        if application != _APPLICATION:
            raise ConnectException(f"{self._name} is a file of another program, or damaged")
        if version > _VERSION:
            raise ConnectException(
                f"{self._name} is of version {version}, written by a later configproviders;"
                f" this one knows version {_VERSION}"
            )
        if self._connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise ConnectException(f"{self._name}: {_REASONS[sqlite3.SQLITE_CORRUPT]}")

    def _change(self, statement: str, values: tuple[str, ...]) -> None:
        with self._failing("write"):
            if _file_at(self._path) != self._file:  # What is written now would be lost.
                raise ConnectException(f"{self._name} was replaced while it is used; restart")
            with self._transaction():
                self._connection.execute(statement, values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN EXCLUSIVE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite ends it itself after some errors.
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _failing(self, doing: str) -> Iterator[None]:
        """Raise what SQLite and the system raise as ours."""
        try:
            yield
        except sqlite3.ProgrammingError as error:
            raise ConnectException(f"cannot {doing} {self._name}: it is closed") from error
        except sqlite3.Error as error:
            reason = _REASONS.get(_code(error), str(error))
            raise ConnectException(f"cannot {doing} {self._name}: {reason}") from error
        except OSError as error:
            raise ConnectException(f"cannot {doing} {self._name}: {error.strerror}") from error
        except ValueError as error:
            raise ConnectException(f"cannot {doing} {self._name}: {error}") from error

    @property
    def _name(self) -> str:
        return f"the store {shorten(self._path)!r}"


def _create(path: str) -> None:
    """Make an empty file that only its owner may read, unless there is one.

    One that is there is not opened: closing it would take the locks of a store in this process.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR))
    except FileExistsError:
        return


def _file_at(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _code(error: sqlite3.Error) -> int:
    """Return what went wrong without the details, which stand in the higher bits."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _connector(name: str, config: str, target: str) -> StoredConnector:
    return StoredConnector(name, json.loads(config), TargetState(target))
