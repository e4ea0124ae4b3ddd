"""Values from a file: ``${file:/path/of.properties:key}``; also JSON, YAML and TOML."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping

from ..config_def import ConfigDef
from ..data import ConfigData
from ..errors import KeyNotFound, MalformedText, shorten
from ..formats import decode, format_of, parse
from ..provider import ConfigProvider
from . import _files
from ._allowed_paths import ALLOWED_PATHS

_KEPT_FILES = 256


class FileConfigProvider(ConfigProvider):
    """The entries of a file; its suffix says the format, and any unknown one means properties.

    In ``.json``, ``.yaml``, ``.yml`` and ``.toml`` files a key is a dotted path. A parsed file is
    kept until inode, size or time of the file change. A byte order mark is dropped. An empty path
    holds nothing. Settings as Kafka's provider of that name, but links are resolved before a path
    is allowed.
    """

    config_def = ConfigDef((ALLOWED_PATHS,))
    waits = False

    def __init__(self) -> None:
        """Allow all paths until configured."""
        self._allowed = ALLOWED_PATHS.default
        self._kept: dict[str, tuple[_files.State, dict[str, str]]] = {}
        self._lock = threading.Lock()

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        self.config_def.validate(configs)
        self._allowed = ALLOWED_PATHS.read(configs)

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the entries *keys* of the file at *path*.

        Raises :class:`PathNotFound`, :class:`LookupDenied`, :class:`MalformedText` with the line,
        or :class:`LookupFailed` for more than 16 MiB and for what is no regular file.
        """
        if not path:
            return ConfigData({}, errors={key: _no_path(key) for key in keys or ()})
        entries = self._entries(os.fspath(path))
        if keys is None:
            return ConfigData(entries)
        # A line without a value may be a bare secret, in a file that is no properties file.
        names = [key for key, value in entries.items() if value]
        return ConfigData({key: entries[key] for key in keys if key in entries}, available=names)

    def files(self, path: str) -> Collection[str]:
        """Return the file itself."""
        return (path,) if path else ()

    def close(self) -> None:
        """Forget what was read, and who subscribed."""
        super().close()
        with self._lock:
            self._kept.clear()

    def _entries(self, path: str) -> dict[str, str]:
        kept = self._kept.get(path)
        if kept is not None and kept[0] == _files.state_of(path, self._allowed):
            return kept[1]
        content, state = _files.read(path, self._allowed)
        try:
            entries = parse(decode(content), format_of(path))
        except MalformedText as error:
            raise MalformedText(f"{shorten(path)}: {error}") from None
        if state.is_settled:
            self._keep(path, state, entries)
        return entries

    def _keep(self, path: str, state: _files.State, entries: dict[str, str]) -> None:
        with self._lock:
            self._kept.pop(path, None)
            while len(self._kept) >= _KEPT_FILES:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = state, entries


def _no_path(key: str) -> KeyNotFound:
    return KeyNotFound(f"no file is named: write ${{file:/path/of/the/file:{shorten(key)}}}")
