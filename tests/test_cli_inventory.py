"""``resolve-config inventory``: what many configs refer to, and who uses a place."""

from __future__ import annotations

import csv
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
DONE = "resolve-config: 4 references in 3 configs, 4 locations\n"


@pytest.fixture(autouse=True)
def configs(job_directory: Path) -> Path:
    """Have four configs, in formats that differ, and what is no config."""
    top = job_directory / "configs"
    (top / "more").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / "a.properties").write_text(
        "plain=x\nurl=jdbc:x?p=${vault:secret/db:password}&u=${env:U}\n"
    )
    (top / "more" / "b.yaml").write_text("db:\n  user: $<vault:secret/data/db:user>\n")
    (top / "more" / "c.json").write_text('{"k": "${file:/etc/k.properties:k}"}')
    (top / "plain.toml").write_text("a = 1\n")
    (top / "notes.txt").write_text("${not:a:config}")
    (top / ".git" / "d.properties").write_text("a=${env:HIDDEN}\n")
    return top


def test_all_references_of_a_directory_are_listed(run: Run) -> None:
    code, out, err = run("inventory", "configs")

    assert (code, err) == (0, DONE)
    assert out == (
        "CONFIG                CONFIG KEY  PROVIDER  PATH               KEY\n"
        "configs/a.properties  url         vault     secret/db          password\n"
        "configs/a.properties  url         env                          U\n"
        "configs/more/b.yaml   db.user     vault     secret/data/db     user\n"
        "configs/more/c.json   k           file      /etc/k.properties  k\n"
    )


def test_who_uses_a_place_is_found_however_it_is_spelt(run: Run) -> None:
    _, secret, said = run("inventory", "configs", "--who-uses", "vault:secret/data/db")
    _, user, _ = run("inventory", "configs", "--who-uses", "vault:secret/db:user")
    _, nobody, none = run("inventory", "configs", "--who-uses", "mine:x")

    assert [line.split()[0] for line in secret.splitlines()[1:]] == [
        "configs/a.properties",
        "configs/more/b.yaml",
    ]
    assert [line.split()[0] for line in user.splitlines()[1:]] == ["configs/more/b.yaml"]
    assert nobody == "CONFIG  CONFIG KEY  PROVIDER  PATH  KEY\n"
    assert none == "resolve-config: 0 references in 0 configs, 0 locations; 4 files read\n"
    assert said == "resolve-config: 2 references in 2 configs, 2 locations\n"


def test_a_place_is_what_the_providers_of_a_file_mean_by_it(run: Run) -> None:
    Path("providers.properties").write_text(
        "config.providers=vault\nconfig.providers.vault.class=vault\n"
        "config.providers.vault.param.vault.kv.version=1\n"
    )

    _, out, _ = run(
        "inventory",
        "configs",
        "--who-uses",
        "vault:secret/db",
        "--providers",
        "providers.properties",
    )

    assert [line.split()[0] for line in out.splitlines()[1:]] == ["configs/a.properties"]


def test_a_file_of_other_providers_leaves_those_that_have_our_names(run: Run) -> None:
    Path("p.properties").write_text(
        "spark.config.providers=files\nspark.config.providers.files.class=file\n"
    )

    _, out, _ = run(
        "inventory", "configs", "--who-uses", "vault:secret/db", "--providers", "p.properties"
    )

    assert len(out.splitlines()) == 3


def test_links_to_directories_are_followed_and_each_is_read_once(
    run: Run, tmp_path_factory: pytest.TempPathFactory, configs: Path
) -> None:
    linked = tmp_path_factory.mktemp("linked")
    (linked / "e.properties").write_text("e=${env:E}\n")
    (linked / "up").symlink_to(configs)
    (configs / "link").symlink_to(linked)

    code, out, _ = run("inventory", "configs", "--who-uses", "env:E")

    assert (code, out.splitlines()[1].split()[0]) == (0, "configs/link/e.properties")
    assert len(out.splitlines()) == 2


def test_a_pipe_in_a_directory_is_named_and_not_waited_for(run: Run, configs: Path) -> None:
    os.mkfifo(configs / "pipe.properties")

    code, _, err = run("inventory", "configs")

    assert code == 2
    assert err == (
        f"resolve-config: cannot read 'configs/pipe.properties': it is not a file\n{DONE}"
    )


def test_odd_names_lose_nothing(run: Run, configs: Path) -> None:
    (configs / "z\udcff.properties").write_text("a=${env:Z}\n")

    document = json.loads(run("inventory", "configs", "--format", "json")[1])
    table = run("inventory", "configs", "--format", "csv")[1]

    assert document[2]["config"] == "configs/z\udcff.properties"
    assert table.splitlines()[3] == r"configs/z\udcff.properties,a,env,,Z"


def test_tab_completes_its_options() -> None:
    line = "resolve-config inventory --who"
    environment = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": "completions",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }

    subprocess.run(
        [sys.executable, "-m", "configproviders"], env={**os.environ, **environment}, check=False
    )

    assert Path("completions").read_text().strip() == "--who-uses"


