"""``resolve-config watch`` as a process: signals, commands, inputs, pipes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_watching import (
    JOB,
    NEW,
    Watching,
    eventually,
    lines_of,
    password_in,
    rotate,
    runs_of,
)

from configproviders.testing import CANARY

pytestmark = pytest.mark.usefixtures("job_directory")


def test_the_command_learns_no_value() -> None:
    script = "env > env; tr '\\0' '\\n' < /proc/$$/cmdline > argv; echo >> ran\n"

    with Watching(*JOB, *runs_of(script)).begins():
        rotate()
        eventually(lambda: Path("ran").exists())

    assert lines_of("argv") == ["sh", "after.sh", "one word"]
    assert CANARY not in Path("env").read_text()
    assert password_in("out") == NEW
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o600


def test_the_command_has_no_input() -> None:
    after = runs_of("cat > read; echo >> ran\n")

    with Watching(*JOB, *after, stdin=subprocess.PIPE).begins() as watching:
        rotate()
        eventually(lambda: lines_of("ran"))
        watching.process.stdin.close()

    assert Path("read").read_text() == ""


def test_a_command_that_fails_does_not_end_it() -> None:
    with Watching(*JOB, *runs_of("exit 3\n")).begins() as watching:
        rotate()
        watching.says("'sh' failed: exit code 3")
        rotate(f"{NEW}-2")
        eventually(lambda: password_in("out") == f"{NEW}-2")


def test_what_changes_while_the_command_runs_waits_and_is_then_taken_together() -> None:
    script = "echo begins >> ran; while test -e stay; do sleep 0.05; done; echo ends >> ran\n"
    Path("stay").touch()

    with Watching(*JOB, "--settle-ms", "0", *runs_of(script)).begins() as watching:
        rotate(f"{NEW}-1")
        eventually(lambda: lines_of("ran"))
        rotate(f"{NEW}-2")
        rotate(f"{NEW}-3")
        Path("stay").unlink()
        eventually(lambda: password_in("out") == f"{NEW}-3")
        eventually(lambda: len(lines_of("ran")) >= 3)
        watching.ends(signal.SIGTERM)

    lines = lines_of("ran")
    assert lines == (["begins", "ends"] * 3)[: len(lines)]


def test_content_that_is_written_again_runs_nothing() -> None:
    with Watching(*JOB, *runs_of("echo >> ran\n")).begins() as watching:
        rotate(CANARY)
        rotate(CANARY, user="new")
        eventually(lambda: lines_of("ran"))
        rotate(CANARY, user="new")
        watching.process.send_signal(signal.SIGHUP)
        watching.says("SIGHUP: all is looked at again")
        rotate(NEW)
        eventually(lambda: len(lines_of("ran")) == 2)

    assert len(watching.out.splitlines()) == 2


def test_an_input_that_is_a_pipe_is_read_once_and_its_references_are_watched() -> None:
    Path("-").write_text("not this")

    with (
        Path("job.properties").open() as job,
        Watching("-", "-o", "out", stdin=job).begins() as watching,
    ):
        rotate()
        eventually(lambda: password_in("out") == NEW)

    assert watching.err == "resolve-config: watching 1 location for 0:00:00, no change yet\n"


def test_a_provider_named_like_our_own_is_no_other_s() -> None:
    Path("job.properties").write_text(
        "config.providers=input\nconfig.providers.input.class=file\n"
        "a=${input:secrets.properties:password}\n"
    )

    with Watching(*JOB, "--once").begins() as watching:
        rotate()
        assert watching.ends() == 0

    assert Path("out").read_text() == f"a={NEW}\n"


POLLED = """\
from pathlib import Path
from configproviders import ConfigData, ConfigProvider
class Polled(ConfigProvider):
    def get(self, path, keys=None):
        while Path("hang").exists():
            Path("hangs").touch()
        return ConfigData({"k": Path("value").read_text()})
