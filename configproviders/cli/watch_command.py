"""``resolve-config watch``: keeps a resolved config fresh, and says when it changes."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from queue import SimpleQueue
from types import FrameType

from ..config_def import MILLISECONDS
from ..errors import UnresolvedError, printable
from ..output import FORMATS
from .inputs import DONE, UNRESOLVED, new_parser
from .keeper import Events, Keeper
from .on_change import Command, Signal
from .overwriting import is_same
from .status_line import StatusLine
from .terminal import say

_PACKAGE = "configproviders"
_EPILOG = """\
One line is printed for each change: time, kind, place, versions where there are, config keys; no
value. INPUT and the file of --providers are read again when they change, unless they are pipes.
A value that is gone later, or cannot be read, stays as it was in FILE, and that is said once.

COMMAND is split into words as by a shell but run without one: for pipes and variables write
sh -c '...'. It gets this environment and no value. If it fails, that is said, and the watch goes
on. What changes while it runs waits for its end.

signals: HUP looks at everything now; TERM and ctrl-C end the watch, and COMMAND if it
runs, but not what COMMAND started itself

examples:
  resolve-config watch job.properties -o job.resolved --on-change 'systemctl reload orders'
  resolve-config watch job.properties -o job.resolved --pid 4711 --signal USR1
  resolve-config watch job.properties --once

exit codes: as resolve-config, if it cannot begin; with --once 0, or that of COMMAND
"""


def watch(own: Sequence[str], command: list[str] | None) -> int:
    """Run ``resolve-config watch`` with the arguments *own*; return the exit code.

    Raises :class:`ConfigException` if it cannot begin.
    """
    parser = watch_parser()
    arguments = parser.parse_args(own)
    _refuse_bad_usage(parser, arguments, command)
    events: Events = SimpleQueue()
    try:
        with (
            StatusLine() as status,
            _logged(status),
            _hang_up(events),
            closing(Keeper(arguments, _what_follows(arguments), status, events)) as keeper,
        ):
            return keeper.run(once=arguments.once)
    except UnresolvedError as error:
        say(f"{printable(arguments.input)}: {error}")
        return UNRESOLVED


def watch_parser() -> argparse.ArgumentParser:
    """Return the parser for what stands behind ``watch``."""
    parser = new_parser(
        "resolve-config watch",
        "resolve-config watch [options] INPUT",
        "Keep a resolved config fresh in FILE, and have something done when it changes.",
        _EPILOG,
    )
    add = parser.add_argument
    formats = [name for name in FORMATS if name != "spark"]
    add("--format", choices=formats, help="what to write; properties if not given")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--on-change", metavar="COMMAND", help="run this after each change")
    act.add_argument("--pid", metavar="PID", type=int, help="send a signal to this process instead")
    add("--signal", metavar="NAME", help="with --pid: which signal; HUP if not given")
    add("--once", action="store_true", help="end after the first change")
    add(
        "--poll-interval-ms",
        metavar="N",
        type=_milliseconds(1),
        default=timedelta(minutes=1),
        help="ask backends each N milliseconds, unless their poll.interval.ms says how often;"
        " 60000 if not given",
    )
    add(
        "--settle-ms",
        metavar="N",
        type=_milliseconds(0),
        default=timedelta(milliseconds=100),
        help="take changes within N milliseconds as one; 100 if not given",
    )
    return parser


def _milliseconds(least: int) -> Callable[[str], timedelta]:
    def parse(text: str) -> timedelta:
        try:
            time_given = MILLISECONDS.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        if time_given < timedelta(milliseconds=least):
            raise argparse.ArgumentTypeError(f"write {least} or more")
        return time_given

    return parse


def _refuse_bad_usage(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, command: list[str] | None
) -> None:
    output = arguments.output
    if command is not None:
        parser.error("a command after -- does not go with watch: --on-change runs one")
    if output == "-":
        parser.error("watch writes no result to standard output: name a file with -o")
    if arguments.format and not output:
        parser.error("--format goes with -o")
    if arguments.signal and arguments.pid is None:
        parser.error("--signal goes with --pid")
    if output and any(
        source and is_same(output, source) for source in (arguments.input, arguments.providers)
    ):
        parser.error(f"-o {output} would write over what is read")


def _what_follows(arguments: argparse.Namespace) -> Callable[[], int]:
    if arguments.on_change is not None:
        return Command(arguments.on_change)
    if arguments.pid is not None:
        return Signal(arguments.pid, arguments.signal or "HUP")
    return lambda: DONE


@contextmanager
def _logged(status: StatusLine) -> Iterator[None]:
    """Say what the package logs: warnings, and of the watcher also what works again."""
    package, watcher = (logging.getLogger(name) for name in (_PACKAGE, f"{_PACKAGE}.watch"))
    handler, level = _Said(status), watcher.level
    package.addHandler(handler)
    watcher.setLevel(logging.INFO)
    try:
        yield
    finally:
        package.removeHandler(handler)
        watcher.setLevel(level)


class _Said(logging.Handler):
    """Says the message of a record; not its traceback, which may hold what nobody should see."""

    def __init__(self, status: StatusLine) -> None:
        super().__init__()
        self._status = status

    def emit(self, record: logging.LogRecord) -> None:
        self._status.say(printable(record.getMessage()))


@contextmanager
def _hang_up(events: Events) -> Iterator[None]:
    """Take SIGHUP for a wish to look again; if the terminal is gone, for the end."""
    before = signal.getsignal(signal.SIGHUP)
    terminals = [] if before is signal.SIG_IGN else _terminals()  # Under nohup it goes on.

    def hear(number: int, _frame: FrameType | None) -> None:
        if terminals and not _terminals():
            sys.exit(128 + number)
        events.put(None)

    signal.signal(signal.SIGHUP, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _terminals() -> list[int]:
    return [each for each in range(3) if os.isatty(each)]
