from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

import pytest

from configproviders import ConfigData
from configproviders.watch.timing import Elapsed, Rate, Timing


def timing(jitter: float = 0.5) -> Timing:
    return Timing(60.0, 0.1, 1.0, 20.0, lambda: jitter)


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 54.0), (0.5, 60.0), (1.0, 66.0)])
def test_a_poll_comes_a_tenth_earlier_or_later(jitter: float, seconds: float) -> None:
    assert timing(jitter).poll_wait(60.0) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (None, math.inf),
        (ConfigData({}), math.inf),
        (ConfigData({}, timedelta(seconds=10)), 10.05),
        (ConfigData({}, timedelta(seconds=10), lease="l"), 5.0),
        (ConfigData({}, timedelta(0)), 1.0),
        (ConfigData({}, timedelta(milliseconds=10), lease="l"), 1.0),
    ],
)
def test_a_ttl_is_looked_at_when_it_ends_and_a_lease_before(
    data: ConfigData | None, seconds: float
) -> None:
    assert timing().ttl_wait(data, 60.0) == pytest.approx(seconds)


def test_pauses_after_failures_double_up_to_a_minute() -> None:
    pauses = [timing().next_try(failures, 60.0) for failures in range(1, 100)]

    assert pauses[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pauses[-1] == 60


def test_it_is_quiet_after_the_last_of_what_happens_and_at_the_latest_in_a_second() -> None:
    assert timing().settled(first=5.0, now=5.0) == pytest.approx(5.1)
    assert timing().settled(first=5.0, now=5.95) == 6.0
    assert timing().settled(first=5.0, now=9.0) == 9.0


def test_a_rate_lets_a_second_s_worth_go_at_once_and_then_one_by_one() -> None:
    rate = Rate(10)

    dates = [rate.book(0.0) for _ in range(13)]

    assert dates == pytest.approx([0.0] * 10 + [0.1, 0.2, 0.3])


def test_a_place_that_was_booked_is_kept_unless_it_is_long_past() -> None:
    rate = Rate(10)
    booked = [rate.book(0.0) for _ in range(12)][-1]

    assert [rate.book(now, booked) for now in (0.1, 0.3)] == [booked, booked]
    assert rate.book(9.0, booked) == 9.0


def test_a_clock_that_jumps_back_goes_on_from_there() -> None:
    times: Iterator[float] = iter([100.0, 105.0, 50.0, 53.0])
    elapsed = Elapsed(lambda: next(times))

    assert [elapsed(), elapsed(), elapsed()] == [5.0, 5.0, 8.0]
