"""Texts cleaned of values that are known to be secret, before they are shown: :class:`KnownValues`.

A value is looked for as it is and as other programs write it: in a URL, in JSON, in HTML, in the
``repr`` of Python. One that is too short stands in any text by chance, so it is hidden only where
it is the whole text.
"""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

REDACTED = "*********(redacted)"
"""What stands in the place of a value: Spark's own mark."""

_LEAST = 8


class KnownValues:
    """Values that must not be shown. Thread-safe; it only grows. ``repr`` shows no value."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lock = threading.Lock()
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, values: Iterable[str]) -> None:
        """Know *values* too; an empty one is passed over."""
        with self._lock:
            more = {value for value in values if value} - self._values
            if more:
                self._values |= more
                self._pattern = None

    def clean(self, text: str) -> str:
        """Return *text* with :data:`REDACTED` in the place of each value that stands in it.

        Values of fewer than eight characters are replaced only if they are the whole *text*.
        """
        if text in self._values:
            return REDACTED
        pattern = self._pattern or self._compiled()
        return pattern.sub(REDACTED, text) if pattern.pattern else text

    def _compiled(self) -> re.Pattern[str]:
        with self._lock:
            if self._pattern is None:
                long = (value for value in self._values if len(value) >= _LEAST)
                forms = {form for value in long for form in _forms(value)}
                # The longest first: one value may begin with another.
                ordered = sorted(forms, key=lambda form: (-len(form), form))
                self._pattern = re.compile("|".join(map(re.escape, ordered)))
            return self._pattern


def _forms(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="", errors="replace")
    yield quote(value, errors="replace")
    yield quote_plus(value, errors="replace")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield html.escape(value)
    yield repr(value)[1:-1]
