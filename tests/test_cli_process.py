"""``resolve-config`` as a process: pipes, signals, terminals, full disks."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from configproviders.testing import CANARY

COMMAND = [sys.executable, "-m", "configproviders"]
pytestmark = pytest.mark.usefixtures("job_directory")


def start(
    *argv: str, stdin: str = "", before: Callable[[], object] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *argv],
        input=stdin,
        preexec_fn=before,
        text=True,
        capture_output=True,
        check=False,
    )


def test_standard_input_is_read() -> None:
    done = start("-", stdin="user=${file:secrets.properties:user}\n")

    assert (done.returncode, done.stdout, done.stderr) == (0, "user=orders\n", "")


def test_a_command_gets_the_result_in_its_environment_alone() -> None:
    script = "import os, sys; print(os.environ['SPARK_HADOOP_FS_S3A_SECRET_KEY'], sys.argv)"

    done = start("job.properties", "--", sys.executable, "-c", script, "--", "-o")

    assert done.stdout == f"{CANARY} ['-c', '--', '-o']\n"


def test_the_exit_code_is_the_command_s() -> None:
    assert start("job.properties", "--", "sh", "-c", "exit 7").returncode == 7


def test_the_command_ignores_no_signal_that_python_ignores() -> None:
    done = start("job.properties", "--", "sh", "-c", "grep SigIgn /proc/self/status")

    ignored = int(done.stdout.split()[1], 16)
    assert not ignored >> (signal.SIGPIPE - 1) & 1
    assert not ignored >> (signal.SIGXFSZ - 1) & 1


def test_a_collision_of_variables_is_bad_input_and_runs_nothing() -> None:
    Path("in.properties").write_text("a.b=1\na_b=2\n")

    done = start("in.properties", "--", "touch", "ran")

    assert done.returncode == 2
    assert "'a.b' and 'a_b' both become the variable A_B" in done.stderr
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a=\\ud800", "half a surrogate pair"),
        ("a=" + "x" * 1_000_000, "cannot run 'touch': Argument list too long"),
    ],
)
def test_a_value_that_fits_no_environment_is_an_error(line: str, reason: str) -> None:
    done = start("-", "--", "touch", "ran", stdin=line)

    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("ran").exists()


def test_a_variable_that_is_replaced_is_named() -> None:
    done = start("-", "--", sys.executable, "-c", "", stdin="home=/elsewhere\n")

    assert done.returncode == 0
    assert done.stderr == "resolve-config: replaced in the environment: HOME\n"


def test_no_command_runs_with_an_unresolved_reference() -> None:
    assert start("broken.properties", "--", "touch", "ran").returncode == 1
    assert not Path("ran").exists()


def test_a_full_device_is_an_error_without_a_traceback() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "job.properties"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr == (
        "resolve-config: cannot write to standard output: No space left on device\n"
    )


def test_a_full_disk_leaves_the_old_output_whole() -> None:
    Path("out").write_text("old")
    Path("big.properties").write_text(f"a={'x' * 100_000}\n")

    done = start(
        "big.properties",
        "-o",
        "out",
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )

    assert done.returncode == 2
    assert "cannot write 'out': File too large" in done.stderr
    assert Path("out").read_text() == "old"


def test_a_closed_standard_output_is_an_error_that_names_the_way_out() -> None:
    done = start("job.properties", before=lambda: os.close(1))

    assert done.returncode == 2
    assert "standard output is closed: name a file with -o" in done.stderr


def test_an_input_that_does_not_block_is_read_to_its_end() -> None:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    process = subprocess.Popen([*COMMAND, "-"], stdin=ours, stdout=subprocess.PIPE, text=True)
    os.write(theirs, b"a=1\npass")
    with process:
        os.close(ours)
        time.sleep(0.5)  # By now a reader that does not wait is done.
        os.write(theirs, b"word=x\n")
        os.close(theirs)
        out, _ = process.communicate(timeout=20)

    assert out == "a=1\npassword=x\n"


def test_a_full_standard_error_changes_no_exit_code() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "missing.properties"], stderr=full, check=False)

    assert done.returncode == 2


def test_a_reader_that_leaves_ends_it_in_silence() -> None:
    Path("big.properties").write_text("".join(f"k{n}={'x' * 1000}\n" for n in range(2000)))

    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m configproviders big.properties | head -c 1"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("k", "")


def test_ctrl_c_ends_it_without_a_traceback() -> None:
    os.mkfifo("pipe")
    process = subprocess.Popen([*COMMAND, "pipe"], stderr=subprocess.PIPE, text=True)
    with process, open("pipe", "w"):  # Opens once the command reads.
        # Python sees no signal that comes between its last look for one and the call that waits.
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=4)
                break
        _, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert err == ""


def test_a_megabyte_goes_through() -> None:
    Path("secrets.properties").write_text(f"user={'x' * 1_000_000}\n")

    done = start("-", stdin="u=${file:secrets.properties:user}\n")

    assert done.stdout == f"u={'x' * 1_000_000}\n"


def in_a_terminal(*argv: str, **environ: str) -> str:
    """Run the command in a pseudo-terminal; return what it shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **environ}
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in environ else None
    subprocess.run([*COMMAND, *argv], stdout=theirs, stderr=theirs, env=environment, check=False)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # Linux's way to say that the other end is closed.
        pass
    os.close(ours)
    return shown.decode()


def test_colours_are_for_terminals() -> None:
    assert "\x1b[32mfound" in in_a_terminal("job.properties", "--check")
    assert "\x1b[" not in in_a_terminal("job.properties", "--check", NO_COLOR="1")
    assert "\x1b[" not in start("job.properties", "--check").stdout


def test_a_stale_value_is_coloured_like_a_warning() -> None:
    Path("old.py").write_text(
        "from configproviders import ConfigData, EnvVarConfigProvider\n"
        "class Old(EnvVarConfigProvider):\n"
        "    def get(self, path, keys=None):\n"
        "        return ConfigData({'k': 'v'}, stale=True)\n"
    )
    Path("in.properties").write_text(
        "config.providers=o\nconfig.providers.o.class=old:Old\na=${o:k}\n"
    )

    assert "\x1b[33mstale" in in_a_terminal("in.properties", "--check", PYTHONPATH=".")


def test_tab_completes_options_and_formats() -> None:
    def completions(line: str) -> list[str]:
        environment = {
            **os.environ,
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": "completions",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "COMP_TYPE": "9",
        }
        subprocess.run(COMMAND, env=environment, check=False)
        return [each.strip() for each in Path("completions").read_text().splitlines()]

    assert "--providers" in completions("resolve-config --pro")
    assert "yaml" in completions("resolve-config --format ya")
    assert "job.properties" in completions("resolve-config jo")


@pytest.mark.parametrize("words", [[], ["watch"]])
def test_help_is_shown_in_an_ascii_locale(words: list[str]) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    done = subprocess.run(
        [*COMMAND, *words, "--help"],
        env={**os.environ, **ascii_only, "PYTHONIOENCODING": "ascii:strict"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "config.providers..." in done.stdout
