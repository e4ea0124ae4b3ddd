from __future__ import annotations

import random

from configproviders.watch.agenda import Agenda


def test_what_is_due_comes_in_the_order_of_its_dates() -> None:
    agenda: Agenda[str] = Agenda()
    for thing, date in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("d", 4.0)):
        agenda.put(thing, date)

    assert [*agenda.pop_due(3.0)] == ["a", "b", "c"]
    assert agenda.next() == 4.0


def test_what_is_moved_is_due_once_and_at_its_last_date() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.put("a", 1.0)
    agenda.put("a", 5.0)
    agenda.put("a", 3.0)

    assert [*agenda.pop_due(2.0)] == []
    assert [*agenda.pop_due(9.0)] == ["a"]
    assert agenda.next() is None


def test_what_is_dropped_is_not_due() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.put("a", 1.0)

    agenda.drop("a")
    agenda.drop("b")

    assert agenda.next() is None
    assert agenda.date("a") is None


def test_moving_things_for_ever_takes_no_more_room() -> None:
    agenda: Agenda[int] = Agenda()

    for _ in range(10_000):
        agenda.put(random.randrange(10), random.random())

    assert len(agenda) == 10
    assert len(agenda._heap) <= 100