"""


@pytest.fixture
def polled() -> Path:
    """Write a job whose value nobody hears of, with an hour between two polls."""
    Path("polled.py").write_text(POLLED)
    Path("value").write_text(CANARY)
    job = Path("polled.properties")
    job.write_text(
        "config.providers=p\nconfig.providers.p.class=polled:Polled\n"
        "config.providers.p.param.poll.interval.ms=3600000\na=${p:x:k}\n"
    )
    return job


def test_a_hang_up_signal_makes_it_look_at_once(polled: Path) -> None:
    watching = Watching(str(polled), "-o", "out", environ={"PYTHONPATH": "."})
    with watching.begins():
        Path("value").write_text(NEW)
        watching.process.send_signal(signal.SIGHUP)
        watching.says("changed p:x: a\n")

    assert Path("out").read_text() == f"a={NEW}\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_silence(number: int, code: int) -> None:
    with Watching(*JOB).begins() as watching:
        said = watching.err

        assert watching.ends(number) == code

    assert (watching.out, watching.err) == ("", said)


def test_a_signal_ends_it_while_a_lookup_hangs(polled: Path) -> None:
    watching = Watching(str(polled), environ={"PYTHONPATH": "."})
    with watching.begins():
        Path("hang").touch()
        watching.process.send_signal(signal.SIGHUP)
        eventually(lambda: Path("hangs").exists())

        assert watching.ends(signal.SIGTERM) == 143


def test_a_signal_ends_the_command_too() -> None:
    after = runs_of("echo $$ > pid; exec sleep 1000\n")

    with Watching(*JOB, *after).begins() as watching:
        rotate()
        eventually(lambda: lines_of("pid"))
        assert watching.ends(signal.SIGTERM) == 143

    with pytest.raises(ProcessLookupError):
        os.kill(int(lines_of("pid")[0]), 0)


def test_a_command_that_ignores_the_end_is_killed() -> None:
    after = runs_of("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done\n")

    with Watching(*JOB, *after).begins() as watching:
        rotate()
        eventually(lambda: lines_of("pid"))
        assert watching.ends(signal.SIGTERM) == 143

    with pytest.raises(ProcessLookupError):
        os.kill(int(lines_of("pid")[0]), 0)


@contextmanager
def hearer(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that writes the names of the signals that it hears to the file *heard*."""
    # Not a shell: that hears no signal which whoever started the tests, such as nohup, ignores.
    script = f"""
import pathlib, signal
heard = pathlib.Path("heard")
signal.signal(signal.SIG{name}, lambda *_: heard.open("a").write("{name}\\n"))
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        try:
            eventually(lambda: Path("ready").exists())
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("option", "name"), [([], "HUP"), (["--signal", "sigusr1"], "USR1")])
def test_a_process_gets_the_signal_after_each_change(option: list[str], name: str) -> None:
    with hearer(name) as process:
        pid = ["--pid", str(process.pid), *option]
        with Watching(*JOB, *pid).begins():
            rotate()
            eventually(lambda: lines_of("heard") == [name])
            rotate(f"{NEW}-2")
            eventually(lambda: lines_of("heard") == [name, name])


def test_a_process_that_is_gone_is_named_and_does_not_end_it() -> None:
    with hearer("HUP") as process:
        watching = Watching(*JOB, "--pid", str(process.pid)).begins()
    with watching:
        rotate()
        watching.says(f"HUP was not sent to process {process.pid}: No such process")
        rotate(f"{NEW}-2")
        eventually(lambda: password_in("out") == f"{NEW}-2")


def test_a_reader_that_leaves_ends_it_after_what_is_due_is_done() -> None:
    ours, theirs = os.pipe()

    with Watching(*JOB, *runs_of("echo >> ran\n"), stdout=theirs).begins() as watching:
        os.close(theirs)
        os.close(ours)
        rotate()
        assert watching.ends() == 141

    assert password_in("out") == NEW
    assert lines_of("ran") == [""]