def test_json_and_csv_hold_the_same(run: Run) -> None:
    document = json.loads(run("inventory", "configs", "--format", "json")[1])
    rows = list(csv.DictReader(run("inventory", "configs", "--format", "csv")[1].splitlines()))

    assert document == rows
    assert document[2] == {
        "config": "configs/more/b.yaml",
        "config_key": "db.user",
        "provider": "vault",
        "path": "secret/data/db",
        "key": "user",
    }


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(run: Run, configs: Path) -> None:
    (configs / "more" / "bad.json").write_text("{")
    (configs / "gone.properties").symlink_to("nowhere")

    code, out, err = run("inventory", "configs")

    assert (code, len(out.splitlines())) == (2, 5)
    assert err.startswith(
        "resolve-config: cannot read 'configs/gone.properties': No such file or directory\n"
        "resolve-config: configs/more/bad.json: line 1: column 2: "
    )
    assert err.endswith(DONE)


def test_one_file_is_an_inventory_too(run: Run) -> None:
    assert len(run("inventory", "configs/more/b.yaml")[1].splitlines()) == 2
    assert run("inventory", "nowhere")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["configs", "--who-uses", "vault"], "'vault' is no place: write provider:path or"),
        (["configs", "--who-uses", "a:b}c"], "'a:b}c' is no place"),
        (["configs", "--who-uses", "ssm:arn:aws:x"], "'ssm:arn:aws:x': "),
        (["configs", "--columns", "id,key"], "write three names with commas between them"),
        (["configs", "--providers", "x"], "--providers goes with --who-uses"),
        (["configs", "--", "ls"], "a command after -- does not go with inventory"),
        ([], "CONFIG_DIR_OR_PARQUET"),
        (["configs", "--who-uses", ""], "'' is no place"),
        (["x.parquet", "--who-uses", "vault"], "'vault' is no place"),
        (["configs", "--who-uses", "a:b", "--providers", "configs/a.properties"], "declares no"),
        ([".", "--who-uses", "a:b"], "'.' holds configs and Parquet: name one of them"),
    ],
)
def test_bad_usage_is_explained(run: Run, words: list[str], message: str) -> None:
    Path("lake/day=1").mkdir(parents=True)
    Path("lake/day=1/part-0.parquet").touch()

    code, out, err = run("inventory", *words)

    assert (code, out) == (2, "")
    assert message in err


def test_progress_is_shown_in_a_terminal() -> None:
    terminal, theirs = pty.openpty()

    subprocess.run(
        [sys.executable, "-m", "configproviders", "inventory", "configs"],
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        check=True,
    )

    shown = os.read(terminal, 65536).decode()
    os.close(theirs)
    os.close(terminal)
    assert shown.startswith(
        f"\r\x1b[K[{'.' * 20}] 0 of 4 files, 0 s\r\x1b[K[#####{'.' * 15}] 1 of 4 files"
    )
    assert shown.endswith(f"\r\x1b[K{DONE}".replace("\n", "\r\n"))


def test_without_pyspark_it_is_said_how_to_get_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)

    assert run("inventory", "x.parquet") == (
        2,
        "",
        "resolve-config: Parquet is read with Spark: pip install 'configproviders[spark]'\n",
    )


@pytest.mark.spark
def test_parquet_gives_the_same_table_and_spark_says_nothing(configs: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    urls = ["jdbc:x?p=${vault:secret/db:password}&u=${env:U}", "$<vault:secret/data/db:user>", "x"]
    columns = {"topic": ["b", "a", "a"], "name": ["url", "user", "none"], "text": urls}
    configs.parent.joinpath("lake/day=1").mkdir(parents=True)
    parquet.write_table(pa.table(columns), "lake/day=1/part-0.parquet")
    words = ["inventory", "lake", "--columns", "topic,name,text"]

    done = subprocess.run(
        [sys.executable, "-m", "configproviders", *words, "--who-uses", "vault:secret/data/db"],
        env={
            **os.environ,
            "JAVA_TOOL_OPTIONS": "",
            "PYSPARK_PYTHON": "/nowhere/python",
            "SPARK_REMOTE": "sc://nowhere",
            "SPARK_LOCAL_IP": "nowhere.invalid",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (
        0,
        "resolve-config: 2 references in 2 configs, 2 locations\n",
    )
    assert done.stdout == (
        "CONFIG  CONFIG KEY  PROVIDER  PATH            KEY\n"
        "a       user        vault     secret/data/db  user\n"
        "b       url         vault     secret/db       password\n"
    )


@pytest.mark.spark
def test_without_java_it_is_said_what_is_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "configproviders", "inventory", "x.parquet"],
        env={**os.environ, "JAVA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "resolve-config: Spark does not start: it needs a whole Java 17 or newer, in JAVA_HOME or"
        " on PATH\n"
    )
