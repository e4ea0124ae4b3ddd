"""Makes the database that app.properties refers to. Run from the top of the repository."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

DATABASE = Path("examples/custom_provider/secrets.db")
ROWS = [("orders/db", "user", "orders"), ("orders/db", "password", "made-up-Jw5")]


def main() -> None:
    """Store the secrets in a new table."""
    DATABASE.unlink(missing_ok=True)
    with closing(sqlite3.connect(DATABASE)) as database, database:
        database.execute("CREATE TABLE secrets (path TEXT, key TEXT, value TEXT)")
        database.executemany("INSERT INTO secrets VALUES (?, ?, ?)", ROWS)
    print(f"{len(ROWS)} secrets are in {DATABASE}")


if __name__ == "__main__":
    main()
