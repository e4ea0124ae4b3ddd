"""Starts PostgreSQL and Vault, has keeps_querying.py query, and rotates its passwords meanwhile.

``make demo-rotation`` runs it, once ``make servers`` has installed the two. All ends with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from servers.postgres import Postgres, postgres
from servers.vault import Vault, vault

HERE = Path(__file__).parent
ROLES = ("orders", "stock", "reports")
OF_SERVERS = ("PG", "VAULT_", "BAO_")
ROUNDS = [[], [], [], [], ["--end-sessions", "--lag=2"]]


def main() -> None:
    """Rotate each password in each round, and show what the two programs print."""
    with tempfile.TemporaryDirectory() as place, postgres() as database, vault() as server:
        others = {key: os.environ[key] for key in os.environ if not key.startswith(OF_SERVERS)}
        environment = others | prepare(Path(place), database, server)

        def start(program: str, *arguments: str) -> subprocess.Popen[str]:
            return subprocess.Popen(  # noqa: S603  What is started stands next to this file.
                [sys.executable, "-u", str(HERE / program), *arguments],
                cwd=place,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )

        with start("rotate.py", *ROLES) as first:
            show(first)
        limits = [f"--changes={len(ROUNDS) * len(ROLES)}", "--seconds=120"]
        with start("keeps_querying.py", *limits) as program:
            show(program, until="querying as")
            for options in ROUNDS:
                with start("rotate.py", *options, *ROLES) as rotation:
                    show(rotation)
                for _ in ROLES:
                    show(program, until="has changed")
            show(program)


def prepare(place: Path, database: Postgres, server: Vault) -> dict[str, str]:
    """Make the roles, and the files that let the programs in; return where the servers are."""
    with psycopg.connect(database.dsn(database.superuser, database.password)) as connection:
        connection.execute("CREATE ROLE orders LOGIN; CREATE ROLE stock LOGIN")
        connection.execute("CREATE ROLE reports LOGIN")
    server.write("sys/mounts/database", type="database")
    server.write(
        "database/config/postgres",
        plugin_name="postgresql-database-plugin",
        connection_url=database.dsn("{{username}}", "{{password}}"),
        username=database.superuser,
        password=database.password,
        allowed_roles="orders",
    )
    role = {"db_name": "postgres", "username": "orders", "rotation_period": "24h"}
    server.write("database/static-roles/orders", **role)
    reads = server.allow("database/static-creds/orders", "secret/data/stock")
    writes = server.allow(
        "database/rotate-role/orders", "secret/data/stock", capabilities=("create", "update")
    )
    (place / "app-token").write_text(server.token(reads))
    (place / "admin-token").write_text(server.token(writes))
    (place / "pgpass").write_text(f"*:*:*:{database.superuser}:{database.password}\n")
    (place / "pgpass").chmod(0o600)
    return {
        "VAULT_ADDR": server.address,
        "PGHOST": database.host,
        "PGPORT": str(database.port),
        "PGDATABASE": "postgres",
        "PGPASSFILE": str(place / "pgpass"),
    }


def show(program: subprocess.Popen[str], until: str | None = None) -> None:
    """Print what *program* prints, to its end or to a line with the words *until*."""
    for line in program.stdout or ():
        print(line, end="", flush=True)
        if until and until in line:
            return
    if until or program.wait():
        sys.exit("a program has failed, or has ended too early")


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as missing:  # This is how the servers of the tests say so.
        sys.exit(str(missing))
