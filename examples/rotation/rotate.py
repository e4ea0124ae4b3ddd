"""Changes passwords of PostgreSQL, there and then where those who log in with them look for them.

An open session stays: PostgreSQL asks for the password when it begins. Who logs in between the two
steps is refused, and has to look again. A run that breaks off between them is repaired by another
one, since it is the administrator who logs in here (PGPASSFILE), and not the role itself.
"""

from __future__ import annotations

import argparse
import secrets
import time
from pathlib import Path

import hvac
import psycopg

from configproviders import properties

FILE = Path("reports.properties")
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY(%s)"


def main() -> None:
    """Change the passwords of the roles that the command line names."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--end-sessions", action="store_true", help="end those of the roles")
    parser.add_argument("--lag", type=float, default=0, help="seconds between the two steps")
    parser.add_argument("roles", nargs="+", choices=("orders", "stock", "reports"))
    arguments = parser.parse_args()
    vault = hvac.Client(token=Path("admin-token").read_text())
    passwords = {role: secrets.token_urlsafe(24) for role in arguments.roles}

    with psycopg.connect(user="postgres", autocommit=True) as database:
        for role, password in passwords.items():
            if role == "orders":  # Vault does both steps at once, with a password of its own.
                vault.write_data("database/rotate-role/orders")
            else:  # The server, and its log, gets a hash.
                database.pgconn.change_password(role.encode(), password.encode())
        if arguments.end_sessions:
            database.execute(END, [arguments.roles])
    time.sleep(arguments.lag)
    if "stock" in passwords:
        secret = {"user": "stock", "password": passwords["stock"]}
        vault.secrets.kv.v2.create_or_update_secret("stock", secret)
    if "reports" in passwords:
        secret = {"user": "reports", "password": passwords["reports"]}
        write(properties.dumps(secret), FILE)
    print(f"rotated: {', '.join(passwords)}")


def write(text: str, file: Path) -> None:
    """Replace *file* whole: who reads it sees the old one or the new one."""
    spare = file.with_suffix(".new")
    spare.touch(mode=0o600)
    spare.write_text(text)
    spare.replace(file)


if __name__ == "__main__":
    main()
