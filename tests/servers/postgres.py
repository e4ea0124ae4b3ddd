"""A PostgreSQL server of the tests' own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from servers.processes import LOOPBACK, free_port, program, run, serving

_DEBIAN = "/usr/lib/postgresql/*/bin"
_NOT_LET_IN = ("authentication failed", "is not permitted to log in")
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",  # None, rather than one in a folder of the system.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
}


@dataclass(frozen=True, slots=True)
class Postgres:
    """Where the server is, and who may do everything there."""

    port: int
    host: str = LOOPBACK
    superuser: str = "postgres"
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)

    def dsn(self, user: str, password: str, database: str = "postgres") -> str:
        """Return the URL to log in with; Vault's ``{{username}}`` may stand for the user."""
        user, password = (quote(text, safe="{}") for text in (user, password))
        return f"postgresql://{user}:{password}@{self.host}:{self.port}/{database}?sslmode=disable"

    @property
    def jdbc_url(self) -> str:
        """The URL that a JDBC driver takes, without credentials."""
        return f"jdbc:postgresql://{self.host}:{self.port}/postgres?sslmode=disable"

    def valid(self, user: str, password: str) -> bool:
        """Try to log in; raise what psycopg raises if it fails for another reason."""
        import psycopg

        try:
            psycopg.connect(self.dsn(user, password), connect_timeout=10).close()
        except psycopg.OperationalError as error:
            gone = f'role "{user}" does not exist'  # It was dropped while we logged in.
            if any(words in str(error) for words in (*_NOT_LET_IN, gone)):
                return False
            raise
        return True


@contextmanager
def postgres(directory: Path | None = None) -> Iterator[Postgres]:
    """Run a server in *directory*, by default one that is removed afterwards; stop it at the end.

    PostgreSQL refuses to run as root. Where the tests do, it runs as ``postgres`` or ``nobody``,
    for whom others than root must be able to reach the *directory*.
    """
    user = _unprivileged() if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(dir=directory) as place:
        server = Postgres(free_port())
        data = Path(place, "data")
        if user is not None:
            _hand_over(Path(place), user)
        _create(data, server, user)
        settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
        command = [_program("postgres"), "-D", str(data), "-p", str(server.port), *settings]
        with serving(command, Path(place, "log"), stop=signal.SIGQUIT, user=user) as process:
            process.wait_until(lambda: _lets_in(server))
            yield server


def _unprivileged() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _hand_over(place: Path, user: str) -> None:
    closed = [parent for parent in place.parents if not parent.stat().st_mode & 0o001]
    if closed:
        raise PermissionError(f"PostgreSQL runs as {user}, who may not enter {str(closed[0])!r}")
    shutil.chown(place, user)


def _create(data: Path, server: Postgres, user: str | None) -> None:
    password = data.with_name("password")
    password.write_text(server.password)
    if user is not None:
        shutil.chown(password, user)
    command = [_program("initdb"), "--pgdata", str(data), "--username", server.superuser]
    command += ["--pwfile", str(password), "--auth", "scram-sha-256"]
    command += ["--no-locale", "--encoding", "UTF8", "--no-sync"]
    run(command, user=user)


def _program(name: str) -> str:
    return program(name, _DEBIAN, package="postgresql")


def _lets_in(server: Postgres) -> bool:
    import psycopg

    try:
        return server.valid(server.superuser, server.password)
    except psycopg.OperationalError:
        return False
