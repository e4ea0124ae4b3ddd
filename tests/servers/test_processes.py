from __future__ import annotations

import sys
from pathlib import Path

import pytest
from servers.missing import missing
from servers.processes import program, serving


def test_what_is_missing_is_a_skip_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match="slapd is not installed: run `make servers`"):
        missing("slapd")


def test_what_is_missing_is_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="slapd is not installed"):
        missing("slapd")


def test_the_newest_program_of_a_pattern_is_taken(tmp_path: Path) -> None:
    for version in ("15", "16"):
        file = tmp_path / version / "no-such-server"
        file.parent.mkdir()
        file.touch(mode=0o755)

    found = program("no-such-server", f"{tmp_path}/*", package="none")

    assert found == str(tmp_path / "16" / "no-such-server")


def test_a_server_that_ends_before_it_is_ready_shows_what_it_wrote(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such option')"]

    with (
        serving(command, tmp_path / "log") as server,
        pytest.raises(RuntimeError, match=r"ended with 1:\nno such option"),
    ):
        server.wait_until(lambda: False)


def test_a_server_that_is_never_ready_is_given_up_and_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]

    with (
        serving(command, tmp_path / "log") as server,
        pytest.raises(RuntimeError, match=r"is not ready after 0\.1 s"),
    ):
        server.wait_until(lambda: False, seconds=0.1)

    assert server.process.returncode
