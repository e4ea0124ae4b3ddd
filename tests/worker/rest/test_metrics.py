"""What Prometheus is told."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from worker.rest.orders import CONFIG, Client, InstantWorker
from worker.workers import runs, until

from configproviders.testing import CANARY

Labels = dict[str, str]


def samples(ask: Client, name: str) -> list[tuple[Labels, float]]:
    families = text_string_to_metric_families(ask("GET", "/metrics").text)
    found = [sample for family in families for sample in family.samples]
    return [(sample.labels, sample.value) for sample in found if sample.name == name]


def test_connectors_and_tasks_are_counted_by_state(ask: Client, worker: InstantWorker) -> None:
    worker.runner.task_fails["two"] = False
    for name in ("one", "two"):
        ask("PUT", f"/connectors/{name}/config", {**CONFIG, "tasks.max": "3"})
    until(worker, "one", runs)
    until(worker, "two", lambda status: [task.state for task in status.tasks[2:]] == ["RUNNING"])

    connectors = {each["state"]: n for each, n in samples(ask, "connect_worker_connectors")}
    tasks = {each["state"]: n for each, n in samples(ask, "connect_worker_tasks")}

    assert (connectors["RUNNING"], connectors["STOPPED"]) == (2, 0)
    assert (tasks["RUNNING"], tasks["FAILED"]) == (5, 1)


def test_restarts_because_of_secrets_are_counted(ask: Client) -> None:
    assert samples(ask, "connect_worker_secret_reloads_total") == [({}, 0)]


def test_requests_are_counted_by_resource_and_not_by_connector(orders: Client) -> None:
    orders("GET", "/connectors/orders/status")
    orders("GET", "/connectors/nothing/status")
    orders("BREW", "/no/such/path")

    found = {
        (each["method"], each["resource"], each["status"]): number
        for each, number in samples(orders, "connect_worker_request_duration_seconds_count")
    }

    assert found["GET", "/connectors/{connector}/status", "200"] == 1
    assert found["GET", "/connectors/{connector}/status", "404"] == 1
    assert found["other", "other", "404"] == 1


def test_nothing_of_connectors_is_told(orders: Client) -> None:
    text = orders("GET", "/metrics").text

    assert "orders" not in text
    assert CANARY not in text


def test_the_format_is_the_one_that_is_asked_for(ask: Client) -> None:
    answer = ask("GET", "/metrics", headers={"Accept": "application/openmetrics-text"})

    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")
