"""What follows a change: a command that runs, or a signal that is sent. Neither learns a value."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from ..errors import ConfigException, there_is
from .inputs import BAD_INPUT, DONE
from .terminal import say

_TICK = 1.0
_NOTICE = 60.0
_FAREWELL = 5.0
_PIDS = 1 << 31
_SIGNALS = {each.name.removeprefix("SIG"): each for each in signal.Signals}


class Command:
    """Runs a command and waits for it. It gets the environment as it is, and no input."""

    def __init__(self, text: str) -> None:
        """Split *text* as a shell would; raise :class:`ConfigException` if that is no command."""
        try:
            self._argv = shlex.split(text)
        except ValueError as error:
            raise ConfigException(f"--on-change: {str(error).lower()} in {text!r}") from error
        if not self._argv:
            raise ConfigException("--on-change: there is no command")
        if shutil.which(self._argv[0]) is None:
            raise ConfigException(f"--on-change: there is no command {self._argv[0]!r}")

    def __call__(self) -> int:
        """Return the exit code; say it if it is not 0."""
        name = self._argv[0]
        try:
            process = subprocess.Popen(self._argv, stdin=subprocess.DEVNULL)  # noqa: S603  It is asked for.
        except OSError as error:
            say(f"cannot run {name!r}: {error.strerror}")
            return BAD_INPUT
        code = _wait(process, name)
        if code < 0:
            say(f"{name!r} was ended by {_name_of(-code)}")
            return 128 - code
        if code:
            say(f"{name!r} failed: exit code {code}")
        return code


class Signal:
    """Sends a signal to a process: to the one that has the number at first, and to no later one."""

    def __init__(self, pid: int, name: str) -> None:
        """Raise :class:`ConfigException` if there is no such signal or process."""
        self._pid = pid
        word = name.upper().removeprefix("SIG")
        if word not in _SIGNALS:
            raise ConfigException(f"--signal: there is no {name!r}; {there_is(word, _SIGNALS)}")
        if not 0 < pid < _PIDS:
            raise ConfigException(f"--pid: {pid} is not the number of a process")
        self._number = _SIGNALS[word]
        try:
            self._send = _sender(pid)
            self._send(0)
        except OSError as error:
            raise ConfigException(f"--pid: cannot signal {pid}: {error.strerror}") from error

    def __call__(self) -> int:
        """Return 0, or what a bad option ends with; then say why it was not sent."""
        try:
            self._send(self._number)
        except OSError as error:
            say(f"{self._number.name} was not sent to process {self._pid}: {error.strerror}")
            return BAD_INPUT
        return DONE


def _wait(process: subprocess.Popen[bytes], name: str) -> int:
    started = time.monotonic()
    notice = started + _NOTICE
    try:
        while True:
            # Not for longer at once: a signal that comes just before is seen only afterwards.
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_TICK)
            if time.monotonic() >= notice:
                seconds = timedelta(seconds=round(time.monotonic() - started))
                say(f"{name!r} runs for {seconds}; the next change waits for it")
                notice += _NOTICE
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it if it still runs, since this process ends."""
    for end in (process.terminate, process.kill):
        if process.poll() is None:
            end()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_FAREWELL)


def _name_of(number: int) -> str:
    with suppress(ValueError):  # Real-time signals have none.
        return signal.Signals(number).name
    return f"signal {number}"


def _sender(pid: int) -> Callable[[int], None]:
    """Return what sends signals to the process *pid*, and to none that has its number later."""
    try:
        return partial(signal.pidfd_send_signal, os.pidfd_open(pid))
    except AttributeError:
        pass  # It is Linux that has this.
    except OSError as error:
        if error.errno not in {errno.ENOSYS, errno.EPERM}:  # An old kernel, or a strict container.
            raise
    return partial(os.kill, pid)
