from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from configproviders import ConfigException, properties
from configproviders.output import encode, environment, render, write

CONFIGS = {"a.b": "x y", "c": "it's\n'quoted' $HOME", "no": "0123", "ü": "ß", "e": ""}
AMBIGUOUS = {"next line": "a\x85b", "number": "12e5", "octal": "0o14", "long": "word " * 100}


def test_every_format_can_be_read_back() -> None:
    assert properties.loads(render(CONFIGS, "properties")) == CONFIGS
    assert properties.loads(render(CONFIGS, "spark")) == CONFIGS
    assert json.loads(render(CONFIGS, "json")) == CONFIGS
    assert yaml.safe_load(render(CONFIGS | AMBIGUOUS, "yaml")) == CONFIGS | AMBIGUOUS


def test_every_value_stands_in_quotes_in_yaml() -> None:
    assert render({"k": "12e5"}, "yaml") == '"k": "12e5"\n'


def test_a_variable_that_no_shell_takes_is_an_error() -> None:
    with pytest.raises(ConfigException, match="starts with a digit: 1A"):
        render({"1a": "x"}, "env")


def test_the_env_format_is_read_back_by_a_shell(tmp_path: Path) -> None:
    (tmp_path / "env").write_text(render(CONFIGS, "env"))
    script = f'set -a; . {tmp_path}/env; printf "%s|" "$A_B" "$C" "$NO" "$E"'

    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)

    assert shown.stdout == "x y|it's\n'quoted' $HOME|0123||"


def test_names_of_variables_are_upper_case_words() -> None:
    assert environment({"db.user-name": "u", "PATH2": "p"}) == {"DB_USER_NAME": "u", "PATH2": "p"}


@pytest.mark.parametrize(
    ("configs", "reason"),
    [
        ({"a.b": "1", "a_b": "2"}, "'a.b' and 'a_b' both become the variable A_B"),
        ({"": "1"}, "an empty key makes no environment variable"),
        ({"k": "a\0b"}, "k: a value with a NUL character fits no environment"),
    ],
)
def test_what_fits_no_environment_is_an_error(configs: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigException, match=reason):
        environment(configs)


def test_bytes_from_the_environment_leave_as_they_came_and_half_a_pair_is_an_error() -> None:
    assert encode("ä\udcff") == b"\xc3\xa4\xff"
    with pytest.raises(ConfigException, match="half a surrogate pair") as caught:
        encode("hunter2 \ud800")
    assert "hunter2" not in str(caught.value)


def test_a_file_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    old_umask = os.umask(0)
    try:
        write(b"x", str(tmp_path / "new"))
    finally:
        os.umask(old_umask)

    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_an_old_file_is_replaced_whole_and_a_link_stays(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("old")
    old.chmod(0o644)
    (tmp_path / "link").symlink_to(old)

    write(b"new", str(tmp_path / "link"))

    assert (tmp_path / "link").is_symlink()
    assert old.read_text() == "new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no/such/dir/file", "No such file or directory"),
        (".", "it is not a regular file"),
        ("a\0b", "a path holds no NUL character"),
    ],
)
def test_a_path_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigException, match=reason):
        write(b"x", path)

    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_removed_and_what_another_writes_now_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / ".resolve-config-dead").write_text("secret")
    alive = tmp_path / ".resolve-config-alive"
    os.mkfifo(tmp_path / ".resolve-config-pipe")

    with alive.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write(b"x", str(tmp_path / "out"))
        left = {each.name for each in tmp_path.iterdir()}

    assert left == {"out", alive.name}


def test_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    contents = [bytes([each]) * 10_000 for each in range(100)]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda each: write(each, str(tmp_path / "out")), contents))

    assert (tmp_path / "out").read_bytes() in contents
    assert os.listdir(tmp_path) == ["out"]
