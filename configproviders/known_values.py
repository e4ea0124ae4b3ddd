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

_LEAST, _MOST = 8, 1000


class KnownValues:
    """Values that must not be shown, the newest thousand. Thread-safe. ``repr`` shows no value.

    Rotated values come without end, and each makes cleaning slower.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lock = threading.Lock()
        self._values: dict[str, tuple[str, ...]] = {}  # With their forms; the oldest first.
        self._forms: tuple[str, ...] = ()

    def add(self, values: Iterable[str]) -> None:
        """Know *values* too; an empty one is passed over."""
        with self._lock:
            known, new = dict(self._values), False
            for value in filter(None, values):
                forms = known.pop(value, None)
                new = new or forms is None
                known[value] = tuple(spellings(value)) if forms is None else forms
            for value in list(known)[:-_MOST]:
                del known[value]
            self._values = known
            if new:
                every = {each for value in known if len(value) >= _LEAST for each in known[value]}
                # The longest first: one value may begin with another.
                self._forms = tuple(sorted(every, key=len, reverse=True))

    def clean(self, text: str) -> str:
        """Return *text* with :data:`REDACTED` in the place of each value that stands in it.

        Values of fewer than eight characters are replaced only if they are the whole *text*.
        """
        if text in self._values:
            return REDACTED
        for form in self._forms:  # Much faster than one pattern of all.
            text = text.replace(form, REDACTED)
        return text


def spellings(value: str) -> Iterator[str]:
    """Yield *value* as it is, and as SQL, URLs, JSON, HTML and Python write it."""
    yield value
    yield value.replace("'", "''")  # SQL's.
    for in_url in (
        quote(value, safe="", errors="replace"),
        quote(value, errors="replace"),
        quote_plus(value, errors="replace"),
    ):
        yield in_url
        yield re.sub("%..", lambda found: found[0].lower(), in_url)
    for in_json in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield in_json
        yield in_json.replace("/", "\\/")
        yield re.sub(r"(?<=\\u)....", lambda found: found[0].upper(), in_json)
    yield html.escape(value)
    yield repr(value)[1:-1]
