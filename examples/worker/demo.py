"""Starts PostgreSQL, Vault and a worker, creates a connector with curl, and rotates its password.

``make demo-worker`` runs it, once ``make servers`` has installed the two. All ends with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet
import pytest
from servers.jars import POSTGRESQL, jar
from servers.postgres import Postgres, postgres
from servers.processes import Server, accepts, free_port, serving
from servers.vault import Vault, vault

HERE = Path(__file__).parent
PORT = 8083
ROWS = "INSERT INTO orders SELECT id, id * 1.5 FROM generate_series(%s::int, %s::int) id"
OF_VAULT = ("VAULT_", "BAO_")


def main() -> None:
    """Have a table copied, before and after its password is another one."""
    with tempfile.TemporaryDirectory() as directory, postgres() as database, vault() as server:
        place = Path(directory)
        prepare(place, database, server)
        with worker(place, server) as (process, url):
            print(f"the worker's page is at {url}/ui#orders")
            curl(url, "/connectors", "--json", f"@{place / 'orders.json'}")
            process.wait_until(lambda: has_read(url, 1000), seconds=120)
            print(f"orders is {state(url)}, and has read the 1,000 rows of its table")

            before = server.read("database/static-creds/orders")["password"]
            server.write("database/rotate-role/orders")
            still = database.valid("orders", before)
            print(f"Vault has changed the password; PostgreSQL takes the old one: {still}")
            insert(database, 1001, 2000)
            process.wait_until(lambda: has_restarted(url) and has_read(url, 2000))
            print(f"orders is {state(url)}, and has read 2,000 rows with the new one")

            if sys.stdin.isatty():
                input("Enter stops it all: ")
            curl(url, "/connectors/orders/stop", "--request", "PUT")
            written = pyarrow.parquet.read_table(place / "orders.parquet").num_rows
            print(f"orders is {state(url)}, and {written:,} rows are in orders.parquet")


def prepare(place: Path, database: Postgres, server: Vault) -> None:
    """Make the table, its reader, whom Vault rotates, and the files that the worker needs."""
    with psycopg.connect(database.dsn(database.superuser, database.password)) as connection:
        connection.execute("CREATE TABLE orders (id int, price float); CREATE ROLE orders LOGIN")
        connection.execute("GRANT SELECT ON orders TO orders")
    insert(database, 1, 1000)
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
    policy = server.allow("database/static-creds/orders")
    (place / "worker-token").write_text(server.token(policy))
    shutil.copy(jar(POSTGRESQL), place / "postgresql.jar")
    connector = (HERE / "orders.json").read_text()
    (place / "orders.json").write_text(connector.replace("5432", str(database.port)))


def insert(database: Postgres, first: int, last: int) -> None:
    """Add rows to the table."""
    with psycopg.connect(database.dsn(database.superuser, database.password)) as connection:
        connection.execute(ROWS, [first, last])


@contextmanager
def worker(place: Path, server: Vault) -> Iterator[tuple[Server, str]]:
    """Run a worker in *place*; on a port of its own if somebody has that of worker.properties."""
    port = free_port() if accepts(PORT) else PORT
    text = (HERE / "worker.properties").read_text()
    (place / "worker.properties").write_text(text.replace(str(PORT), str(port)))
    others = {key: os.environ[key] for key in os.environ if not key.startswith(OF_VAULT)}
    command = ["env", f"--chdir={place}", sys.executable, "-m", "configproviders.worker"]
    log = place / "log"
    with serving(
        [*command, "worker.properties"], log, environ={**others, "VAULT_ADDR": server.address}
    ) as process:
        process.wait_until(lambda: accepts(port))
        yield process, f"http://127.0.0.1:{port}"


def curl(url: str, path: str, *options: str) -> Any:
    """Return what the worker answers, as JSON if it answers anything; end if it refuses."""
    command = ["curl", "--silent", "--show-error", "--fail-with-body", *options, url + path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  Ours.
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    return json.loads(done.stdout or "null")


def state(url: str) -> str:
    """Return the state of the connector."""
    status = curl(url, "/connectors/orders/status")
    return str(status["connector"]["state"])


def has_read(url: str, count: int) -> bool:
    """Tell whether its task has read so many rows since it was started."""
    progress = curl(url, "/connectors?expand=progress")["orders"]["progress"]
    return any((task["rows"] or 0) >= count for task in progress.values())


def has_restarted(url: str) -> bool:
    """Tell whether it was started anew after its password had changed."""
    secrets = curl(url, "/connectors/orders/secrets")
    return any(each["changed_at"] and each["resolved_at"] > each["changed_at"] for each in secrets)


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as missing:  # This is how the servers of the tests say so.
        sys.exit(str(missing))
