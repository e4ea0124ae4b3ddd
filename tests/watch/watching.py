"""Watches a file in a process of its own, which may lack what it needs.

    python watching.py FILE POLL_MILLISECONDS

Takes commands, one in a line: ``watch``; ``lack`` or ``have``, with what of :data:`WANTS`. Answers
each with ``done``, and prints ``told`` with the values in JSON for each callback. Logs go to the
standard error.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

from configproviders import ConfigData, FileConfigProvider, Location, Watcher

SETTLE = timedelta(milliseconds=20)
_TOO_LARGE = 1 << 46  # Bytes for the stack of a thread.


def main() -> None:
    path, poll = sys.argv[1:]
    logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("watchdog").setLevel(logging.WARNING)
    providers = {"file": FileConfigProvider()}
    with Watcher(
        providers, poll_interval=timedelta(milliseconds=float(poll)), settle=SETTLE
    ) as watcher:
        for line in sys.stdin:
            command, _, what = line.strip().partition(" ")
            if command == "watch":
                watcher.subscribe(Location("file", path), (), tell)
            else:
                WANTS[what](there=command == "have")
            say("done")


def tell(_path: str, data: ConfigData, /) -> None:
    say(f"told {json.dumps(data.data)}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def descriptors(*, there: bool, spare: int = 0) -> None:
    """Have none left but those in use and *spare* ones, or as many as may be."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if not there:
        free = os.open(os.devnull, os.O_RDONLY)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + spare, most))


def threads(*, there: bool) -> None:
    threading.stack_size(0 if there else _TOO_LARGE)


def inotify(kind: str, *, there: bool) -> None:
    """Limit it in this user namespace, which has to be one of this process alone."""
    Path(f"/proc/sys/user/max_inotify_{kind}").write_text("1000" if there else "0")


WANTS: dict[str, Callable[..., None]] = {
    "descriptors": descriptors,
    "many descriptors": partial(descriptors, spare=2),
    "threads": threads,
    "watches": partial(inotify, "watches"),
    "instances": partial(inotify, "instances"),
}


if __name__ == "__main__":
    main()
