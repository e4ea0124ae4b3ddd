"""``resolve-config watch`` in this process: what one change comes to, and bad usage."""

from __future__ import annotations

import itertools
import json
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_watching import NEW, eventually, in_time, password_in, rotate

from configproviders import ConfigData, ConfigProvider, properties
from configproviders.testing import CANARY

Run = Callable[..., tuple[int, str, str]]
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    with in_time():
        yield


@contextmanager
def once_it_watches(act: Callable[[], object], file: str = "out") -> Iterator[None]:
    """Have another thread call *act* as soon as the output is there."""

    def wait_and_act() -> None:
        eventually(Path(file).exists)
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    yield
    thread.join()


def test_a_change_is_written_and_one_line_names_the_keys_and_no_value(run: Run) -> None:
    with once_it_watches(rotate):
        code, out, err = run("watch", "job.properties", "-o", "out", "--once")

    assert code == 0
    assert re.fullmatch(
        rf"{TIME}changed file:secrets.properties: spark.hadoop.fs.s3a.secret.key\n", out
    )
    assert err == "resolve-config: watching 2 locations for 0:00:00, no change yet\n"
    assert password_in("out") == NEW
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o600
    assert set(os.listdir()) == {"out", "job.properties", "broken.properties", "secrets.properties"}


def test_all_keys_that_a_change_affects_are_named_in_the_order_of_the_config(run: Run) -> None:
    with once_it_watches(lambda: rotate(user="new")):
        _, out, _ = run("watch", "job.properties", "-o", "out", "--once")

    assert out.endswith(": spark.hadoop.fs.s3a.secret.key, jdbc.user\n")


def test_the_output_has_the_format_that_is_asked_for(run: Run) -> None:
    with once_it_watches(rotate):
        run("watch", "job.properties", "-o", "out", "--format", "json", "--once")

    assert json.loads(Path("out").read_text())["spark.hadoop.fs.s3a.secret.key"] == NEW


class Numbered(ConfigProvider):
    """Counts how often it is asked; that is its version, and the path names its value."""

    asked: int = 0
    waits = False

    def get(self, path: str, keys: object = None) -> ConfigData:
        Numbered.asked += Path("out").exists()
        return ConfigData({"k": str(Numbered.asked > 2)}, version=f"v{int(Numbered.asked > 2)}")


def test_versions_are_named_where_there_are_any(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Numbered, "asked", 0)
    Path("in.properties").write_text(
        f"config.providers=n\nconfig.providers.n.class={__name__}:Numbered\na=${{n:x:k}}\n"
    )

    options = ["-o", "out", "--once", "--poll-interval-ms", "20"]
    _, out, _ = run("watch", "in.properties", *options)

    assert re.fullmatch(rf"{TIME}changed n:x \(version v0 to v1\): a\n", out)


def test_the_command_runs_after_the_file_is_written(run: Run) -> None:
    Path("look.sh").write_text("grep secret.key out > seen\n")

    with once_it_watches(rotate):
        command = ["--on-change", "sh look.sh"]
        code, _, _ = run("watch", "job.properties", "-o", "out", "--once", *command)

    assert code == 0
    assert password_in("seen") == NEW


def test_the_words_of_the_command_are_split_and_no_shell_sees_them(run: Run) -> None:
    with once_it_watches(rotate):
        command = [
            "--on-change",
            f"{sys.executable} -c 'import sys; print(sys.argv)' '$HOME' ;",
        ]
        _, out, _ = run("watch", "job.properties", "-o", "out", "--once", *command)

    assert out.splitlines()[1] == "['-c', '$HOME', ';']"


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("exit 3", 3, "'sh' failed: exit code 3"),
        ("kill -9 $$", 137, "'sh' was ended by SIGKILL"),
        ("kill -40 $$", 168, "'sh' was ended by signal 40"),
    ],
)
def test_a_command_that_fails_is_named_with_its_exit_code(
    run: Run, script: str, code: int, message: str
) -> None:
    with once_it_watches(rotate):
        command = ["--on-change", f"sh -c '{script}'"]
        done = run("watch", "job.properties", "-o", "out", "--once", *command)

    assert done[0] == code
    assert done[2].endswith(f"resolve-config: {message}\n")


def test_a_command_that_cannot_be_run_any_more_is_named(run: Run) -> None:
    Path("reload").write_text("#!/no/such/interpreter\n")
    Path("reload").chmod(0o755)

    with once_it_watches(rotate):
        command = ["--on-change", "./reload"]
        code, _, err = run("watch", "job.properties", "-o", "out", "--once", *command)

    assert code == 2
    assert err.endswith("resolve-config: cannot run './reload': No such file or directory\n")


