"""The shapes of what AWS answers, which the SDK does not check."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any


def entries(answer: Mapping[str, object], name: str) -> list[Mapping[str, Any]]:
    """Return the structures in the list *name* of *answer*, without what is none."""
    found = answer.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text(entry: Mapping[str, object], name: str) -> str | None:
    """Return the text *name* of *entry*, or ``None`` if it has none."""
    found = entry.get(name)
    return found if isinstance(found, str) else None


def blob(encoded: str) -> bytes | None:
    """Return the bytes in *encoded*, or ``None`` if it is not base64."""
    try:
        return b64decode(encoded, validate=True)
    except (TypeError, ValueError):
        return None
