"""Values from the table ``secrets(path, key, value)`` of a SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path

from configproviders import ConfigData, ConfigException, ConfigProvider
from configproviders.config_def import STRING, ConfigDef, ConfigKey
from configproviders.errors import PathNotFound, ProviderUnavailable

DATABASE = ConfigKey("database", STRING, None, "high", "The file of the SQLite database.")


class SqliteConfigProvider(ConfigProvider):
    """Looks up ``${name:path:key}`` in a table; one connection per lookup, so thread-safe."""

    config_def = ConfigDef((DATABASE,))

    def __init__(self, database: str | None = None) -> None:
        """Read *database*, or what the setting of that name says."""
        self._database = database

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        self.config_def.validate(configs)
        self._database = DATABASE.read(configs)
        if not self._database:
            raise ConfigException("setting 'database' is missing: the file of the database")

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the values of *keys* at *path*."""
        uri = f"{Path(self._database or '').absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as database:
                rows = database.execute("SELECT key, value FROM secrets WHERE path = ?", [path])
                values = dict(rows.fetchall())
        except sqlite3.Error as error:
            raise ProviderUnavailable(f"cannot read the database {self._database!r}") from error
        if not values:
            raise PathNotFound(f"no rows with path {path!r} in {self._database!r}")
        wanted = values if keys is None else {key: values[key] for key in keys if key in values}
        return ConfigData(wanted, available=values.keys())

    def files(self, path: str) -> Collection[str]:  # noqa: ARG002  All paths are in one file.
        """Return the database: when it is written, who subscribed is told at once."""
        return [self._database] if self._database else []
