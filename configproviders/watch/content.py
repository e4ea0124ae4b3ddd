"""What was there, without keeping it: a digest for each value, by a key that this process made."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ..data import Answer, ConfigData
from .change import ChangeKind

_KEY = secrets.token_bytes(32)
_BYTES = 16


@dataclass(frozen=True, slots=True)
class Content:
    """The values at a location, as digests, and their version where the backend has one.

    The content decides what a change is, and not the version: a backend may give the same values
    a new version, and a secret that is made anew an old one. No values and no path are the same.
    """

    digests: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    version: str | None = None

    @classmethod
    def of(cls, values: Mapping[str, str], version: str | None = None) -> Content:
        """Take the digests of *values*."""
        return cls({key: _digest(value) for key, value in values.items()}, version)

    @classmethod
    def before(cls, answer: Answer) -> Content:
        """Take what *answer* holds, however old: it is what a config was made of."""
        return cls.of(answer.data, answer.version) if isinstance(answer, ConfigData) else NOTHING

    def only(self, keys: Collection[str]) -> Content:
        """Return what there is of *keys*; all of it if there are none."""
        if not keys:
            return self
        digests = self.digests
        return Content({key: digests[key] for key in keys if key in digests}, self.version)

    def keeping(self, keys: Collection[str], before: Content) -> Content:
        """Return this with what *before* knew of *keys*, which cannot be read now."""
        kept = {key: before.digests[key] for key in keys if key in before.digests}
        return Content({**self.digests, **kept}, self.version)

    def changed_since(self, before: Content) -> frozenset[str]:
        """Return the keys whose value is another, or is only here or only there."""
        if self.digests == before.digests:
            return frozenset()
        return frozenset(key for key, _ in self.digests.items() ^ before.digests.items())

    def kind_since(self, before: Content) -> ChangeKind:
        """Say what kind of change led from *before* to this."""
        if not before.digests:
            return ChangeKind.APPEARED
        return ChangeKind.CHANGED if self.digests else ChangeKind.DELETED


NOTHING = Content()
"""What a path holds that is not there."""


def _digest(value: str) -> bytes:
    return blake2b(value.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=_BYTES).digest()
