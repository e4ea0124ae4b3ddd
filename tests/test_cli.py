from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from configproviders import (
    properties,
)
from configproviders.testing import CANARY

Run = Callable[..., tuple[int, str, str]]


def test_the_resolved_properties_are_printed(run: Run) -> None:
    code, out, err = run("job.properties")

    assert (code, err) == (0, "")
    assert properties.loads(out) == {
        "spark.app.name": "job",
        "spark.hadoop.fs.s3a.secret.key": CANARY,
        "jdbc.user": "orders",
    }


def test_a_broken_reference_is_named_with_its_key_and_no_secret_is_shown(run: Run) -> None:
    code, out, err = run("broken.properties")

    assert (code, out) == (1, "")
    assert err == (
        "resolve-config: broken.properties: 1 reference cannot be resolved:\n"
        "  jdbc.user: ${file:secrets.properties:usr}: no key 'usr' at 'secrets.properties';"
        " did you mean 'user'?\n"
    )


def test_unresolved_references_may_be_left_as_typed(run: Run) -> None:
    code, out, err = run("broken.properties", "--allow-unresolved")

    assert code == 0
    assert properties.loads(out)["jdbc.user"] == "${file:secrets.properties:usr}"
    assert "left as typed: jdbc.user: " in err


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("in.json", '{"db": {"user": "${file:secrets.properties:user}"}}', []),
        ("in.yaml", "db:\n  user: ${file:secrets.properties:user}\n", []),
        ("in.toml", "[db]\nuser = '${file:secrets.properties:user}'\n", []),
        ("in", '{"db": {"user": "${file:secrets.properties:user}"}}', ["--input-format", "json"]),
    ],
)
def test_other_inputs_come_out_as_properties(
    run: Run, name: str, text: str, options: list[str]
) -> None:
    Path(name).write_text(text)

    assert run(name, *options) == (0, "db.user=orders\n", "")


def test_the_json_of_a_connector_is_read(run: Run) -> None:
    config = {"connector.class": "X", "user": "${file:secrets.properties:user}"}
    Path("c.json").write_text(json.dumps({"name": "c", "config": config}))

    assert run("c.json") == (0, "name=c\nconnector.class=X\nuser=orders\n", "")


def test_the_output_can_have_other_formats(run: Run) -> None:
    assert json.loads(run("job.properties", "--format", "json")[1])["jdbc.user"] == "orders"
    assert '"jdbc.user": "orders"\n' in run("job.properties", "--format", "yaml")[1]
    assert "JDBC_USER=orders\n" in run("job.properties", "--format", "env")[1]


def test_the_spark_format_keeps_references_and_only_spark_s_entries(run: Run) -> None:
    code, out, err = run("job.properties", "--format", "spark")

    assert code == 0
    assert properties.loads(out) == {
        "spark.app.name": "job",
        "spark.hadoop.fs.s3a.secret.key": "${file:secrets.properties:password}",
    }
    assert "left out, since spark-submit reads only spark.*: jdbc.user" in err


def test_the_spark_format_resolves_only_when_told_and_warns(run: Run) -> None:
    code, out, err = run("job.properties", "--format", "spark", "--resolve-secrets")

    assert code == 0
    assert properties.loads(out)["spark.hadoop.fs.s3a.secret.key"] == CANARY
    assert "warning: " in err


def test_a_file_is_written_for_the_owner_alone(run: Run) -> None:
    assert run("job.properties", "-o", "out") == (0, "", "")
    assert properties.loads(Path("out").read_text())["jdbc.user"] == "orders"
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o600


def test_an_error_writes_nothing(run: Run) -> None:
    Path("out").write_text("old")

    assert run("broken.properties", "-o", "out")[0] == 1
    assert Path("out").read_text() == "old"


def test_providers_declared_in_the_input_are_used_and_left_out(run: Run) -> None:
    Path("in.properties").write_text(
        "config.providers=mine\nconfig.providers.mine.class=file\n"
        "user=${mine:secrets.properties:user}\n"
    )

    assert run("in.properties") == (0, "user=orders\n", "")


def test_providers_of_an_untrusted_input_can_be_refused(run: Run) -> None:
    Path("in.properties").write_text("config.providers=mine\nconfig.providers.mine.class=file\n")

    code, out, err = run("in.properties", "--no-input-providers")

    assert (code, out) == (1, "")
    assert "'config.providers' is refused by --no-input-providers" in err