def test_a_command_that_takes_long_is_mentioned(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("configproviders.cli.on_change._TICK", 0.01)
    monkeypatch.setattr("configproviders.cli.on_change._NOTICE", 0.02)

    with once_it_watches(rotate):
        command = ["--on-change", "sleep 0.5"]
        _, _, err = run("watch", "job.properties", "-o", "out", "--once", *command)

    assert "'sleep' runs for 0:00:00; the next change waits for it" in err


def test_an_output_is_not_needed(run: Run) -> None:
    done = threading.Event()

    def keep_rotating() -> None:
        for number in itertools.count():
            rotate(f"{CANARY}-{number}")
            if done.wait(0.3):
                break

    with once_it_watches(keep_rotating, "job.properties"):
        code, out, _ = run("watch", "job.properties", "--once")
        done.set()

    assert code == 0
    assert out.endswith("spark.hadoop.fs.s3a.secret.key\n")
    assert CANARY not in out


def test_what_changes_in_the_input_is_named_by_its_keys(run: Run) -> None:
    def edit() -> None:
        with Path("job.properties").open("a") as file:
            file.write("url=x?${file:secrets.properties:user}\n")

    with once_it_watches(edit):
        code, out, _ = run("watch", "job.properties", "-o", "out", "--once")

    assert code == 0
    assert re.fullmatch(rf"{TIME}changed job.properties: url\n", out)
    assert not [each for each in threading.enumerate() if each.name.startswith("watcher")]
    assert "url=x?orders\n" in Path("out").read_text()


class Same(ConfigProvider):
    """Has the same value everywhere."""

    waits = False

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        return ConfigData(dict.fromkeys(keys or (), "same"))


def test_the_file_of_the_providers_is_read_again_too(run: Run) -> None:
    Path("in.properties").write_text("a=${p:secrets.properties:user}\n")
    settings = "config.providers=p\nconfig.providers.p.class={}\n"
    Path("w.properties").write_text(settings.format("file"))

    with once_it_watches(
        lambda: Path("w.properties").write_text(settings.format(f"{__name__}:Same"))
    ):
        options = ["-o", "out", "--once", "--providers", "w.properties"]
        code, out, _ = run("watch", "in.properties", *options)

    assert code == 0
    assert out.endswith("changed in.properties: a\n")
    assert Path("out").read_text() == "a=same\n"


def test_what_had_no_value_at_first_stays_as_typed_if_that_is_allowed(run: Run) -> None:
    with once_it_watches(rotate):
        options = ["-o", "out", "--once", "--allow-unresolved"]
        code, _, err = run("watch", "broken.properties", *options)

    assert code == 0
    assert "left as typed: jdbc.user" in err
    assert "what was there stays" not in err
    assert properties.loads(Path("out").read_text()) == {
        "fine": NEW,
        "jdbc.user": "${file:secrets.properties:usr}",
    }


def test_the_first_resolution_is_strict_and_writes_nothing(run: Run) -> None:
    code, out, err = run("watch", "broken.properties", "-o", "out", "--on-change", "touch ran")

    assert (code, out) == (1, "")
    assert err.startswith("resolve-config: broken.properties: 1 reference cannot be resolved:\n")
    assert not Path("out").exists()
    assert not Path("ran").exists()


def test_providers_of_an_untrusted_input_can_be_refused(run: Run) -> None:
    Path("in.properties").write_text("config.providers=mine\nconfig.providers.mine.class=file\n")

    code, _, err = run("watch", "in.properties", "--no-input-providers")

    assert code == 1
    assert "'config.providers' is refused by --no-input-providers" in err


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ([], "the following arguments are required: INPUT"),
        (["missing.properties"], "cannot read 'missing.properties': No such file or directory"),
        (["a\0b"], "a path holds no NUL character"),
        (["job.properties", "--", "true"], "a command after -- does not go with watch"),
        (["job.properties", "-o", "-"], "watch writes no result to standard output"),
        (["job.properties", "-o", "./job.properties"], "would write over what is read"),
        (["job.properties", "--providers", "w", "-o", "w"], "would write over what is read"),
        (["job.properties", "-o", "no/dir/out"], "cannot write 'no/dir/out'"),
        (["job.properties", "--format", "json"], "--format goes with -o"),
        (["job.properties", "-o", "x", "--format", "spark"], "invalid choice: 'spark'"),
        (["job.properties", "--signal", "HUP"], "--signal goes with --pid"),
        (["job.properties", "--pid", "1", "--on-change", "true"], "not allowed with"),
        (["job.properties", "--pid", "0"], "--pid: 0 is not the number of a process"),
        (["job.properties", "--pid", "2147483648"], "2147483648 is not the number of a process"),
        (["job.properties", "--pid", "4194305"], "--pid: cannot signal 4194305: "),
        (["job.properties", "--pid", "1", "--signal", "SIGHOP"], "did you mean 'HUP'?"),
        (["job.properties", "--on-change", ""], "--on-change: there is no command"),
        (["job.properties", "--on-change", "a 'b"], "--on-change: no closing quotation in"),
        (["job.properties", "--on-change", "nope -x"], "--on-change: there is no command 'nope'"),
        (["job.properties", "--poll-interval-ms", "0"], "--poll-interval-ms: write 1 or more"),
        (["job.properties", "--settle-ms", "-1"], "--settle-ms: "),
        (["job.properties", "--lookup-concurrency", "0"], "lookup.concurrency is 0"),
        (["/dev/null"], "nothing to watch: no reference, and no file to read again"),
    ],
)
def test_bad_usage_and_bad_input_end_with_2_and_one_clear_line(
    run: Run, argv: list[str], reason: str
) -> None:
    code, out, err = run("watch", *argv)

    assert (code, out) == (2, "")
    assert reason in err
    assert "Traceback" not in err
    assert CANARY not in err


def test_help_says_what_a_command_gets(run: Run) -> None:
    code, out, _ = run("watch", "--help")

    assert code == 0
    assert "run without one: for pipes and variables write\nsh -c '...'" in out


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())


def test_the_plain_command_loads_nothing_of_it() -> None:
    added = modules_after("import configproviders.cli") - modules_after("pass")

    heavy = {"cli_watch", "cli_session", "watch", "status_line"}
    assert not added & {f"configproviders.{each}" for each in heavy}
    assert not added & {"logging", "threading", "subprocess"}
