"""The README, executed block by block in one directory, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import configproviders
from configproviders.cache_settings import CACHE_DEF
from configproviders.config_def import ConfigKey
from configproviders.registry import POLL_INTERVAL, SHORT_NAMES, find_class
from configproviders.worker.config_infos import written
from configproviders.worker.worker_keys import WORKER_KEYS

TOP = Path(__file__).parent.parent
README = (TOP / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files that the README shows: their first line is a comment with the name."""
    directory = tmp_path_factory.mktemp("readme")
    for _, text in BLOCKS:
        if name := re.match(r"# (\w+\.(?:properties|yaml))\n", text):
            (directory / name[1]).write_text(text)
    return directory


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


@pytest.mark.parametrize("text", blocks("console"))
def test_what_a_terminal_shows(text: str, directory: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}

    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        if command.startswith("pip "):  # What is tested is installed.
            continue
        done = subprocess.run(
            ["bash", "-c", f"({command}) 2>&1"],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == expected


@pytest.mark.spark
@pytest.mark.parametrize("text", blocks("python"))
def test_python(text: str, directory: Path) -> None:
    test_what_a_terminal_shows(blocks("console")[0], directory)
    subprocess.run([sys.executable, "-c", text], cwd=directory, check=True)


def test_the_commands_for_make_exist() -> None:
    for line in "".join(blocks("sh")).splitlines():
        subprocess.run([*line.split(), "--dry-run"], cwd=TOP, check=True, capture_output=True)


def test_the_settings_of_the_example_are_accepted(directory: Path) -> None:
    settings = configproviders.properties.loads((directory / "worker.properties").read_text())

    assert set(configproviders.load_providers(settings)) == {"secrets", "env"}


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    assert {language for language, _ in BLOCKS} == {"console", "sh", "properties", "yaml", "python"}


def test_the_first_result_stands_within_twenty_lines() -> None:
    assert "jdbc.password=s3cr3t" in README.splitlines()[:20]


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_the_table_has_a_row_for_each_provider(name: str) -> None:
    assert any(line.startswith(f"| `{name}` |") for line in README.splitlines())


def test_the_table_of_settings_says_what_the_providers_say() -> None:
    rows = [line for line in README.partition("## Settings")[2].splitlines() if "| `" in line]

    assert rows == settings_table() + worker_settings_table()


def settings_table() -> list[str]:
    """Write a row for each setting: its name, whose it is, default, meaning, other names."""
    owners: dict[ConfigKey[object, object], list[str]] = {}
    for name in SHORT_NAMES:
        for key in find_class(name).config_def:
            owners.setdefault(key, []).append(name)
    for key in (*CACHE_DEF, POLL_INTERVAL):
        owners[key] = ["any"]
    return [
        f"| `{key.name}` | {', '.join(names)} | {shown(key.default)} | {key.doc} | {others(key)} |"
        for key, names in owners.items()
    ]


def worker_settings_table() -> list[str]:
    """Write a row for each setting of a worker: its name, default and meaning."""
    defaults = {key.name: written(key.default) for key in WORKER_KEYS}
    return [
        f"| `{key.name}` | {(defaults[key.name] and f'`{defaults[key.name]}`') or ''} | {key.doc} |"
        for key in WORKER_KEYS
    ]


def shown(default: object) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, timedelta):
        return f"`{default // timedelta(milliseconds=1)}`"
    return f"`{default}`" if isinstance(default, str | int) and default != "" else ""


def others(key: ConfigKey[object, object]) -> str:
    return ", ".join(f"`{alias.name}` ({alias.origin})" for alias in key.aliases)
