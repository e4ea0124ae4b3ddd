"""An input as it was last read: its providers, what they say, and a watcher of it all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..config_file import read_configs
from ..data import Answer, ConfigData
from ..errors import ConfigException, PathNotFound, UnresolvedError, shorten
from ..plan import Location
from ..provider import ConfigProvider
from ..reference import substitute
from ..transformer import ConfigTransformer, explain, unresolved_among, values_as_typed
from ..watch import ChangeKind, ConfigChange, LocationChange, Watcher
from .inputs import open_sources, say_what_is_odd, split_input
from .overwriting import refuse_output_among

if TYPE_CHECKING:
    from argparse import Namespace

Changed = Callable[["Session", ConfigChange], None]


class Sources:
    """The files that say what to resolve and how: the input, and one with providers.

    What is no regular file, such as a pipe, is read once.
    """

    def __init__(self, arguments: Namespace) -> None:
        """Take the files that *arguments* name; read nothing yet."""
        formats = {arguments.input: arguments.input_format}
        if arguments.providers:
            formats[arguments.providers] = None
        self._formats: dict[str, str | None] = formats
        self._kept: dict[str, dict[str, str]] = {}
        self.watched = [path for path in formats if _is_regular(path)]

    def read(self, path: str) -> dict[str, str]:
        """Return what the file at *path* says now; raise :class:`ConfigException`."""
        if path not in self._kept:
            if path in self.watched and os.path.exists(path) and not _is_regular(path):
                # Opening a pipe would wait for who writes to it.
                raise ConfigException(f"cannot read {path!r}: it is no regular file any more")
            configs = read_configs(path, text_format=self._formats[path])
            if path in self.watched:
                return configs
            self._kept[path] = configs
        return self._kept[path]

    def read_all(self) -> dict[str, dict[str, str]]:
        """Return what all of them say, the input first."""
        return {path: self.read(path) for path in self._formats}


class Session:
    """Resolves an input once, and tells of changes from then on.

    *changed* is called in a thread of the watcher's, with this and with what :meth:`take` wants.
    Of values it keeps the last ones alone.
    """

    def __init__(self, arguments: Namespace, sources: Sources, changed: Changed) -> None:
        """Read *sources* and resolve all; raise :class:`ConfigException` if that cannot be."""
        read = sources.read_all()
        settings, configs = split_input(read[arguments.input], arguments)
        with ExitStack() as opened:
            providers = open_sources({**read, arguments.input: settings}, opened)
            transformer = ConfigTransformer(providers, concurrency=arguments.lookup_concurrency)
            refuse_output_among(transformer.plan(configs), providers, arguments.output)
            result = transformer.transform(configs, strict=not arguments.allow_unresolved)
            self._configs = configs
            self._plan = result.plan
            self._never = {(each.config_key, each.reference) for each in result.unresolved}
            self._answers = dict(result.answers)
            self._lost: dict[Location, Answer] = {}
            self._files = {_location(path, providers): path for path in sources.watched}
            self._watcher = opened.enter_context(self._new_watcher(arguments, sources, providers))
            files = {each: ConfigData(read[path]) for each, path in self._files.items()}
            self._begin(files, partial(changed, self))
            self._opened = opened.pop_all()
        say_what_is_odd(result)

    @property
    def locations(self) -> int:
        """How many locations are watched, files that are read again included."""
        return len(self._files) + len(self._plan.lookups)

    def unreadable(self) -> int:
        """Return how many locations cannot be read now."""
        return sum(each.error is not None for each in self._watcher.health().values())

    def look_again(self) -> None:
        """Look at everything now."""
        self._watcher.invalidate()

    def concerns_files(self, change: ConfigChange) -> bool:
        """Whether *change* is one of the files themselves: another session has to read them."""
        return not self._files.keys().isdisjoint(change.locations)

    def told(self, change: ConfigChange) -> Iterator[tuple[ChangeKind, str, Sequence[str]]]:
        """Yield kind, place and config keys of each location of *change* but for the files."""
        for location, each in change.locations.items():
            if location not in self._files:
                place = f"{location.provider}:{shorten(location.path)}{_versions(each)}"
                affected = ConfigChange.of(self._plan, {location: each})
                yield each.kind, place, affected.config_keys

    def take(self, change: ConfigChange) -> None:
        """Take in what came with *change*; where a value is gone, all of the location stays."""
        lookups = self._plan.lookups
        for location in change.locations.keys() & lookups.keys():
            each = change.locations[location]
            if lookups[location] & _keys(self._answers[location]) - _keys(each.data):
                gone = each.kind is ChangeKind.DELETED
                self._lost[location] = _gone(location) if gone else each.data
            else:
                self._lost.pop(location, None)
                self._answers[location] = each.data

    def resolve(self) -> dict[str, str]:
        """Return the config with all that was taken in."""
        plan = self._plan
        values = values_as_typed(plan, self._answers)
        return substitute(self._configs, plan.references, values)[0]

    def require_all(self) -> None:
        """Raise :class:`UnresolvedError` for references that had a value, which is gone."""
        outcomes = explain(self._plan, {**self._answers, **self._lost})
        lost = [
            each
            for each in unresolved_among(outcomes)
            if (each.config_key, each.reference) not in self._never
        ]
        if lost:
            raise UnresolvedError(lost)

    def close(self) -> None:
        """Watch no more, and close the providers."""
        self._opened.close()

    def _new_watcher(
        self, arguments: Namespace, sources: Sources, providers: Mapping[str, ConfigProvider]
    ) -> Watcher:
        own = {location.provider: _Files(sources.read) for location in self._files}
        return Watcher(
            {**providers, **own},
            poll_interval=arguments.poll_interval_ms,
            settle=arguments.settle_ms,
            concurrency=arguments.lookup_concurrency,
        )

    def _begin(
        self, files: Mapping[Location, ConfigData], changed: Callable[[ConfigChange], None]
    ) -> None:
        plan = self._plan
        everything = dict.fromkeys(files, frozenset[str]())
        lookups = {**plan.lookups, **everything}
        if not lookups:
            raise ConfigException("nothing to watch: no reference, and no file to read again")
        self._watcher.watch(
            replace(plan, lookups=lookups), changed, since={**self._answers, **files}
        )


class _Files(ConfigProvider):
    """Has the entries of the files that a session was read from."""

    waits = False

    def __init__(self, read: Callable[[str], dict[str, str]]) -> None:
        self._read = read

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        entries = self._read(path)
        return ConfigData({key: entries[key] for key in keys or entries if key in entries})

    def files(self, path: str) -> Collection[str]:
        return (path,)


def _location(path: str, providers: Collection[str]) -> Location:
    """Return where a watcher finds the file, beside what *providers* have."""
    name = "input"
    while name in providers:
        name += "-file"
    return Location(name, path)


def _versions(change: LocationChange) -> str:
    if change.before and change.after and change.before != change.after:
        return f" (version {change.before} to {change.after})"
    if change.after or change.before:
        return f" (version {change.after or change.before})"
    return ""


def _keys(answer: Answer) -> AbstractSet[str]:
    return answer.data.keys() if isinstance(answer, ConfigData) else set()


def _gone(location: Location) -> Answer:
    return PathNotFound(f"what was at {shorten(location.path)!r} is gone")


def _is_regular(path: str) -> bool:
    try:
        return path != "-" and stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):  # Reading it says why.
        return False
