"""Options behind a question mark, as csid and MSK write them: ``secret/db?version=2``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import timedelta

from .errors import ConfigException, shorten, there_is

TTL = "ttl"
"""How long a value may be used, in milliseconds."""

_DIGITS = 15  # More are beyond what a timedelta holds.
_OPTION = r"[a-z_.]+=[^&?]*"
_OPTIONS = re.compile(rf"(?s:(.*))\?({_OPTION}(?:&{_OPTION})*)")


def split_options(text: str, known: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return *text* without its options, and these: ``a?x=1&y=2`` is ``a`` with ``x`` and ``y``.

    A question mark that no options follow belongs to the text. Raises :class:`ConfigException`
    for an option that is not *known*, stands twice, or has no value.
    """
    rest, options = split_any_options(text)
    for name, value in options.items():
        if name not in known:
            raise ConfigException(
                f"no option {shorten(name)!r} in {shorten(text)!r}; {there_is(name, known)}"
            )
        if not value:
            raise ConfigException(f"option {name!r} has no value in {shorten(text)!r}")
    return rest, options


def split_any_options(text: str) -> tuple[str, dict[str, str]]:
    """Return *text* without its options, and these, for who leaves it to others which there are.

    Raises :class:`ConfigException` for one that stands twice.
    """
    match = _OPTIONS.fullmatch(text)
    if match is None:
        return text, {}
    options: dict[str, str] = {}
    for option in match[2].split("&"):
        name, _, value = option.partition("=")
        if options.setdefault(name, value) != value:
            raise ConfigException(f"option {shorten(name)!r} stands twice in {shorten(text)!r}")
    return match[1], options


def merged(
    path_options: Mapping[str, str],
    key_options: Mapping[str, str],
    text: str,
    names: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the options of a path and of its key as one, for the reference to *text*.

    *names*, if given, maps each other word for an option to its name. Raises
    :class:`ConfigException` for an option with two values.
    """
    options: dict[str, str] = {}
    for word, value in [*path_options.items(), *key_options.items()]:
        name = word if names is None else names.get(word, word)
        if options.setdefault(name, value) != value:
            raise ConfigException(f"option {word!r} stands twice for {shorten(text)!r}")
    return options


def with_options(text: str, options: Mapping[str, str]) -> str:
    """Return *text* followed by *options*, always in the same order."""
    written = "&".join(f"{name}={value}" for name, value in sorted(options.items()))
    return f"{text}?{written}" if written else text


def ttl_of(options: Mapping[str, str]) -> timedelta | None:
    """Return the option ``ttl``; raise :class:`ConfigException` if it is no number."""
    if TTL not in options:
        return None
    text = options[TTL]
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise ConfigException(f"option 'ttl' is {shorten(text)!r}: write milliseconds, as digits")
    return timedelta(milliseconds=int(text))
