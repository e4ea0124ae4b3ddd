"""What can go wrong, as a tree; whose fault it is, is the class.

::

    ConfigException                 every error this package raises on purpose
    ├── MalformedText               a text breaks the rules of its format; says where
    ├── UnknownProvider             a reference names a provider that nobody declared
    ├── LookupFailed                a provider was asked and gave no answer
    │   ├── PathNotFound            there is nothing at the path
    │   ├── KeyNotFound             the path is there, the key is not
    │   ├── LookupDenied            a policy refuses the path or the key
    │   └── ProviderUnavailable     the backend, or the package it needs, is not there
    ├── UnresolvedError             references of a config that could not be resolved
    └── UnsupportedOperation        the provider, or the mode Spark runs in, cannot do this

A message holds names, paths and providers; never a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reference import Reference

_SHOWN_CHARACTERS = 160
_SHOWN_NAMES = 8
_COMPARED_NAMES = 500


class ConfigException(Exception):  # noqa: N818  Kafka's name; scripts rely on it.
    """The root of the tree, and the error for a setting that is wrong."""


class MalformedText(ConfigException):
    """A text is not what its format asks for; the message names the line."""


class UnknownProvider(ConfigException):
    """A reference names a provider that is not configured."""


class LookupFailed(ConfigException):
    """A provider was asked and gave no answer; the cause is chained."""


class PathNotFound(LookupFailed):
    """There is nothing at the path."""


class KeyNotFound(LookupFailed):
    """The path is there, the key is not."""


class LookupDenied(LookupFailed):
    """A policy, ours or the backend's, refuses the path or the key."""


class ProviderUnavailable(LookupFailed):
    """The backend, or the Python package that speaks to it, is not there."""


class UnsupportedOperation(ConfigException):
    """What was asked for cannot be done by this provider, or in this mode."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """One reference without a value, the config key it stands under, and why.

    ``error`` is an :class:`UnknownProvider` or a :class:`KeyNotFound`, which leave the text as
    typed, or anything else when the provider failed or refused.
    """

    config_key: str
    reference: Reference
    error: ConfigException

    @property
    def is_failure(self) -> bool:
        """Whether the provider failed or refused: then the text cannot be left as typed."""
        return not isinstance(self.error, UnknownProvider | KeyNotFound)

    def __str__(self) -> str:
        reference = printable(shorten(self.reference.text))
        return f"{printable(self.config_key)}: {reference}: {printable(str(self.error))}"


class UnresolvedError(ConfigException):
    """Some references of a config have no value; the message names all of them.

    ``unresolved`` holds every one, in the order of the config.
    """

    def __init__(self, unresolved: Iterable[Unresolved]) -> None:
        """Name every one of *unresolved* in the message, a line each."""
        self.unresolved = tuple(unresolved)
        count = len(self.unresolved)
        noun = "reference" if count == 1 else "references"
        lines = "".join(f"\n  {item}" for item in self.unresolved)
        super().__init__(f"{count} {noun} cannot be resolved:{lines}")


def plugin_failure(provider: object, error: BaseException) -> LookupFailed:
    """Return ours for an exception that is not, with it as the cause; its text may hold a value."""
    failure = LookupFailed(f"{type(provider).__name__} raised {type(error).__name__}")
    failure.__cause__ = error
    return failure


def there_is(name: str, there: Collection[str]) -> str:
    """Say which names there are instead of *name*: the near ones if any, else the first few."""
    if hint := near(name, there):
        return hint
    if not there:
        return "there are none"
    names = sorted(there)
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"there are: {', '.join(map(repr, names[:_SHOWN_NAMES]))}{more}"


def near(name: str, there: Collection[str]) -> str:
    """Ask whether one of the names that are like *name* is meant; empty if none is like it."""
    from difflib import get_close_matches

    # Comparing takes a while for each name, so not for very many and not for long ones.
    compared = [each for each in islice(there, _COMPARED_NAMES) if len(each) <= _SHOWN_CHARACTERS]
    found = get_close_matches(name[:_SHOWN_CHARACTERS], compared, n=3)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else ""


def shorten(text: str) -> str:
    """Cut *text* to what fits a message."""
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({len(text):,} characters)"


def printable(text: str) -> str:
    """Return *text* with line ends and other control characters escaped."""
    return text if text.isprintable() else repr(text)[1:-1]
