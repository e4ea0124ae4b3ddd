"""How far connectors have come."""

from __future__ import annotations

from typing import Any

import pytest
from worker.rest.orders import Client, InstantWorker
from worker.workers import until

from configproviders.errors import UnsupportedOperation

OFFSET = {"partition": {"table": "orders"}, "offset": {"row": 7}}


def test_offsets_are_shown_in_any_state(orders: Client) -> None:
    assert orders("GET", "/connectors/orders/offsets").json == {"offsets": [OFFSET]}


def test_a_stopped_connector_begins_anew(orders: Client, worker: InstantWorker) -> None:
    orders("PUT", "/connectors/orders/stop")
    until(worker, "orders", lambda status: status.state == "STOPPED")

    answer = orders("DELETE", "/connectors/orders/offsets")

    assert answer.status == 200
    assert answer.json == {"message": "The offsets for this connector have been reset successfully"}
    assert ("reset", "orders") in worker.runner.asked


def test_a_running_connector_keeps_its_offsets(orders: Client, worker: InstantWorker) -> None:
    answer = orders("DELETE", "/connectors/orders/offsets")

    assert answer.status == 400
    assert "must be in the STOPPED state" in answer.error
    assert ("reset", "orders") not in worker.runner.asked


def test_a_connector_that_keeps_no_offsets_says_so(
    orders: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise UnsupportedOperation("it keeps no offsets")

    monkeypatch.setattr(worker.runner, "reset_offsets", refuse)
    orders("PUT", "/connectors/orders/stop")
    until(worker, "orders", lambda status: status.state == "STOPPED")

    answer = orders("DELETE", "/connectors/orders/offsets")

    assert (answer.status, answer.error) == (400, "it keeps no offsets")


@pytest.mark.parametrize(
    ("name", "body", "status", "message"),
    [
        ("orders", {}, 400, "need to be provided"),
        ("orders", {"offsets": []}, 400, "need to be provided"),
        ("orders", {"offsets": [OFFSET]}, 400, "cannot be set"),
        ("orders", {"offset": [OFFSET]}, 400, "unknown fields"),
        ("nothing", {"offsets": [OFFSET]}, 404, "not found"),
    ],
)
def test_offsets_are_not_set(
    orders: Client, name: str, body: Any, status: int, message: str
) -> None:
    answer = orders("PATCH", f"/connectors/{name}/offsets", body)

    assert answer.status == status
    assert message in answer.error
