"""What is done with connectors, as clients of Kafka Connect do it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from worker.rest.orders import CONFIG, REFERENCE, Client, InstantWorker
from worker.workers import runs, until

from configproviders.worker.status import ConnectorStatus

WORKER = "127.0.0.1:8083"
RUNNING = {"state": "RUNNING", "worker_id": WORKER}
STATUS = {
    "name": "orders",
    "connector": RUNNING,
    "tasks": [{"id": 0, **RUNNING}],
    "type": "source",
}
INFO = {
    "name": "orders",
    "config": {**CONFIG, "name": "orders"},
    "tasks": [{"connector": "orders", "task": 0}],
    "type": "source",
}


def becomes(state: str) -> Callable[[ConnectorStatus], bool]:
    return lambda status: status.state == state


def test_a_list_names_the_connectors(orders: Client) -> None:
    answer = orders("GET", "/connectors")

    assert (answer.status, answer.json) == (200, ["orders"])


def test_a_list_is_expanded_by_all_that_is_asked_for(orders: Client) -> None:
    answer = orders("GET", "/connectors?expand=status&expand=info&expand=progress&expand=secrets")

    assert answer.json == {
        "orders": {
            "status": STATUS,
            "info": INFO,
            "progress": {"0": {"rows": 10, "rows_per_second": 2.5, "offsets": []}},
            "secrets": [
                {
                    "reference": REFERENCE,
                    "config_keys": ["password"],
                    "resolved_at": "2026-01-02T03:04:05.678+00:00",
                    "changed_at": None,
                }
            ],
        }
    }


def test_what_else_a_list_is_to_be_expanded_by_is_passed_over(orders: Client) -> None:
    assert orders("GET", "/connectors?expand=color").json == {"orders": {}}


def test_a_thousand_connectors_are_listed_with_their_states(
    ask: Client, worker: InstantWorker
) -> None:
    names = [f"orders-{each:03}" for each in range(1000)]
    for created in [worker.herder.create(name, {**CONFIG, "name": name}) for name in names]:
        created.result()

    answer = ask("GET", "/connectors?expand=status&expand=info")

    assert list(answer.json) == names
    assert answer.json["orders-999"]["info"]["name"] == "orders-999"


def test_a_connector_that_is_deleted_meanwhile_is_left_out_of_a_list(
    orders: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.herder, "names", lambda: ["deleted", "orders"])

    assert orders("GET", "/connectors?expand=info").json == {"orders": {"info": INFO}}


def test_a_list_that_is_asked_for_again_shows_what_has_changed(
    orders: Client, worker: InstantWorker
) -> None:
    path = "/connectors?expand=status&expand=info"
    worker.herder.create("stays", {**CONFIG, "name": "stays"}).result()
    until(worker, "stays", runs)
    before = orders("GET", path).json

    worker.herder.pause("orders").result()
    until(worker, "orders", becomes("PAUSED"))
    paused = orders("GET", path).json
    worker.herder.delete("orders").result()
    left = orders("GET", path).json

    assert before["orders"]["status"]["connector"]["state"] == "RUNNING"
    assert paused["orders"]["status"]["connector"]["state"] == "PAUSED"
    assert left == {"stays": before["stays"]} == {"stays": paused["stays"]}


@pytest.mark.parametrize("name", ['a "b"', "ä/ö", "\\n", "{}"])
def test_each_name_of_a_list_is_written_as_json_has_it(
    ask: Client, worker: InstantWorker, name: str
) -> None:
    worker.herder.create(name, {**CONFIG, "name": name}).result()

    answer = ask("GET", "/connectors?expand=info")

    assert answer.json[name]["info"]["name"] == name


def test_a_connector_is_shown_as_it_is_stored(orders: Client) -> None:
    assert orders("GET", "/connectors/orders").json == INFO
    assert orders("GET", "/connectors/orders/config").json == INFO["config"]


def test_states_are_shown(orders: Client) -> None:
    assert orders("GET", "/connectors/orders/status").json == STATUS
    assert orders("GET", "/connectors/orders/tasks/0/status").json == {"id": 0, **RUNNING}


def test_the_state_of_one_task_of_several_is_shown(ask: Client, worker: InstantWorker) -> None:
    ask("PUT", "/connectors/orders/config", {**CONFIG, "tasks.max": 2})
    until(worker, "orders", runs)

    assert ask("GET", "/connectors/orders/tasks/1/status").json == {"id": 1, **RUNNING}


def test_a_failure_is_shown_with_its_trace(ask: Client, worker: InstantWorker) -> None:
    worker.runner.fails["orders"] = False
    ask("PUT", "/connectors/orders/config", CONFIG)
    until(worker, "orders", becomes("FAILED"))

    shown = ask("GET", "/connectors/orders/status").json["connector"]

    assert shown == {"state": "FAILED", "worker_id": WORKER, "trace": "Traceback\nno luck"}


def test_the_config_and_the_state_are_there_right_after_a_creation(ask: Client) -> None:
    ask("POST", "/connectors", {"name": "orders", "config": CONFIG})

    assert ask("GET", "/connectors/orders/config").status == 200
    assert ask("GET", "/connectors/orders/status").status == 200


def test_tasks_are_shown_with_references(orders: Client) -> None:
    assert orders("GET", "/connectors/orders/tasks").json == [
        {"id": {"connector": "orders", "task": 0}, "config": INFO["config"]}
    ]


def test_a_pause_and_a_resumption_are_answered_without_a_body(
    orders: Client, worker: InstantWorker
) -> None:
    paused = orders("PUT", "/connectors/orders/pause")

    assert (paused.status, paused.text) == (202, "")
    until(worker, "orders", becomes("PAUSED"))

    resumed = orders("PUT", "/connectors/orders/resume")

    assert (resumed.status, resumed.text) == (202, "")
    until(worker, "orders", runs)


def test_a_stopped_connector_has_no_tasks(orders: Client, worker: InstantWorker) -> None:
    stopped = orders("PUT", "/connectors/orders/stop")

    assert (stopped.status, stopped.text) == (204, "")
    until(worker, "orders", becomes("STOPPED"))
    assert orders("GET", "/connectors/orders/tasks").json == []


def test_a_restart_of_the_connector_alone_has_no_body(orders: Client) -> None:
    answer = orders("POST", "/connectors/orders/restart")

    assert (answer.status, answer.text) == (204, "")


@pytest.mark.parametrize("true", ["true", "True", "TRUE"])
def test_a_restart_of_tasks_shows_what_restarts(
    orders: Client, worker: InstantWorker, true: str
) -> None:
    worker.runner.by_hand = True

    answer = orders("POST", f"/connectors/orders/restart?includeTasks={true}&onlyFailed=False")

    assert answer.status == 202
    assert answer.json["connector"]["state"] == "RESTARTING"
    assert answer.json["tasks"][0]["state"] == "RESTARTING"


def test_a_restart_of_what_has_failed_shows_what_restarts(orders: Client) -> None:
    answer = orders("POST", "/connectors/orders/restart?onlyFailed=true")

    assert (answer.status, answer.json) == (202, STATUS)


def test_what_is_no_truth_in_a_query_is_false(orders: Client) -> None:
    assert orders("POST", "/connectors/orders/restart?includeTasks=maybe").status == 204


def test_a_restart_that_is_under_way_is_a_conflict(orders: Client, worker: InstantWorker) -> None:
    worker.runner.by_hand = True
    orders("POST", "/connectors/orders/restart")

    answer = orders("POST", "/connectors/orders/restart")

    assert answer.status == 409
    assert "is restarting" in answer.error


def test_a_task_is_restarted(orders: Client) -> None:
    assert orders("POST", "/connectors/orders/tasks/0/restart").status == 204
    assert orders("POST", "/connectors/orders/tasks/7/restart").status == 404


def test_a_deleted_connector_is_gone(orders: Client) -> None:
    deleted = orders("DELETE", "/connectors/orders")

    assert (deleted.status, deleted.text) == (204, "")
    assert orders("GET", "/connectors").json == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/config"),
        ("GET", "/status"),
        ("GET", "/tasks"),
        ("GET", "/tasks/0/status"),
        ("GET", "/secrets"),
        ("GET", "/offsets"),
        ("POST", "/restart"),
        ("POST", "/tasks/0/restart"),
        ("PUT", "/pause"),
        ("PUT", "/resume"),
        ("PUT", "/stop"),
        ("DELETE", ""),
        ("DELETE", "/offsets"),
    ],
)
def test_a_connector_that_is_not_there_is_not_found(ask: Client, method: str, path: str) -> None:
    answer = ask(method, f"/connectors/nothing{path}")

    assert answer.status == 404
    assert "nothing" in answer.error


@pytest.mark.parametrize("task", ["first", "-1", "1.5", "9" * 5000, "%C2%B2"])
def test_a_task_without_a_number_is_not_found(orders: Client, task: str) -> None:
    assert orders("GET", f"/connectors/orders/tasks/{task}/status").status == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/topics"), ("PUT", "/topics/reset")])
def test_topics_are_not_tracked(ask: Client, method: str, path: str) -> None:
    answer = ask(method, f"/connectors/any{path}")

    assert answer.status == 403
    assert answer.error == "Topic tracking is disabled."
