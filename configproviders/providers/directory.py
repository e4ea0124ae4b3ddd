"""Values from a directory of files, such as a Kubernetes secret: ``${directory:/path:file}``."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from ..config_def import BOOLEAN, ConfigDef, ConfigKey
from ..data import ConfigData
from ..errors import (
    ConfigException,
    KeyNotFound,
    LookupDenied,
    LookupFailed,
    MalformedText,
    PathNotFound,
    shorten,
)
from ..formats import decode
from ..provider import ConfigProvider
from . import _files
from ._allowed_paths import ALLOWED_PATHS

_STRIP = ConfigKey(
    "strip.trailing.newline",
    BOOLEAN,
    False,  # noqa: FBT003  The default of a boolean setting.
    "low",
    "Drop one newline at the end of each value; Kafka keeps it.",
)


class DirectoryConfigProvider(ConfigProvider):
    """The files directly in a directory: the name is the key, the whole content the value.

    Links to files count, directories do not. The values of one answer belong to one state of the
    directory, also while Kubernetes swaps a mounted secret. An empty path holds nothing. Settings
    as Kafka's provider of that name (KIP-632), but links are resolved before a path is allowed,
    and content that is not UTF-8 is an error of its key.
    """

    config_def = ConfigDef((ALLOWED_PATHS, _STRIP))
    waits = False

    def __init__(self) -> None:
        """Allow all paths and keep newlines until configured."""
        self._allowed = ALLOWED_PATHS.default
        self._strips = _STRIP.default

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        self.config_def.validate(configs)
        self._allowed = ALLOWED_PATHS.read(configs)
        self._strips = _STRIP.read(configs)

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the contents of the files *keys* in the directory *path*.

        Raises :class:`PathNotFound` if it is none, and :class:`LookupDenied`. A file that is
        there and cannot be read is an error of its key, in ``errors`` of the result.
        """
        if not path:
            return ConfigData({}, errors={key: _no_path(key) for key in keys or ()})
        path = os.fspath(path)
        for _ in range(_files.ATTEMPTS):
            names = self._names(path)
            asked = names if keys is None else names.intersection(keys)
            values, errors, states = self._read(path, asked)
            if self._is_unchanged(path, states):
                return ConfigData(values, available=names, errors=errors)
        raise LookupFailed(f"cannot read {shorten(path)!r}: it changes while it is read")

    def files(self, path: str) -> Collection[str]:
        """Return the directory itself, and the links in it that lead out of it."""
        return (path, *self._links_out(path)) if path else ()

    def _links_out(self, path: str) -> list[str]:
        """Return the links that lead further than to a name, or through another link, in *path*.

        In a mount of Kubernetes there are none: all lead through ``..data``.
        """
        try:
            with os.scandir(self._allowed.resolve(path)) as entries:
                links = {each.name: os.readlink(each) for each in entries if each.is_symlink()}
        except (LookupDenied, OSError, ValueError):  # It cannot be read, or changes just now.
            return []
        return [
            os.path.join(path, name)
            for name, target in links.items()
            if os.sep in target and target.split(os.sep)[0] not in links
        ]

    def _names(self, path: str) -> set[str]:
        try:
            with os.scandir(self._allowed.resolve(path)) as entries:
                return {entry.name for entry in entries if _may_be_file(entry)}
        except (OSError, ValueError) as error:
            raise _files.failure(path, error) from error

    def _read(
        self, path: str, names: Collection[str]
    ) -> tuple[dict[str, str], dict[str, ConfigException], dict[str, _files.State]]:
        values: dict[str, str] = {}
        errors: dict[str, ConfigException] = {}
        states: dict[str, _files.State] = {}
        for name in names:
            try:
                content, states[name] = _files.read(os.path.join(path, name), self._allowed)
                values[name] = self._value(decode(content, "utf-8"))
            except MalformedText as error:
                errors[name] = MalformedText(f"{shorten(os.path.join(path, name))}: {error}")
            except LookupFailed as error:
                errors[name] = error
        return values, errors, states

    def _value(self, text: str) -> str:
        return text[: -1 - text.endswith("\r\n")] if self._strips and text.endswith("\n") else text

    def _is_unchanged(self, path: str, states: Mapping[str, _files.State]) -> bool:
        try:
            return all(
                state == _files.state_of(os.path.join(path, name), self._allowed)
                for name, state in states.items()
            )
        except PathNotFound:
            return False


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # Such as a link in a loop: reading it says why.
        return True


def _no_path(key: str) -> KeyNotFound:
    return KeyNotFound(f"no directory is named: write ${{directory:/path:{shorten(key)}}}")
