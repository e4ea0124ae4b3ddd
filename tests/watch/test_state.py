from __future__ import annotations

import logging
from datetime import timedelta
from itertools import pairwise

import pytest
from watched import POLL, Batching, Changing, Watch, leased

from configproviders import ConfigData, Location
from configproviders.errors import KeyNotFound, LookupDenied, MalformedText, ProviderUnavailable
from configproviders.watch import ChangeKind

DOWN = ProviderUnavailable("the backend does not answer")


def test_a_change_is_told_with_keys_versions_and_data() -> None:
    provider = Changing()
    provider.put(user="u", password="p1", version="1")
    watch = Watch(provider)
    watch.subscribe()

    provider.put(user="u", password="p2", version="2")
    watch.run(2 * POLL)

    (change,) = watch.changes
    assert change.kind is ChangeKind.CHANGED
    assert change.keys == {"password"}
    assert (change.before, change.after) == ("1", "2")
    assert change.data.data == {"user": "u", "password": "p2"}
    assert [*watch.told[0]] == [Location("it", "db")]


def test_the_same_content_in_a_new_version_is_no_change() -> None:
    provider = Changing()
    provider.put(password="p", version="1")
    watch = Watch(provider)
    watch.subscribe()

    provider.put(password="p", version="2")
    watch.run(10 * POLL)

    assert watch.told == []


def test_another_content_in_the_same_version_is_a_change() -> None:
    provider = Changing()
    provider.put(password="p1", version="1")
    watch = Watch(provider)
    watch.subscribe()

    provider.put(password="p2", version="1")
    watch.run(2 * POLL)

    assert len(watch.told) == 1


def test_only_those_are_told_who_want_a_key_that_changed() -> None:
    provider = Changing(user="u", password="p1")
    watch = Watch(provider)
    by_user: list[object] = []
    watch.subscribe("user", tell=by_user.append)
    watch.subscribe("password")

    provider.put(user="u", password="p2")
    watch.run(2 * POLL)

    assert by_user == []
    assert [change.data.data for change in watch.changes] == [{"password": "p2"}]


def test_what_goes_and_comes_back_is_told_as_such() -> None:
    provider = Changing(password="p")
    watch = Watch(provider)
    watch.subscribe("password")

    del provider.answers["db"]
    watch.run(2 * POLL)
    provider.put(password="p")
    watch.run(2 * POLL)

    assert [each.kind for each in watch.changes] == [ChangeKind.DELETED, ChangeKind.APPEARED]
    assert [each.data.data for each in watch.changes] == [{}, {"password": "p"}]


def test_a_key_that_goes_leaves_the_others() -> None:
    provider = Changing(user="u", password="p")
    watch = Watch(provider)
    watch.subscribe()

    provider.put(user="u")
    watch.run(2 * POLL)

    (change,) = watch.changes
    assert change.kind is ChangeKind.CHANGED
    assert change.keys == {"password"}


def test_what_changes_and_goes_back_before_it_is_told_is_not_told() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()
    provider.put(password="p2")
    watch.hear()
    watch.run(0.09)

    provider.put(password="p1")
    watch.hear()
    watch.run(POLL)

    assert watch.told == []


def test_events_without_an_end_are_told_at_the_upper_bound() -> None:
    provider = Changing(count="0")
    watch = Watch(provider)
    watch.subscribe()

    for count in range(30):
        provider.put(count=str(count))
        watch.hear()
        watch.run(0.05)

    assert len(watch.changes) == 1


def test_changes_at_several_locations_within_a_moment_are_one_callback() -> None:
    provider = Changing(user="u1")
    provider.put("other", password="p1")
    watch = Watch(provider)
    watch.subscribe(paths=("db", "other"))

    provider.put(user="u2")
    watch.hear("db")
    watch.run(0.08)
    provider.put("other", password="p2")
    watch.hear("other")
    watch.run(1)

    (told,) = watch.told
    assert {each.path for each in told} == {"db", "other"}


def test_an_event_elsewhere_that_never_ends_does_not_hold_a_change_back() -> None:
    provider = Changing(user="u1")
    provider.put("other", count="0")
    watch = Watch(provider)
    watch.subscribe(paths=("db", "other"))
    provider.put(user="u2")
    watch.hear("db")

    for _ in range(30):
        watch.hear("other")
        watch.run(0.05)

    assert len(watch.told) == 1


