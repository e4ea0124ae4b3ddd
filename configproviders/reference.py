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
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from .errors import ConfigException

_CLOSER = {"{": "}", "<": ">"}
_REMEMBERED_TEXTS = 8192
_REMEMBERED_CHARACTERS = 1024


V = TypeVar("V", str, str | None)


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
    return _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _scan(text)


def find_all(
    configs: Mapping[str, object], pattern: re.Pattern[str] | None = None
) -> dict[str, tuple[Reference, ...]]:
    """Return the references of each value of *configs* that is text and has any."""
    if pattern is not None:
        texts = {name: text for name, text in configs.items() if isinstance(text, str)}
        return {name: found for name, text in texts.items() if (found := find(text, pattern))}
    return {
        name: found
        for name, text in configs.items()
        if isinstance(text, str)
        and "$" in text
        and (found := _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _scan(text))
    }


def substitute(
    configs: Mapping[str, V],
    references: Mapping[str, Sequence[Reference]],
    values: Mapping[tuple[str, str], Mapping[str, str]],
) -> tuple[dict[str, V], bool]:
    """Return *configs* with values in the place of *references*, and whether all had one.

    *references* are those that :func:`find_all` found; *values* are by provider and path, then by
    key. A reference without a value stays as typed. Values are not looked into. One loop without a
    call in it, since calls would take most of the time.
    """
    done, complete, nothing = dict(configs), True, dict[str, str]()
    for name, found in references.items():
        text, piece, end = str(done[name]), "", 0
        for provider, path, key, typed, start in found:
            value = values.get((provider, path), nothing).get(key)
            if value is None:
                complete = False
            elif typed == text:  # Most values are one reference and nothing else.
                piece, end = value, len(text)
            else:
                piece += text[end:start] + value
                end = start + len(typed)
        done[name] = piece if end == len(text) else piece + text[end:]
    return done, complete


def _scan(text: str) -> tuple[Reference, ...]:
    last = len(text) - 1
    if text.startswith("${") and text.find("}") == last and ":" in text:
        return (_reference(text, 0, last),)  # Most are one reference and nothing else.
    found: list[Reference] = []
    ahead: dict[str, int] = {}
    start = text.find("$")
    while start >= 0:
        begin = start + 2
        closer = _CLOSER.get(text[start + 1 : begin])
        end = _next(closer, text, begin, ahead) if closer else -1
        if begin <= _next(":", text, begin, ahead) < end:
            found.append(_reference(text, start, end))
            start = end
        start = text.find("$", start + 1)
    return tuple(found)


def _reference(text: str, start: int, end: int) -> Reference:
    provider, *path, key = text[start + 2 : end].split(":", 2)
    return Reference(provider, path[0] if path else "", key, text[start : end + 1], start)


_remembered = lru_cache(maxsize=_REMEMBERED_TEXTS)(_scan)


def _next(character: str, text: str, start: int, ahead: dict[str, int]) -> int:
    """Return ``text.find(character, start)``, for starts that only grow, reading *text* once."""
    found = ahead.get(character)
    if found is None or -1 < found < start:
        found = ahead[character] = text.find(character, start)
    return found


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
