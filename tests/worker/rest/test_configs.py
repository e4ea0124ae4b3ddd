"""How connectors are created and their configs changed."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from worker.rest.orders import CLASS, CONFIG, REFERENCE, Client, InstantWorker
from worker.workers import until

from configproviders.worker.errors import Conflict

STORED = {**CONFIG, "name": "orders"}


def test_a_new_connector_is_answered_with_its_place(ask: Client) -> None:
    answer = ask("POST", "/connectors", {"name": "orders", "config": CONFIG})

    assert answer.status == 201
    assert answer.headers["Location"] == "/connectors/orders"
    assert answer.json["config"] == STORED


def test_a_new_name_is_trimmed(ask: Client) -> None:
    answer = ask("POST", "/connectors", {"name": " orders ", "config": CONFIG})

    assert answer.json["name"] == answer.json["config"]["name"] == "orders"


@pytest.mark.parametrize(
    ("asked", "state"), [("stopped", "STOPPED"), ("PAUSED", "PAUSED"), ("Running", "RUNNING")]
)
def test_a_connector_begins_in_the_state_that_is_asked_for(
    ask: Client, worker: InstantWorker, asked: str, state: str
) -> None:
    ask("POST", "/connectors", {"name": "orders", "config": CONFIG, "initial_state": asked})

    assert until(worker, "orders", lambda status: status.state == state)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "config is missing"),
        ({"name": "orders", "config": None}, "config is missing"),
        ({"name": "orders", "config": []}, "config is missing"),
        ({"name": {}, "config": CONFIG}, "name is not text"),
        ({"name": "orders", "config": {"a": {}}}, "'a' is an object"),
        ({"name": "orders", "config": {"a": None}}, "'a' is null"),
        ({"name": "orders", "config": CONFIG, "initial_state": "ASLEEP"}, "RUNNING, PAUSED"),
        ({"name": "orders", "config": CONFIG, "tasks": []}, "unknown fields ['tasks']"),
        ({"name": "orders", "config": {**CONFIG, "name": "other"}}, "doesn't match"),
        ({"config": CONFIG}, "configuration name: "),
        ({"name": "a\x07", "config": CONFIG}, "no control characters"),
        ({"name": "orders", "config": {"connector.class": "no.Such"}}, "\nconnector.class: "),
        ({"name": "orders", "config": {"table": "orders"}}, '"connector.class"'),
        ({"name": "orders", "config": {**CONFIG, "rate": "fast"}}, "rate: write"),
        (
            {"name": "orders", "config": {**CONFIG, "config.providers": "env"}},
            "config.providers",
        ),
    ],
)
def test_what_cannot_be_created_is_refused_with_the_reason(
    ask: Client, body: Any, message: str
) -> None:
    answer = ask("POST", "/connectors", body)

    assert answer.status == 400
    assert message in answer.error
    assert ask("GET", "/connectors").json == []


def test_all_that_is_wrong_with_a_config_is_said_at_once(ask: Client) -> None:
    config = {**CONFIG, "rate": "fast", "tasks.max": "0"}

    message = ask("PUT", "/connectors/orders/config", config).error

    assert "contains the following 2 error(s):\n" in message
    assert "configuration rate: " in message
    assert "configuration tasks.max: " in message
    assert message.endswith("`/connector-plugins/{connectorType}/config/validate`")


def test_scalars_are_kept_as_the_text_that_was_sent(ask: Client) -> None:
    body = b'{"connector.class": "%s", "rate": 7, "table": true, "more": 1.50e3}' % CLASS.encode()

    ask("PUT", "/connectors/orders/config", body, {"Content-Type": "application/json"})

    stored = ask("GET", "/connectors/orders/config").json
    assert (stored["rate"], stored["table"], stored["more"]) == ("7", "true", "1.50e3")


def test_a_connector_is_created_once(orders: Client) -> None:
    answer = orders("POST", "/connectors", {"name": "orders", "config": CONFIG})

    assert answer.status == 409
    assert answer.error == "Connector orders already exists"


def test_of_two_that_create_the_same_one_is_told_that_it_is_there(ask: Client) -> None:
    barrier = Barrier(2)

    def create() -> int:
        barrier.wait()
        return ask("POST", "/connectors", {"name": "orders", "config": CONFIG}).status

    with ThreadPoolExecutor(2) as pool:
        both: list[Future[int]] = [pool.submit(create), pool.submit(create)]

    assert sorted(each.result() for each in both) == [201, 409]


def test_a_config_is_replaced_and_the_state_is_kept(orders: Client, worker: InstantWorker) -> None:
    orders("PUT", "/connectors/orders/stop")
    until(worker, "orders", lambda status: status.state == "STOPPED")

    answer = orders("PUT", "/connectors/orders/config", {"connector.class": CLASS})

    assert answer.status == 200
    assert answer.json["config"] == {"connector.class": CLASS, "name": "orders"}
    assert orders("GET", "/connectors/orders/status").json["connector"]["state"] == "STOPPED"


def test_a_config_that_is_put_creates_a_connector(ask: Client) -> None:
    answer = ask("PUT", "/connectors/new%20orders/config", CONFIG)

    assert answer.status == 201
    assert answer.headers["Location"] == "/connectors/new%20orders"


def test_a_patch_changes_and_removes_settings(orders: Client) -> None:
    answer = orders("PATCH", "/connectors/orders/config", {"table": None, "rate": 2})

    assert answer.status == 200
    assert answer.json["config"] == {
        "connector.class": CLASS,
        "name": "orders",
        "password": REFERENCE,
        "rate": "2",
    }


@pytest.mark.parametrize(
    ("name", "patch", "status"),
    [
        ("orders", {"rate": "fast"}, 400),
        ("orders", {"name": "other"}, 400),
        ("orders", {"connector.class": None}, 400),
        ("orders", {"rate": []}, 400),
        ("other", {"rate": "1"}, 404),
    ],
)
def test_a_patch_that_makes_no_config_changes_nothing(
    orders: Client, name: str, patch: Any, status: int
) -> None:
    answer = orders("PATCH", f"/connectors/{name}/config", patch)

    assert answer.status == status
    assert answer.error
    assert orders("GET", "/connectors/orders/config").json == STORED


def test_patches_at_the_same_time_are_all_made(orders: Client) -> None:
    def patch(key: str) -> int:
        return orders("PATCH", "/connectors/orders/config", {key: "1"}).status

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(patch, "abcd"))

    assert statuses == [200] * 4
    stored = orders("GET", "/connectors/orders/config").json
    assert {"a": "1", "b": "1", "c": "1", "d": "1"}.items() <= stored.items()


def test_a_patch_is_given_up_when_others_are_always_faster(
    orders: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conflict(*_: object, **__: object) -> Future[None]:
        future: Future[None] = Future()
        future.set_exception(Conflict("the config has changed meanwhile"))
        return future

    monkeypatch.setattr(worker.herder, "put_config", conflict)

    answer = orders("PATCH", "/connectors/orders/config", {"rate": "2"})

    assert (answer.status, answer.error) == (409, "the config has changed meanwhile")


def test_a_dry_run_says_that_a_connector_would_be_created(
    ask: Client, worker: InstantWorker
) -> None:
    answer = ask("POST", "/connectors?dryRun=true", {"name": "orders", "config": CONFIG})

    assert answer.status == 200
    assert (answer.json["name"], answer.json["action"]) == ("orders", "create")
    assert answer.json["diff"] == {"added": STORED, "removed": {}, "changed": {}}
    assert answer.json["validation"]["error_count"] == 0
    assert worker.herder.names() == []


def test_a_dry_run_says_what_an_update_would_change(orders: Client) -> None:
    config = {"connector.class": CLASS, "table": "lines", "rate": "2"}

    answer = orders("PUT", "/connectors/orders/config?dryRun=True", config)

    assert answer.json["action"] == "update"
    assert answer.json["config"] == {**config, "name": "orders"}
    assert answer.json["diff"] == {
        "added": {"rate": "2"},
        "removed": {"password": REFERENCE},
        "changed": {"table": {"before": "orders", "after": "lines"}},
    }
    assert orders("GET", "/connectors/orders/config").json == STORED


def test_a_dry_run_of_a_patch_is_made_over_the_config_that_is_there(orders: Client) -> None:
    answer = orders("PATCH", "/connectors/orders/config?dryRun=true", {"table": None})

    assert answer.json["diff"]["removed"] == {"table": "orders"}
    assert orders("GET", "/connectors/orders/config").json == STORED


@pytest.mark.parametrize(("changes", "errors"), [({}, 0), ({"rate": "fast"}, 1)])
def test_a_dry_run_says_that_nothing_would_be_stored(
    orders: Client, changes: dict[str, str], errors: int
) -> None:
    answer = orders("PUT", "/connectors/orders/config?dryRun=true", {**CONFIG, **changes})

    assert answer.json["action"] == "none"
    assert answer.json["diff"]["added"] == changes
    assert answer.json["validation"]["error_count"] == errors


def test_a_dry_run_is_refused_like_what_it_tries(orders: Client) -> None:
    body = {"name": "orders", "config": CONFIG}

    assert orders("POST", "/connectors?dryRun=true", body).status == 409
    assert orders("PATCH", "/connectors/none/config?dryRun=true", {}).status == 404
    assert orders("PUT", "/connectors/other/config?dryRun=true", STORED).status == 400
