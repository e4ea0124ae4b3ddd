"""The handle that travels, and what a process keeps for all handles from one source.

A process opens each source once, at the first value: that is one set of providers, or one way to
the driver, with a cache around it. A forked child opens its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import Protocol

from ...single_flight import SingleFlight
from .. import cleaning
from . import worker_exceptions


@dataclass(frozen=True, slots=True)
class Resolved:
    """The value of a text, the secrets that stand in it, and a name for this state of it.

    ``version`` says nothing of the value to who does not have it. ``seconds`` is how long it may
    be used. ``repr`` shows no value.
    """

    value: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    version: str
    seconds: float


class Resolver(Protocol):
    """Resolves texts in this process, and remembers what it found. Thread-safe."""

    def resolve(self, text: str, together: Collection[str]) -> Resolved:
        """Return what *text* comes to; what *together* refers to at the same places comes along."""

    def refuse(self, text: str, version: str) -> None:
        """Ask anew for *text* next time, if *version* is still what is known of it."""


class Source(Hashable, Protocol):
    """Says where values come from: a value itself, which is hashed and pickled."""

    def open(self) -> Resolver:
        """Return what resolves texts in this process."""


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text with references, whose value is looked up where it is asked for.

    It may be copied, compared and pickled into functions, data sources and tasks: what travels is
    the text with its references, and where to ask. ``str`` and ``repr`` show the text.
    """

    text: str
    source: Source
    together: tuple[str, ...] = field(default=(), compare=False)

    def value(self) -> str:
        """Return the text with values in the place of references.

        The process asks for it at most once per TTL, however many tasks and threads do. Raises
        :class:`~configproviders.ConfigException` or one of its kinds, with names and no value.
        """
        found = _resolver(self.source).resolve(self.text, self.together)
        cleaning.remember(found.secrets)
        _given.versions[self.source, self.text] = found.version
        return found.value

    def invalidate(self) -> None:
        """Say that the value which this thread got last was refused: the next one is asked for.

        Many tasks may say so of one value, and it is fetched once. Nothing happens if the thread
        got none, or if there is a newer one by now. Raises what :meth:`value` raises if the driver
        cannot be told.
        """
        version = _given.versions.pop((self.source, self.text), None)
        if version is not None:
            _resolver(self.source).refuse(self.text, version)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


def forget(source: Source) -> None:
    """Drop what this process keeps of *source*."""
    _resolvers.pop(source, None)


class _Given(threading.local):
    """Which version of each text a thread was given last."""

    def __init__(self) -> None:
        self.versions: dict[tuple[Source, str], str] = {}


_given = _Given()
_resolvers: dict[Source, Resolver] = {}
_opening: SingleFlight[Resolver] = SingleFlight()
# Connections of providers cannot be shared with a child, and what it keeps is its own.
os.register_at_fork(after_in_child=_resolvers.clear)


def _resolver(source: Source) -> Resolver:
    return _resolvers.get(source) or _opening.do(source, lambda: _open(source))


def _open(source: Source) -> Resolver:
    worker_exceptions.clean()
    return _resolvers.setdefault(source, source.open())
