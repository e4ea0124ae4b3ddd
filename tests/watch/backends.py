"""A secret that is rotated, in each kind of place on this machine that a watcher may look at."""

from __future__ import annotations

import itertools
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from configproviders import (
    ConfigData,
    ConfigProvider,
    DirectoryConfigProvider,
    FileConfigProvider,
    properties,
)
from configproviders.errors import PathNotFound, ProviderUnavailable
from configproviders.testing import CANARY

Content = dict[str, str]
KEYS = ("username", "password")
NOTHING: Content = {}


class Secret(ABC):
    """A user name and a password that belong together, at *path*, and the hand that changes them.

    ``history`` has all that was there so far, in order. What is read through *provider* may be
    hard to reach for a while; the hand always reaches it.
    """

    poll_interval: ClassVar[timedelta] = timedelta(milliseconds=50)
    """How often a watcher has to look by itself."""

    def __init__(self, provider: ConfigProvider, path: str) -> None:
        self.provider = provider
        self.path = path
        self.history: list[Content] = []

    @abstractmethod
    def rotate(self) -> None:
        """Put another password there, and sometimes another user name."""

    @abstractmethod
    def rewrite(self) -> None:
        """Write once more what is there."""

    def delete(self) -> None:
        """Have nothing there, if the backend then says so."""

    def restore(self) -> None:
        """Undo :meth:`delete`."""

    def trouble(self, *, on: bool) -> None:
        """Make it hard to reach, if it ever is, or easy again."""


class StoredSecret(Secret):
    """A secret that its backend keeps as it was written."""

    def rotate(self) -> None:
        number = len(self.history)
        content = {"username": f"user-{number // 2}", "password": f"{CANARY}-{number}"}
        self._write(content)
        self.history.append(content)

    def rewrite(self) -> None:
        self._write(self.history[-1])

    def delete(self) -> None:
        self._remove()
        self.history.append(NOTHING)

    def restore(self) -> None:
        content = self.history[-2]
        self._bring_back(content)
        self.history.append(content)

    @abstractmethod
    def _write(self, content: Content) -> None: ...

    @abstractmethod
    def _remove(self) -> None: ...

    def _bring_back(self, content: Content) -> None:
        self._write(content)


class FileSecret(StoredSecret):
    """A properties file, saved in turn as a careful program, a simple and a cautious editor do.

    The editors are ``cp``: between its steps nothing but the system can make it wait, as the
    threads of a watcher could here.
    """

    poll_interval = timedelta(minutes=1)  # Events alone have to do.

    def __init__(self, directory: Path) -> None:
        self._file = directory / "db.properties"
        self._new = directory / "db.properties.new"
        self._saves = itertools.cycle((self._replace, self._overwrite, self._rename_and_write))
        super().__init__(FileConfigProvider(), str(self._file))

    def _write(self, content: Content) -> None:
        self._new.write_text(properties.dumps(content))
        next(self._saves)()

    def _remove(self) -> None:
        self._file.unlink()

    def _bring_back(self, content: Content) -> None:
        self._new.write_text(properties.dumps(content))
        self._replace()

    def _replace(self) -> None:
        self._new.replace(self._file)

    def _overwrite(self) -> None:
        _run("cp", self._new, self._file)

    def _rename_and_write(self) -> None:
        _run("cp", "--backup=simple", self._new, self._file)


class DirectorySecret(StoredSecret):
    """A directory with a file for each key, all replaced in a row; it goes and comes as a whole."""

    poll_interval = timedelta(minutes=1)  # Events alone have to do.

    def __init__(self, place: Path) -> None:
        self._directory, self._away = place / "db", place / "away"
        self._directory.mkdir()
        super().__init__(DirectoryConfigProvider(), str(self._directory))

    def _write(self, content: Content) -> None:
        files = [self._directory.with_name(key) for key in content]
        for file in files:
            file.write_text(content[file.name])
        _run("mv", *files, self._directory)

    def _remove(self) -> None:
        self._directory.rename(self._away)

    def _bring_back(self, content: Content) -> None:
        self._away.rename(self._directory)


class MountSecret(DirectorySecret):
    """A volume as Kubernetes mounts it: a link to one version is swapped for that to the next."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self._numbers = itertools.count()
        for key in KEYS:
            (self._directory / key).symlink_to(f"..data/{key}")

    def _write(self, content: Content) -> None:
        version = self._directory / f"..version-{next(self._numbers)}"
        version.mkdir()
        for key, value in content.items():
            (version / key).write_text(value)
        data = self._directory / "..data"
        old = list(data.resolve().iterdir()) if self.history else []
        link = data.with_name("..data_tmp")
        link.symlink_to(version.name)
        link.replace(data)
        for file in old:
            file.unlink()
        for directory in {file.parent for file in old}:
            directory.rmdir()


class Memory(ConfigProvider):
    """A provider of somebody's own, which has little more than it must."""

    poll_interval = timedelta(milliseconds=50)

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.content = NOTHING
        self.is_out_of_reach = False

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        with self.lock:
            if self.is_out_of_reach:
                raise ProviderUnavailable("the memory is out of reach")
            if not self.content:
                raise PathNotFound(f"nothing at {path!r}")
            wanted = self.content.keys() if keys is None else self.content.keys() & keys
            return ConfigData({key: self.content[key] for key in wanted})


class MemorySecret(StoredSecret):
    """A dictionary in this process."""

    def __init__(self) -> None:
        self._memory = Memory()
        super().__init__(self._memory, "db")

    def trouble(self, *, on: bool) -> None:
        self._memory.is_out_of_reach = on

    def _write(self, content: Content) -> None:
        with self._memory.lock:
            self._memory.content = content

    def _remove(self) -> None:
        self._write(NOTHING)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)
