"""``resolve-config watch`` when something is gone, or cannot be read or written."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from cli_watching import (
    JOB,
    NEW,
    Watching,
    eventually,
    lines_of,
    password_in,
    replace,
    rotate,
    runs_of,
)

from configproviders.testing import CANARY

pytestmark = pytest.mark.usefixtures("job_directory")


def test_a_reference_that_goes_keeps_the_file_and_is_said_once() -> None:
    with Watching(*JOB, *runs_of("echo >> ran\n")).begins() as watching:
        before = Path("out").stat()
        Path("secrets.properties").unlink()
        watching.says("jdbc.user: $<file:secrets.properties:user>: what was at")
        rotate(CANARY)
        watching.says("all is up to date again")

    assert Path("out").stat() == before
    assert not Path("ran").exists()
    assert watching.err.count("what was there stays: 2 references cannot be resolved") == 1
    assert [line.split()[2] for line in watching.out.splitlines()] == ["deleted", "appeared"]


def test_a_key_that_goes_keeps_the_file() -> None:
    with Watching(*JOB).begins() as watching:
        replace("secrets.properties", f"user={CANARY}\n")
        watching.says("what was there stays: 1 reference cannot be resolved")

        assert password_in("out") == CANARY
        assert "no key 'password' at 'secrets.properties'" in watching.err


def test_what_is_gone_holds_up_nothing_else() -> None:
    Path("other.properties").write_text("a=1\n")
    with Path("job.properties").open("a") as job:
        job.write("a=${file:other.properties:a}\n")

    with Watching(*JOB).begins() as watching:
        Path("other.properties").unlink()
        watching.says("a: ${file:other.properties:a}: what was at 'other.properties' is gone")
        rotate()
        eventually(lambda: password_in("out") == NEW)

    assert "a=1\n" in Path("out").read_text()


def test_values_of_one_location_are_of_one_version() -> None:
    with Watching(*JOB).begins() as watching:
        replace("secrets.properties", f"password={NEW}\n")
        watching.says("no key 'user' at 'secrets.properties'")
        assert password_in("out") == CANARY
        rotate(f"{NEW}-2", user="new")
        watching.says("all is up to date again")

    assert "jdbc.user=new\n" in Path("out").read_text()
    assert password_in("out") == f"{NEW}-2"


def test_a_backend_that_fails_keeps_the_file_and_is_said_once() -> None:
    Path("secrets.json").write_text(f'{{"p": "{CANARY}"}}')
    Path("in.properties").write_text("a=${file:secrets.json:p}\n")

    with Watching("in.properties", "-o", "out").begins() as watching:
        Path("secrets.json").write_text("{")
        watching.says("file:secrets.json cannot be read, which is tried again and again: ")
        kept = Path("out").read_text()
        Path("secrets.json").write_text(f'{{"p": "{NEW}"}}')
        watching.says("file:secrets.json can be read again")
        eventually(lambda: Path("out").read_text() == f"a={NEW}\n")

    assert kept == f"a={CANARY}\n"
    assert watching.err.count("cannot be read") == 1


def test_an_output_that_cannot_be_written_is_tried_again() -> None:
    Path("place").mkdir()
    after = runs_of("echo >> ran\n")

    with Watching("job.properties", "-o", "place/out", *after).begins() as watching:
        Path("place").rename("elsewhere")
        rotate()
        watching.says("what was there stays: cannot write 'place/out': No such file")
        assert not Path("ran").exists()
        Path("elsewhere").rename("place")
        watching.says("all is up to date again")
        eventually(lambda: lines_of("ran"))

    assert password_in("place/out") == NEW
    assert watching.err.count("what was there stays") == 1


def test_a_full_disk_leaves_the_old_output_whole() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    with Watching(*JOB, preexec_fn=limit).begins() as watching:
        rotate(NEW * 100_000)
        watching.says("cannot write 'out': File too large")
        assert password_in("out") == CANARY


def test_an_input_that_goes_wrong_changes_nothing_until_it_is_right() -> None:
    job = Path("job.properties").read_text()

    with Watching(*JOB).begins() as watching:
        replace("job.properties", f"{job}a=${{file:later.properties:a}}\n")
        watching.says("a: ${file:later.properties:a}: cannot read 'later.properties'")
        rotate()  # What was read before is still watched.
        eventually(lambda: password_in("out") == NEW)
        Path("later.properties").write_text("a=1\n")
        watching.says("changed job.properties: a\n")

    assert watching.err.count("what was there stays") == 1
    assert "a=1\n" in Path("out").read_text()


def test_an_input_that_is_away_for_a_while_is_said_once() -> None:
    with Watching(*JOB).begins() as watching:
        Path("job.properties").rename("away")
        watching.says("input:job.properties cannot be read, which is tried again and again: ")
        Path("away").rename("job.properties")
        watching.says("input:job.properties can be read again")

    assert watching.out == ""


def test_without_a_standard_output_it_goes_on() -> None:
    close = lambda: os.close(1)  # noqa: E731  Of one use.

    with Watching(*JOB, preexec_fn=close).begins():
        rotate()
        eventually(lambda: password_in("out") == NEW)


def test_a_full_device_for_the_lines_is_said_and_it_goes_on() -> None:
    with (
        Path("/dev/full").open("w") as full,
        Watching(*JOB, stdout=full).begins() as watching,
    ):
        rotate()
        watching.says("cannot write to standard output: No space left on device")
        rotate(f"{NEW}-2")
        eventually(lambda: password_in("out") == f"{NEW}-2")


def test_an_input_that_becomes_a_pipe_is_refused_and_holds_up_nothing() -> None:
    with Watching(*JOB).begins() as watching:
        os.mkfifo("pipe")
        Path("pipe").rename("job.properties")
        watching.says("cannot read 'job.properties': it is no regular file any more")
        rotate()
        eventually(lambda: password_in("out") == NEW)


def test_an_input_that_comes_to_read_from_the_output_is_refused() -> None:
    job = Path("job.properties").read_text()

    with Watching(*JOB).begins() as watching:
        before = Path("out").read_text()
        replace("job.properties", f"{job}a=${{file:out:jdbc.user}}\n")
        watching.says("what was there stays: -o 'out' would write over what 'file:out' is read")
        assert Path("out").read_text() == before
        rotate()
        eventually(lambda: password_in("out") == NEW)
