"""The grammar of references: ``${provider:path:key}`` and ``$<provider:path:key>``.

The provider ends at the first colon, the path at the second; all the rest, colons included, is
the key. With one colon there is no path. Each part may be empty and may hold anything but the
closing character. There is no escape and no nesting. These are the matches of Kafka's pattern
(KIP-297) on every text, and the same with ``<`` and ``>``; where both could open, the leftmost
wins.

Kafka's pattern takes time of the fourth power of the text's length when nothing closes. Here each
opener asks three questions (where is the next closer, the first colon, the second?), and an answer
serves every later opener in front of it, so the time is linear whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from .errors import ConfigException

_CLOSER = {"{": "}", "<": ">"}
_REMEMBERED_TEXTS = 8192
_REMEMBERED_CHARACTERS = 1024


class Reference(NamedTuple):
    """One reference in a text: what it asks for, and where it stands.

    ``text`` is the reference as typed, ``start`` its offset in characters. A named tuple, since
    thousands are made at a time.
    """

    provider: str
    path: str
    key: str
    text: str
    start: int


def find(text: str, pattern: re.Pattern[str] | None = None) -> tuple[Reference, ...]:
    """Return the references in *text*, left to right.

    *pattern* replaces the grammar, as KIP-297 allows: its groups are named ``provider``, ``path``
    (may be left out) and ``key``, or numbered 1, 3 and 4 as in Kafka's. Its speed is its author's.
    """
    if pattern is not None:
        return tuple(_matches(text, pattern))
    if "$" not in text:
        return ()
    if len(text) <= _REMEMBERED_CHARACTERS:
        return _remembered(text)
    return tuple(_scan(text))


def substitute(text: str, replacements: Iterable[tuple[Reference, str]]) -> str:
    """Put each value where its reference stands in *text*; values are not looked into."""
    pieces: list[str] = []
    end = 0
    for reference, value in replacements:
        pieces += text[end : reference.start], value
        end = reference.start + len(reference.text)
    pieces.append(text[end:])
    return "".join(pieces)


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def _remembered(text: str) -> tuple[Reference, ...]:
    return tuple(_scan(text))


def _scan(text: str) -> Iterator[Reference]:
    find_colon, find_closer = _finder(text, ":"), {c: _finder(text, c) for c in _CLOSER.values()}
    start = text.find("$")
    while start >= 0:
        begin = start + 2
        closer = _CLOSER.get(text[start + 1 : begin])
        end = find_closer[closer](begin) if closer else -1
        colon = find_colon(begin)
        if end < 0 or not begin <= colon < end:
            start = text.find("$", start + 1)
            continue
        second = text.find(":", colon + 1, end)
        path = text[colon + 1 : second] if second >= 0 else ""
        key = text[max(colon, second) + 1 : end]
        yield Reference(text[begin:colon], path, key, text[start : end + 1], start)
        start = text.find("$", end + 1)


def _finder(text: str, character: str) -> Callable[[int], int]:
    """Return a ``text.find(character, start)`` for starts that only grow; it reads *text* once."""
    found = -2

    def find_from(start: int) -> int:
        nonlocal found
        if found == -2 or -1 < found < start:  # noqa: PLR2004  -2: not yet asked, -1: none left.
            found = text.find(character, start)
        return found

    return find_from


def _matches(text: str, pattern: re.Pattern[str]) -> Iterator[Reference]:
    provider, path, key = _groups(pattern)
    for match in pattern.finditer(text):
        parts = (match[provider] or "", (match[path] or "") if path else "", match[key] or "")
        yield Reference(*parts, match[0], match.start())


def _groups(pattern: re.Pattern[str]) -> tuple[str | int, str | int | None, str | int]:
    names = pattern.groupindex
    if {"provider", "key"} <= names.keys():
        return "provider", "path" if "path" in names else None, "key"
    if pattern.groups >= 4:  # noqa: PLR2004  Kafka's numbering: 1 provider, 3 path, 4 key.
        return 1, 3, 4
    raise ConfigException(
        f"the pattern {pattern.pattern!r} has no groups named 'provider' and 'key'"
        " (and not Kafka's four numbered ones)"
    )
