from __future__ import annotations

import pytest

from configproviders.cli.status_line import StatusLine
from configproviders.testing import FakeClock


def test_where_no_line_can_be_written_over_a_new_one_comes_each_minute(
    capfd: pytest.CaptureFixture[str],
) -> None:
    clock = FakeClock()
    line = StatusLine(clock)

    for seconds in (0, 59, 1, 30):
        clock.advance(seconds)
        line.show(lambda: "alive")

    assert capfd.readouterr().err == "resolve-config: alive\n" * 2


def test_what_is_not_shown_is_not_worked_out() -> None:
    clock = FakeClock()
    line = StatusLine(clock)
    line.show(lambda: "alive")

    line.show(lambda: pytest.fail("it is not time for that"))


def test_a_message_comes_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    with StatusLine() as line:
        line.say("look here")

    assert capfd.readouterr().err == "resolve-config: look here\n"
