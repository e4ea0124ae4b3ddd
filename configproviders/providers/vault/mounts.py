"""Where secrets are: which part of a path is a mount, and whether ``data/`` belongs behind it.

A KV engine of version 2 has the secret that its users call ``secret/db`` at ``secret/data/db``.
Both are accepted. Unless settings say it, Vault is asked, once for a mount, by what its own CLI
asks: ``sys/internal/ui/mounts/<path>``, open to whoever may read anything below the mount. A path
that has ``data`` in it is read as it stands first, since mostly that is right and saves the call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...errors import LookupDenied, PathNotFound
from . import settings as s
from .auth import LoginDenied

if TYPE_CHECKING:
    from .client import Answer

_DATA = "data"


class Mount(NamedTuple):
    """A path, with a slash at its end, and whether a KV engine of version 2 is mounted there."""

    path: str
    is_kv2: bool

    def api_path(self, path: str) -> str:
        """Return where the secret at *path* is read."""
        rest = path.removeprefix(self.path)
        if not self.is_kv2 or rest.startswith(f"{_DATA}/"):
            return path
        return f"{self.path}{_DATA}/{rest}"


class Mounts:
    """The mounts known so far. Thread-safe."""

    def __init__(self, settings: Mapping[str, object], ask: Callable[[str], Answer]) -> None:
        """Take what *settings* say; *ask* reads a path of Vault's API."""
        self._version = s.KV_VERSION.read(settings)
        self._mount = s.KV_MOUNT.read(settings)
        self._depth = s.KV_DEPTH.read(settings)
        self._ask = ask
        self._known: dict[str, Mount] = {}
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}

    def known(self, path: str) -> Mount | None:
        """Return the mount of *path*, if settings or an earlier answer say it; asks nobody."""
        if self._version != "auto":
            return Mount(self._by_settings(path), self._version == "2")
        ends = [at + 1 for at, letter in enumerate(path) if letter == "/"]
        found = (self._known.get(path[:end]) for end in reversed(ends))
        return next((mount for mount in found if mount), None)

    def of(self, path: str) -> Mount | None:
        """Return the mount of *path*, asking if need be; ``None`` if Vault does not tell."""
        if mount := self.known(path):
            return mount
        first = path.split("/", maxsplit=1)[0]
        with self._lock:
            lock = self._asking.setdefault(first, threading.Lock())
        with lock:  # Many paths of one mount come at once; one asks for all.
            return self.known(path) or self._discover(path)

    def learn(self, path: str, answer: Answer) -> None:
        """Take from *answer*, read at *path* as typed, that its mount has KV version 2."""
        mount, found, _ = path.partition(f"/{_DATA}/")
        if found and self._version == "auto" and is_kv2(answer):
            self._known.setdefault(f"{mount}/", Mount(f"{mount}/", is_kv2=True))

    def _discover(self, path: str) -> Mount | None:
        try:
            data = self._ask(f"sys/internal/ui/mounts/{path}").get("data")
        except LoginDenied:
            raise
        except (LookupDenied, PathNotFound):
            return None
        if not isinstance(data, Mapping) or not data.get("path"):
            return None
        version = (data.get("options") or {}).get("version")
        mount = Mount(str(data["path"]), data.get("type") == "kv" and str(version) == "2")
        self._known[mount.path] = mount
        return mount

    def _by_settings(self, path: str) -> str:
        mount = self._mount or "/".join(path.split("/")[: self._depth])
        return f"{mount.strip('/')}/"


def may_be_api_path(path: str) -> bool:
    """Return whether ``data`` stands in *path* where a KV engine of version 2 would have it."""
    return _DATA in path.split("/")[1:-1]


def is_kv2(answer: Answer) -> bool:
    """Return whether *answer* has the shape that KV engines of version 2 give."""
    data = answer.get("data")
    if not isinstance(data, Mapping) or data.keys() != {"data", "metadata"}:
        return False
    metadata = data["metadata"]
    return isinstance(metadata, Mapping) and set(metadata) >= {"version", "created_time"}
