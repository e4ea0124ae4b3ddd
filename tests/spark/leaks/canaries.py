"""Random texts that stand for secrets, one for each way that a secret takes, and where they show.

A beacon is such a text that is no secret: a place where it is found was really read.
"""

from __future__ import annotations

import base64
import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field

_LETTERS = string.ascii_lowercase + string.digits
_AROUND = 160


@dataclass(frozen=True, slots=True)
class Hit:
    """A canary by its *name*, where it was found, and the text around it without the canary."""

    name: str
    where: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.name} in {self.where}: {self.excerpt}"


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of *canaries* (name to text) and of the *beacon*, by surface."""

    canaries: Mapping[str, str] = field(repr=False)
    beacon: str
    hits: dict[str, dict[str, Hit]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    def look(self, surface: str, where: str, content: bytes) -> None:
        """Search *content*, which *surface* shows at *where*; several threads may do so."""
        if any(form in content for form in forms(self.beacon)):
            self.read.add(surface)
        hits = self.hits.setdefault(surface, {})
        for name, text in self.canaries.items():
            if name in hits:
                continue
            for form in forms(text):
                if (at := content.find(form)) >= 0:
                    hits[name] = Hit(name, where, self._excerpt(content, at, len(form)))

    def _excerpt(self, content: bytes, at: int, length: int) -> str:
        around = content[max(at - _AROUND, 0) : at + length + _AROUND]
        for name, text in self.canaries.items():
            for form in forms(text):
                around = around.replace(form, f"<{name}>".encode())
        return around.decode(errors="replace").replace("\0", " ")


def random_text() -> str:
    """Return a text that stands nowhere by chance, and may be the name of a role or a column."""
    return "c" + "".join(secrets.choice(_LETTERS) for _ in range(23))


def forms(text: str) -> list[bytes]:
    """Return how *text* may be written: as it is, in base64 from any offset, as UTF-16.

    Letters and digits stay what they are in URLs, JSON, XML and shells.
    """
    raw = text.encode()
    return [raw, *(_in_base64(raw, offset) for offset in range(3)), text.encode("utf-16-le")]


def _in_base64(raw: bytes, offset: int) -> bytes:
    """Return the characters that *raw* alone decides when *offset* bytes stand before it."""
    encoded = base64.b64encode(b"\0" * offset + raw)
    return encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
