from __future__ import annotations

import pytest

from configproviders.providers.vault.lifetimes import Lifetime, whole


@pytest.mark.parametrize(("random", "wait"), [(0.0, 70.0), (1.0, 73.33)])
def test_what_can_be_renewed_is_due_after_two_thirds_and_a_third_of_the_grace(
    random: float, wait: float
) -> None:
    life = Lifetime.of(100, renewable=True, now=1000, random=lambda: random)

    assert life.due == pytest.approx(1000 + wait, abs=0.01)
    assert life.left(1040) == 60
    assert life.left(2000) == 0


@pytest.mark.parametrize(("random", "wait"), [(0.0, 85.0), (1.0, 95.0)])
def test_what_cannot_be_renewed_is_due_shortly_before_its_end(random: float, wait: float) -> None:
    assert Lifetime.of(100, renewable=False, now=0, random=lambda: random).due == pytest.approx(
        wait
    )


def test_a_renewal_starts_the_time_anew() -> None:
    life = Lifetime.of(100, renewable=True, now=0, random=lambda: 0.0).renewed(100, 70, lambda: 0.0)

    assert (life.ends, life.renewable) == (170, True)
    assert life.due == pytest.approx(140, abs=0.1)


def test_a_renewal_that_meets_a_maximum_is_due_at_once() -> None:
    life = Lifetime.of(100, renewable=True, now=0, random=lambda: 0.0).renewed(60, 70, lambda: 0.0)

    assert (life.ends, life.due, life.renewable) == (130, 70, False)


@pytest.mark.parametrize("said", [None, "", "abc", "-5", "1.5", -1, True, [], {}, "٣"])
def test_what_is_no_number_of_seconds_counts_as_none(said: object) -> None:
    assert whole(said) == 0


def test_no_number_is_too_large() -> None:
    assert whole("9" * 40) == whole(10**9)
    assert whole(3600) == 3600