@pytest.mark.parametrize(
    "error", [DOWN, LookupDenied("it is refused"), MalformedText("line 1: no value")]
)
def test_a_failure_is_no_change_and_is_logged_once_and_so_is_its_end(
    error: ProviderUnavailable, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()

    provider.fail(error)
    watch.run(10 * POLL)
    provider.put(password="p2")
    watch.run(2 * POLL)

    assert [each.kind for each in watch.changes] == [ChangeKind.CHANGED]
    assert [each.levelname for each in caplog.records] == ["WARNING", "INFO"]
    assert str(error) in caplog.text


def test_a_stale_answer_is_no_change_and_says_so() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()

    provider.answers["db"] = ConfigData({"password": "older"}, stale=True)
    watch.run(2 * POLL)
    (health,) = watch.state.health().values()
    provider.put(password="p1")
    watch.run(2 * POLL)

    assert (health.stale, health.error is None) == (True, False)
    assert not watch.state.health()[Location("it", "db")].stale
    assert watch.told == []


def test_who_begins_with_a_stale_answer_is_told_only_if_the_fresh_one_differs() -> None:
    provider = Changing()
    provider.answers["db"] = ConfigData({"password": "p1"}, stale=True)
    watch = Watch(provider)
    watch.subscribe()

    provider.put(password="p1")
    watch.run(2 * POLL)

    assert watch.told == []


def test_a_storm_of_events_is_told_within_the_upper_bound_again_and_again() -> None:
    provider = Changing(count="0")
    watch = Watch(provider)
    moments: list[float] = []
    watch.subscribe(tell=lambda _: moments.append(watch.clock()))

    for count in range(1000):
        provider.put(count=str(count))
        watch.hear()
        watch.run(0.01)

    assert 9 <= len(moments) <= 10
    assert max(later - earlier for earlier, later in pairwise([0.0, *moments])) <= 1.1


def test_changes_are_told_in_the_order_of_the_plan() -> None:
    paths = [f"p{number}" for number in range(20)]
    provider = Changing()
    for path in paths:
        provider.put(path, k="1")
    watch = Watch(provider)
    watch.subscribe(paths=paths)

    for path in reversed(paths):
        provider.put(path, k="2")
    watch.run(2 * POLL)

    told = [[at.path for at in each] for each in watch.told]
    assert sorted(path for each in told for path in each) == sorted(paths)
    assert all(each == sorted(each, key=paths.index) for each in told)


def test_what_failed_at_the_beginning_appears_when_it_can_be_read() -> None:
    provider = Changing()
    provider.fail(DOWN)
    watch = Watch(provider)
    watch.subscribe()

    provider.put(password="p")
    watch.run(POLL)

    assert [each.kind for each in watch.changes] == [ChangeKind.APPEARED]


def test_a_failing_location_is_tried_again_with_growing_pauses() -> None:
    provider = Changing()
    provider.fail(DOWN)
    watch = Watch(provider)
    watch.subscribe()

    counts = []
    for _ in range(8):
        before = len(provider.asked)
        watch.run(16)
        counts.append(len(provider.asked) - before)

    assert counts[0] == 4  # After 1, 3, 7 and 15 seconds.
    assert max(counts[2:]) == 1


def test_a_key_that_cannot_be_read_holds_back_who_wants_it() -> None:
    provider = Changing(user="u1", password="p1")
    watch = Watch(provider)
    by_user: list[object] = []
    watch.subscribe("user", tell=by_user.append)
    watch.subscribe("user", "password")

    unreadable = {"password": MalformedText("it is not UTF-8")}
    provider.answers["db"] = ConfigData({"user": "u2"}, errors=unreadable)
    watch.run(2 * POLL)
    alone = len(by_user), len(watch.told)
    provider.put(user="u2", password="p2")
    watch.run(2 * POLL)

    assert alone == (1, 0)
    assert [each.data.data for each in watch.changes] == [{"user": "u2", "password": "p2"}]


def test_a_key_that_is_said_to_be_missing_is_no_failure() -> None:
    provider = Changing(user="u")
    provider.answers["db"] = ConfigData({"user": "u"}, errors={"x": KeyNotFound("no key")})
    watch = Watch(provider)

    watch.subscribe("user", "x")

    assert watch.state.health()[Location("it", "db")].error is None


def test_what_changed_since_the_answers_in_hand_is_told_at_once() -> None:
    provider = Changing(password="p2")
    watch = Watch(provider)

    watch.subscribe("password", since={"db": ConfigData({"password": "p1", "user": "u"})})
    watch.run(0.5)

    assert [each.data.data for each in watch.changes] == [{"password": "p2"}]


def test_a_ttl_that_ends_is_looked_at_and_is_no_change() -> None:
    provider = Changing()
    provider.answers["db"] = ConfigData({"password": "p"}, timedelta(seconds=5))
    watch = Watch(provider)
    watch.subscribe()

    watch.run(POLL)

    assert len(provider.asked) == 12  # Every five seconds, and not every minute.
    assert watch.told == []


def test_what_replaces_a_lease_is_told_before_the_lease_ends() -> None:
    provider = Changing()
    watch = Watch(provider)
    provider.answers["db"] = leased(40, password="p1")
    watch.subscribe()

    provider.answers["db"] = leased(3600, password="p2")
    watch.run(30)

    assert [each.data.data["password"] for each in watch.changes] == ["p2"]


def test_a_ttl_of_nothing_does_not_make_it_spin() -> None:
    provider = Changing()
    provider.answers["db"] = ConfigData({"password": "p"}, timedelta(0))
    watch = Watch(provider)
    watch.subscribe()

    watch.run(POLL)

    assert len(provider.asked) <= POLL + 1


def test_what_a_backend_takes_together_is_polled_together() -> None:
    provider = Batching()
    paths = [f"p{number}" for number in range(50)]
    watch = Watch(provider)
    for path in paths:
        provider.put(path, password="p")
        watch.subscribe(paths=(path,))
        watch.run(0.2)
    provider.asked.clear()

    watch.run(3.5 * POLL)

    assert len(provider.asked) <= 8
    assert {path for call in provider.asked for path in call} == set(paths)


def test_a_backend_gets_no_more_calls_than_the_rate_allows() -> None:
    provider = Changing()
    paths = [f"p{number}" for number in range(100)]
    watch = Watch(provider, per_second=10)
    watch.subscribe(paths=paths)
    watch.run(1)
    provider.asked.clear()

    watch.state.hurry(watch.state.find(), settle=False)
    counts = []
    for _ in range(10):
        watch.run(1)
        counts.append(len(provider.asked))

    assert counts[0] <= 20
    assert max(later - earlier for earlier, later in pairwise(counts)) <= 11
    assert len({path for call in provider.asked for path in call}) == 100


def test_an_event_during_a_look_has_it_looked_at_again() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()
    watch.state.hurry(watch.state.find(), settle=False)
    (look,) = watch.state.step().looks
    answers = look.call.refresh()

    provider.put(password="p2")
    watch.hear()
    watch.run(0.5)
    watch.state.land(look, answers)
    watch.run(0.5)

    assert [each.data.data for each in watch.changes] == [{"password": "p2"}]


def test_who_was_cancelled_is_told_nothing_more() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    subscription = watch.subscribe()
    provider.put(password="p2")
    watch.hear()

    subscription.cancel()
    watch.run(2 * POLL)

    assert watch.told == []
    assert watch.state.health() == {}
    assert watch.state.seconds_left() is None


def test_no_value_is_kept_longer_than_until_all_are_told() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()

    provider.put(password="p2")
    watch.run(2 * POLL)

    (watched,) = watch.state.find()
    assert watched.data is None
    assert "p2" not in repr(watched.content)


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_clock_that_jumps_loses_no_poll(jump: float, caplog: pytest.LogCaptureFixture) -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()
    watch.run(1)
    provider.put(password="p2")

    watch.clock.advance(jump)
    watch.run(1.2 * POLL)

    assert len(watch.told) == 1
    assert ("stood still" in caplog.text) is (jump > 0)


def test_a_look_that_was_interrupted_is_made_again() -> None:
    provider = Changing(password="p1")
    watch = Watch(provider)
    watch.subscribe()
    watch.state.hurry(watch.state.find(), settle=False)

    watch.state.give_back(watch.state.step().looks)
    provider.put(password="p2")
    watch.run(1)

    assert len(watch.told) == 1
