"""The loop of ``resolve-config watch``: takes changes, and keeps what was resolved up to date.

::

    threads of the watcher                      the main thread
    change of a location ──┐                    ┌─ take all that came
    change of the input  ──┼── queue of events ─┤  write the file, if the config is another one
    SIGHUP               ──┘                    └─ print lines; do what follows a change

So what comes while a command runs waits for its end, and is then taken together. A value that is
gone, or cannot be read, stays as it was while others change. An input that cannot be resolved and a
file that cannot be written are tried again. All that is said once, and so is its end.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ..errors import ConfigException, UnresolvedError, printable
from ..output import encode, render, write
from ..watch import ChangeKind, ConfigChange
from .session import Session, Sources
from .status_line import StatusLine
from .terminal import coloured, print_bytes, say, some

if TYPE_CHECKING:
    from argparse import Namespace

Events = SimpleQueue[tuple[Session, ConfigChange] | None]
"""What happened; ``None`` is that somebody wants everything looked at."""

_TICK = 1.0
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0


class Keeper:
    """Keeps the output fresh, and does what follows a change. Used by the main thread alone."""

    def __init__(
        self, arguments: Namespace, follow: Callable[[], int], status: StatusLine, events: Events
    ) -> None:
        """Resolve all; raise :class:`ConfigException` if that cannot be."""
        self._arguments = arguments
        self._follow = follow
        self._status = status
        self._events = events
        self._sources = Sources(arguments)
        self._session = self._open()
        self._data: Mapping[str, str] | None = None
        self._must_read = False
        self._lines: list[str] = []
        self._complaint = ""
        self._pause = _FIRST_PAUSE / 2
        self._next_try = math.inf
        self._began = time.monotonic()
        self._told = 0
        self._told_at = ""

    def run(self, *, once: bool) -> int:
        """Write the output, and keep it fresh for ever; with *once*, until something has changed.

        Return what *follow* returned. Raises :class:`ConfigException` if the output cannot be
        written at first.
        """
        self._deliver()
        while True:
            self._status.show(self._state)
            asked = self._listen()
            if asked or time.monotonic() >= self._next_try:
                self._status.clear()
                code = self._update(asked=asked)
                if once and code is not None:
                    return code

    def close(self) -> None:
        """Watch no more."""
        self._session.close()

    def _open(self) -> Session:
        return Session(self._arguments, self._sources, lambda *event: self._events.put(event))

    def _listen(self) -> bool:
        """Take all that has happened, or happens within a moment; return whether anything has."""
        anything = False
        with suppress(Empty):
            self._take(self._events.get(timeout=_TICK))
            anything = True
            while True:
                self._take(self._events.get_nowait())
        return anything

    def _take(self, event: tuple[Session, ConfigChange] | None) -> None:
        if event is None:
            self._status.say("SIGHUP: all is looked at again")
            self._session.look_again()
            return
        session, change = event
        if session is self._session:  # Else it was replaced since then, by what was read later.
            session.take(change)
            self._must_read = self._must_read or session.concerns_files(change)
            for kind, place, config_keys in session.told(change):
                self._tell(kind, place, config_keys)

    def _update(self, *, asked: bool) -> int | None:
        """Bring the output up to date; return the exit code of what follows, if it is another."""
        before = self._data
        steps = (self._read_again, self._deliver, self._require_all)
        problems = [each for each in map(_problem, steps) if each]
        reader_left = self._print_lines()
        self._complain("\n".join(map(_words, problems)), asked=asked)
        code = self._follow() if self._data is not before else None
        if reader_left:  # Only now, when all that was due is done.
            raise reader_left
        return code

    def _read_again(self) -> None:
        """Start anew with what the input says now, if it says something else."""
        if not self._must_read:
            return
        fresh = self._open()
        self._session.close()
        self._session, self._must_read = fresh, False
        before, now = self._data or {}, fresh.resolve()
        keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        self._tell(ChangeKind.CHANGED, self._arguments.input, keys)

    def _deliver(self) -> None:
        """Resolve with what was taken in, and write that if it is something else."""
        data = self._session.resolve()
        if data == self._data:
            return
        if self._arguments.output:
            content = encode(render(data, self._arguments.format or "properties"))
            write(content, self._arguments.output)
        self._data = data

    def _require_all(self) -> None:
        self._session.require_all()

    def _complain(self, complaint: str, *, asked: bool) -> None:
        """Say what does not work, unless that was said, and when all works again."""
        if complaint and complaint != self._complaint and (asked or not self._complaint):
            say(f"what was there stays: {complaint}")
        elif self._complaint and not complaint:
            say("all is up to date again")
        self._complaint = complaint
        self._pause = min(2 * self._pause, _LONGEST_PAUSE) if complaint else _FIRST_PAUSE / 2
        self._next_try = time.monotonic() + self._pause if complaint else math.inf

    def _tell(self, kind: ChangeKind, place: str, config_keys: Sequence[str]) -> None:
        keys = ", ".join(config_keys) or "no value of it"
        self._told_at = time.strftime("%Y-%m-%d %H:%M:%S")
        self._told += 1
        line = f"{self._told_at} {coloured(kind.value)} {printable(place)}: {printable(keys)}"
        self._lines.append(line)

    def _print_lines(self) -> BrokenPipeError | None:
        lines, self._lines = self._lines, []
        if sys.stdout is None:
            return None
        try:
            print_bytes(encode("".join(f"{line}\n" for line in lines)))
        except BrokenPipeError as error:
            return error
        except ConfigException as error:
            say(str(error))
        return None

    def _state(self) -> str:
        count, seconds = self._session.locations, int(time.monotonic() - self._began)
        parts = [f"watching {some(count, 'location')} for {timedelta(seconds=seconds)}"]
        if self._told:
            parts += [some(self._told, "change"), f"the last at {self._told_at[-8:]}"]
        else:
            parts.append("no change yet")
        if unreadable := self._session.unreadable():
            parts.append(f"{unreadable} cannot be read")
        if self._complaint:
            parts.append("not up to date")
        return ", ".join(parts)


def _problem(step: Callable[[], None]) -> ConfigException | None:
    """Take the step; return why that cannot be."""
    try:
        step()
    except ConfigException as error:
        return error
    return None


def _words(problem: ConfigException) -> str:
    """Return its message; only that of references has more than one line."""
    return str(problem) if isinstance(problem, UnresolvedError) else printable(str(problem))
