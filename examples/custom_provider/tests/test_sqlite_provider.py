"""The whole contract, for a provider in a package of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from configproviders_sqlite import SqliteConfigProvider

from configproviders import ConfigTransformer, load_providers
from configproviders.testing import ConfigProviderContract, Serve


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Store values in a database, in the place of those before."""

    def store(values: Mapping[str, str]) -> tuple[SqliteConfigProvider, str]:
        rows = [("orders/db", key, value) for key, value in values.items()]
        with sqlite3.connect(tmp_path / "secrets.db") as database:
            database.execute("CREATE TABLE IF NOT EXISTS secrets (path TEXT, key TEXT, value TEXT)")
            database.execute("DELETE FROM secrets")
            database.executemany("INSERT INTO secrets VALUES (?, ?, ?)", rows)
        database.close()
        return SqliteConfigProvider(str(tmp_path / "secrets.db")), "orders/db"

    return store


class TestSqliteConfigProvider(ConfigProviderContract):
    """Runs the cases that every provider passes."""

    registry_name = "sqlite"

    @pytest.fixture
    def serve(self, serve: Serve) -> Serve:
        """Take the fixture above."""
        return serve


def test_it_is_found_by_its_entry_point(serve: Serve, tmp_path: Path) -> None:
    """A config names it like a built-in provider."""
    serve({"password": "p"})
    providers = load_providers(
        {
            "config.providers": "db",
            "config.providers.db.class": "sqlite",
            "config.providers.db.param.database": str(tmp_path / "secrets.db"),
        }
    )

    result = ConfigTransformer(providers).transform({"pw": "${db:orders/db:password}"})

    assert result.data == {"pw": "p"}
