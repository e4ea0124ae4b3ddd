"""What ``resolve-config watch`` shows in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
from cli_watching import (
    COMMAND,
    JOB,
    eventually,
    rotate,
)

from configproviders.testing import CANARY

pytestmark = pytest.mark.usefixtures("job_directory")


IN_CHARGE = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " signal.signal(signal.SIGHUP, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """The command in a terminal of its own, of so many columns; or another *program* first."""

    def __init__(
        self,
        *argv: str,
        program: Sequence[str] = (),
        columns: int = 100,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", IN_CHARGE, *program, *COMMAND, *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**inherited, "TERM": "xterm", **(environ or {})},
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert CANARY not in self.shown

    def shows(self, text: str) -> None:
        """Read on until it shows *text*."""
        end = time.monotonic() + 30
        while text not in self.shown:
            assert select.select([self._terminal], [], [], end - time.monotonic())[0], self.shown
            self.shown += os.read(self._terminal, 65536).decode()

    def types(self, text: str) -> None:
        """Type *text*."""
        os.write(self._terminal, text.encode())

    def is_closed(self) -> int:
        """Close the terminal; return the exit code."""
        os.close(self._terminal)
        return self._process.wait(30)

    def ends_after(self, text: str) -> int:
        """Type *text*; return the exit code."""
        self.types(text)
        with suppress(OSError):  # Linux's way to say that the other end is closed.
            self.shows("no such text")
        return self.is_closed()


def test_a_terminal_shows_a_line_that_is_written_over() -> None:
    with Terminal(*JOB) as terminal:
        terminal.shows("\r\x1b[Kwatching 2 locations for 0:00:01, no change yet")
        rotate()
        terminal.shows("1 change, the last at ")
        code = terminal.ends_after("\x03")

    assert code == 130
    assert re.search(r"\r\x1b\[K\S+ \S+ \x1b\[33mchanged\x1b\[0m file:secrets", terminal.shown)
    assert terminal.shown.endswith("\r\x1b[K")


def test_the_line_fits_the_terminal() -> None:
    with Terminal(*JOB, columns=20) as terminal:
        terminal.shows("watching 2 location\r")
        terminal.ends_after("\x03")

    assert "watching 2 locations" not in terminal.shown


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_terminal_without_colours_gets_none(environ: dict[str, str]) -> None:
    with Terminal(*JOB, environ=environ) as terminal:
        terminal.shows("no change yet")
        rotate()
        terminal.shows(" changed file:secrets.properties")
        terminal.ends_after("\x03")

    assert "\x1b[33m" not in terminal.shown
    assert ("\x1b" in terminal.shown) == ("NO_COLOR" in environ)


def test_in_the_background_it_leaves_the_terminal_to_who_types_there() -> None:
    shell = ["/bin/sh", "-mc", '"$@" & wait', "sh"]

    with Terminal(*JOB, "--once", program=shell) as terminal:
        eventually(lambda: Path("out").exists())
        rotate()
        terminal.shows("changed\x1b[0m file:secrets.properties")
        terminal.ends_after("")

    assert "watching" not in terminal.shown


def test_a_terminal_that_is_closed_ends_it() -> None:
    with Terminal(*JOB) as terminal:
        terminal.shows("no change yet")

        assert terminal.is_closed() == 129


def test_tab_completes_its_options() -> None:
    line = "resolve-config watch --on"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": "completions",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }

    subprocess.run([sys.executable, "-m", "configproviders"], env=environment, check=False)

    found = [each.strip() for each in Path("completions").read_text().splitlines()]
    assert sorted(found) == ["--on-change", "--once"]
