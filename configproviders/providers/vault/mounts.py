"""Where secrets are: which part of a path is a mount, and whether ``data/`` belongs behind it.

A KV engine of version 2 has the secret that its users call ``secret/db`` at ``secret/data/db``.
Both are accepted. Unless settings say it, Vault is asked, once for a mount, by what its own CLI
asks: ``sys/internal/ui/mounts/<path>``, open to whoever may read anything below the mount. A path
that has ``data`` in it is read as it stands first, since mostly that is right and saves the call.

Settings speak of KV mounts. What looks like a path of another engine, such as
``database/creds/orders``, is looked up all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...errors import LookupDenied, PathNotFound
from ...single_flight import SingleFlight
from . import settings as s
from .auth import LoginDenied
from .lifetimes import whole

if TYPE_CHECKING:
    from .client import Answer

ASKED = "sys/internal/ui/mounts"
"""Where Vault says what is mounted; no use of a token is counted for it."""

_DATA = "data"
_OTHER_ENGINES = ("creds/", "static-creds/", "static-cred/", "sts/", "issue/")


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
        self._asking: SingleFlight[tuple[str, Mount | None]] = SingleFlight()

    def said(self, path: str) -> Mount | None:
        """Return the mount of *path* if settings say it."""
        if self._version == "auto":
            return None
        mount = self._mount or "/".join(path.split("/")[: self._depth])
        mount = f"{mount.strip('/')}/"
        if not path.startswith(mount) or path.removeprefix(mount).startswith(_OTHER_ENGINES):
            return None
        return Mount(mount, self._version == "2")

    def known(self, path: str) -> Mount | None:
        """Return the mount of *path*, if settings or an earlier answer say it; asks nobody."""
        if mount := self.said(path):
            return mount
        ends = [at + 1 for at, letter in enumerate(path) if letter == "/"]
        found = (self._known.get(path[:end]) for end in reversed(ends))
        return next((mount for mount in found if mount), None)

    def of(self, path: str) -> Mount | None:
        """Return the mount of *path*, asking if need be; ``None`` if Vault does not tell."""
        if mount := self.known(path):
            return mount
        # Many paths of one mount come at once: one asks, and mostly the answer is that of all.
        first, _, _ = path.partition("/")
        asked, mount = self._asking.do(first, lambda: (path, self._discover(path)))
        if mount is None and asked == path:
            return None
        return self.known(path) or self._asking.do(path, lambda: (path, self._discover(path)))[1]

    def learn(self, path: str, answer: Answer) -> None:
        """Take from *answer*, read at *path* as typed, that its mount has KV version 2."""
        mount, *rest = path.split(f"/{_DATA}/")
        if len(rest) == 1 and is_kv2(answer):
            self._known.setdefault(f"{mount}/", Mount(f"{mount}/", is_kv2=True))

    def _discover(self, path: str) -> Mount | None:
        try:
            data = self._ask(f"{ASKED}/{path}").get("data")
        except LoginDenied:
            raise
        except (LookupDenied, PathNotFound):
            return None
        if not isinstance(data, Mapping) or not isinstance(data.get("path"), str):
            return None
        options = data.get("options")
        version = options.get("version") if isinstance(options, Mapping) else None
        mount = Mount(data["path"], data.get("type") == "kv" and str(version) == "2")
        self._known[mount.path] = mount
        return mount


def may_be_api_path(path: str) -> bool:
    """Return whether ``data`` stands in *path* where a KV engine of version 2 would have it."""
    return _DATA in path.split("/")[1:-1]


def is_kv2(answer: Answer) -> bool:
    """Return whether *answer* has the shape that KV engines of version 2 give.

    A secret of version 1 may look the same, but comes with the lease time of its mount.
    """
    data = answer.get("data")
    if not isinstance(data, Mapping) or data.keys() != {"data", "metadata"}:
        return False
    metadata = data["metadata"]
    if not isinstance(metadata, Mapping) or whole(answer.get("lease_duration")):
        return False
    return set(metadata) >= {"version", "created_time", "deletion_time", "destroyed"}
