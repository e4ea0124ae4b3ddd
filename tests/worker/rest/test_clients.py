"""A client of Kafka Connect that others wrote, and its command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kafka_connect import KafkaConnect
from requests import HTTPError
from worker.rest.orders import CLASS, CONFIG, Client, InstantWorker
from worker.workers import runs, until

from configproviders.worker.status import ConnectorStatus, State

LOGINS = [None, "admin:hunter2"]
NEW = {"name": "orders", "config": CONFIG}
KC = Path(sys.executable).with_name("kc")


def is_paused(status: ConnectorStatus) -> bool:
    return status.state is State.PAUSED


@pytest.mark.parametrize("auth", LOGINS)
def test_the_library_of_kafka_connect_manages_connectors(
    ask: Client, worker: InstantWorker, auth: str | None
) -> None:
    client = KafkaConnect(ask.url, auth=auth)

    assert client.get_cluster_info().keys() == {"version", "commit", "kafka_cluster_id"}
    assert client.create_connector(NEW)["name"] == "orders"
    until(worker, "orders", runs)
    assert client.list_connectors() == ["orders"]
    assert client.list_connectors(expand="status", state="RUNNING").keys() == {"orders"}
    assert client.get_connector("orders")["type"] == "source"
    assert client.list_connector_tasks("orders")[0]["id"] == {"connector": "orders", "task": 0}
    assert client.get_connector_task_status("orders", 0)["state"] == "RUNNING"

    client.pause_connector("orders")
    until(worker, "orders", is_paused)
    assert client.get_connector_status("orders")["connector"]["state"] == "PAUSED"
    client.resume_all_connectors()
    until(worker, "orders", runs)

    assert client.update_connector("orders", {**CONFIG, "rate": 2})["config"]["rate"] == "2"
    assert client.get_connector_config("orders")["rate"] == "2"
    until(worker, "orders", runs)
    assert client.restart_connector("orders") is None
    until(worker, "orders", runs)
    assert client.restart_connector("orders", include_tasks=True)["name"] == "orders"
    until(worker, "orders", runs)
    client.restart_connector_task("orders", 0)
    client.stop_connector("orders")

    assert client.validate_connector_config(CLASS, {**CONFIG, "name": "x"})["error_count"] == 0
    assert client.list_connector_plugins()[0].keys() >= {"class", "type"}
    client.delete_connector("orders")
    assert client.list_connectors() == []


def test_the_library_of_kafka_connect_learns_what_is_wrong(ask: Client) -> None:
    client = KafkaConnect(ask.url)

    with pytest.raises(HTTPError, match="Connector orders not found"):
        client.restart_connector("orders")
    with pytest.raises(HTTPError, match="400"):
        client.create_connector({"name": "orders", "config": {"connector.class": "Nothing"}})
    with pytest.raises(HTTPError, match="403"):
        client.list_connector_topics("orders")


@pytest.mark.parametrize("auth", LOGINS)
def test_the_command_of_kafka_connect_manages_connectors(
    ask: Client, worker: InstantWorker, auth: str | None
) -> None:
    login = ["--auth", auth] if auth else []

    def kc(*arguments: str) -> Any:
        command = [str(KC), "--url", ask.url, *login, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout) if done.stdout else None

    assert kc("create", "--config-data", json.dumps(NEW))["name"] == "orders"
    assert kc("list") == ["orders"]
    kc("pause", "orders")
    until(worker, "orders", is_paused)
    assert kc("status", "orders")["connector"]["state"] == "PAUSED"
    kc("resume", "--all")
    until(worker, "orders", runs)
    assert kc("restart", "orders", "--include-tasks")["name"] == "orders"
    changed = json.dumps({**CONFIG, "rate": "2"})
    assert kc("update", "orders", "--config-data", changed)["config"]["rate"] == "2"
    assert kc("list", "--expand", "status")["orders"]["status"]["type"] == "source"
    kc("delete", "orders")
    assert kc("list") == []
