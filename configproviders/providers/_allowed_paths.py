"""``allowed.paths``: the files and directories that a provider may read (KIP-993)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..config_def import ConfigKey, ConfigType
from ..errors import LookupDenied, shorten


class AllowedPaths:
    """A path is allowed if what it leads to, links resolved, is a listed path or below one.

    Kafka compares the text of paths, so there a link inside leads outside.
    """

    def __init__(self, paths: Iterable[str] | None = None) -> None:
        """Allow *paths*, each absolute and existing; everything if *paths* is ``None``.

        Raises ``ValueError`` for a path that is neither.
        """
        self._paths = None if paths is None else tuple(paths)
        for path in self._paths or ():
            if not os.path.isabs(path):
                raise ValueError(f"{path!r} is not absolute")
            if not os.path.exists(path):
                raise ValueError(f"{path!r} does not exist")

    @classmethod
    def parse(cls, text: str) -> AllowedPaths:
        """Read the setting. Empty text allows all, as in Kafka; a lone comma allows nothing."""
        if not text.strip():
            return cls()
        return cls(path for part in text.split(",") if (path := part.strip()))

    @property
    def is_everything(self) -> bool:
        """Whether no path is refused."""
        return self._paths is None

    def resolve(self, path: str) -> str:
        """Return the path to open for *path*; raise :class:`LookupDenied` if it is outside.

        The listed paths are resolved anew each time, since a deployment may swap a link.
        """
        if self._paths is None:
            return path
        real = os.path.realpath(path)
        for allowed in map(os.path.realpath, self._paths):
            if real == allowed or real.startswith(os.path.join(allowed, "")):
                return real
        raise LookupDenied(f"{shorten(path)!r} is refused: it is not within allowed.paths")


ALLOWED_PATHS = ConfigKey(
    "allowed.paths",
    ConfigType("list of paths", AllowedPaths.parse),
    AllowedPaths(),
    "medium",
    "Absolute paths, separated by commas: only these and what is below them may be read."
    " Unset or empty allows all.",
)