def test_a_provider_declared_twice_is_an_error(run: Run) -> None:
    Path("in.properties").write_text("config.providers=p\nconfig.providers.p.class=file\n")
    Path("w.properties").write_text("config.providers=p\nconfig.providers.p.class=env\n")

    code, _, err = run("in.properties", "--providers", "w.properties")

    assert code == 2
    assert "in.properties and w.properties: provider 'p' is declared twice" in err


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ([], "the following arguments are required: INPUT"),
        (["scan"], "'scan' is not a command yet; a file of that name is written ./scan"),
        (
            ["--check", "watch"],
            "'watch' is a command and comes first; a file of that name is ./watch",
        ),
        (["missing.properties"], "cannot read 'missing.properties': No such file or directory"),
        (["."], "cannot read '.': Is a directory"),
        (["a\0b"], "a path holds no NUL character"),
        (["job.properties", "--"], "no command after --"),
        (["job.properties", "-o", "x", "--check"], "-o and --format do not go with --check"),
        (["job.properties", "--format", "spark", "--plan"], "-o and --format do not go with"),
        (["job.properties", "--format", "spark", "--", "true"], "-o and --format do not go with"),
        (["job.properties", "--resolve-secrets"], "--resolve-secrets goes with --format spark"),
        (["job.properties", "--check", "--", "true"], "does not go with"),
        (["job.properties", "--check", "--plan"], "not allowed with"),
        (["job.properties", "--online"], "--online goes with --policy"),
        (["job.properties", "--form", "json"], "unrecognized arguments"),
        (["job.properties", "-o", "no/dir/out"], "cannot write 'no/dir/out'"),
        (["job.properties", "--", "no-such-command"], "cannot run 'no-such-command'"),
        (["--input-format", "json", "job.properties"], "job.properties: line 1: column 1"),
    ],
)
def test_bad_usage_and_bad_input_end_with_2_and_one_clear_line(
    run: Run, argv: list[str], reason: str
) -> None:
    code, out, err = run(*argv)

    assert (code, out) == (2, "")
    assert reason in err
    assert "Traceback" not in err
    assert CANARY not in err


@pytest.mark.parametrize("name", ["scan", "watch"])
def test_a_file_named_like_a_command_can_be_read(run: Run, name: str) -> None:
    Path(name).write_text("a=b\n")

    assert run(f"./{name}") == (0, "a=b\n", "")


def test_an_input_that_may_not_be_read_says_so(
    run: Run, public_directory: Path, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    job = public_directory / "job.properties"
    job.write_text("a=b\n")
    with as_nobody():
        assert run(str(job)) == (0, "a=b\n", "")

    job.chmod(0)
    with as_nobody():
        code, out, err = run(str(job))

    assert (code, out) == (2, "")
    assert "Permission denied" in err


def test_a_command_that_cannot_be_run_leaves_the_signals_of_the_process_alone(run: Run) -> None:
    before = signal.getsignal(signal.SIGPIPE)

    run("job.properties", "--", "no-such-command")

    assert signal.getsignal(signal.SIGPIPE) is before is signal.SIG_IGN


def test_help_shows_examples(run: Run) -> None:
    code, out, _ = run("--help")

    assert code == 0
    assert out.partition("examples:")[2].count("resolve-config ") == 5


@pytest.mark.parametrize("words", [[], ["watch"]])
@pytest.mark.parametrize("output", ["secrets.properties", "./link", "dd/pw", "dd/new", "to-pw"])
def test_an_output_that_a_value_is_read_from_is_refused_and_stays(
    run: Run, words: list[str], output: str
) -> None:
    Path("link").symlink_to("secrets.properties")
    Path("dd").mkdir()
    Path("dd/pw").symlink_to("../pw")
    Path("to-pw").symlink_to("pw")
    Path("pw").write_text(CANARY)
    before = Path("secrets.properties").read_text()
    Path("in.properties").write_text(
        "config.providers=d,file\nconfig.providers.d.class=directory\n"
        "config.providers.file.class=file\n"
        "a=${file:secrets.properties:password}\n"
        f"b=${{d:{Path.cwd()}/dd:pw}}\n"
    )

    code, out, err = run(*words, "in.properties", "-o", output)

    assert (code, out) == (2, "")
    assert f"-o {output!r} would write over what " in err
    assert Path("secrets.properties").read_text() == before
    assert Path("pw").read_text() == CANARY
    assert os.listdir("dd") == ["pw"]


@pytest.mark.parametrize("words", [[], ["watch"]])
@pytest.mark.parametrize("option", ["-o", "--providers"])
def test_an_empty_name_is_an_error(run: Run, words: list[str], option: str) -> None:
    code, out, err = run(*words, "job.properties", option, "")

    assert (code, out) == (2, "")
    assert "the name is empty" in err


def test_names_are_shown_without_control_characters(run: Run) -> None:
    name = "x\n\x1b]0;owned"
    Path(name).write_text("a=${file:secrets.properties:nope}\nb=c\n")

    shown = [
        run(name)[2],
        run("watch", name)[2],
        run("watch", name, "-o", name)[2],
        run("job.properties", f"--{name}")[2],
        run(name, "--input-format", "json")[2],
    ]

    assert all("x\\n\\x1b]0;owned" in each for each in shown)
    assert not any("\x1b" in each for each in shown)


def test_routes_say_how_each_key_would_reach_spark_and_what_is_refused(
    run: Callable[..., tuple[int, str, str]], job_directory: Path
) -> None:
    (job_directory / "y.properties").write_text(
        "spark.master=yarn\nspark.my.dsn=${file:x:y}\nspark.hadoop.a=$<file:x:y>\nuser=${file:x:y}\n"
    )

    code, out, err = run("--plan", "--routes", "y.properties")

    assert code == 0
    header, dsn, hadoop, user = (line.split(maxsplit=2) for line in out.splitlines())
    assert header[:2] == ["CONFIG", "KEY"]
    assert dsn[:2] == ["spark.my.dsn", "SparkConf"]
    assert dsn[2].startswith("files of YARN's staging directory")
    assert hadoop == ["spark.hadoop.a", "hadoopConfiguration"]
    assert user == ["user", "option"]
    assert err == "resolve-config: refused by Spark sessions unless allowed: spark.my.dsn\n"


def test_routes_without_a_plan_are_bad_usage(run: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = run("--routes", "job.properties")

    assert code == 2
    assert "--routes goes with --plan" in err
