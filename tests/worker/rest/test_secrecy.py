"""No answer holds a value, whatever is asked."""

from __future__ import annotations

from typing import Any

import pytest
from worker.rest.orders import CLASS, CONFIG, REFERENCE, Client

from configproviders.testing import CANARY
from configproviders.worker.rest import failures

RATE = "${static:orders:rate}"  # Its value is no number.
BAD = {**CONFIG, "name": "bad", "rate": RATE, RATE: "", "table": f"{REFERENCE}${{static:no:key}}"}
VALIDATE = f"/connector-plugins/{CLASS}/config/validate"


@pytest.fixture(autouse=True)
def no_cleaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show what would be said: it must hold no value to begin with."""
    monkeypatch.setattr(failures, "clean", str)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/connectors?expand=status&expand=info&expand=secrets&expand=progress", None),
        ("GET", "/connectors/orders", None),
        ("GET", "/connectors/orders/config", None),
        ("GET", "/connectors/orders/status", None),
        ("GET", "/connectors/orders/tasks", None),
        ("GET", "/connectors/orders/secrets", None),
        ("GET", "/connectors/orders/offsets", None),
        ("GET", f"/connector-plugins/{CLASS}/config", None),
        ("GET", "/metrics", None),
        ("GET", "/openapi.json", None),
        ("GET", f"/connectors/{REFERENCE}", None),
        ("POST", "/connectors", {"name": "bad", "config": BAD}),
        ("POST", "/connectors?dryRun=true", {"name": "bad", "config": BAD}),
        ("POST", "/connectors", {"name": REFERENCE, "config": CONFIG}),
        (
            "POST",
            "/connectors",
            {"name": "bad", "config": {**CONFIG, "connector.class": REFERENCE}},
        ),
        ("POST", "/connectors/orders/restart?includeTasks=true", None),
        ("PUT", "/connectors/bad/config", BAD),
        ("PUT", "/connectors/orders/config?dryRun=true", {**BAD, "name": "orders"}),
        ("PATCH", "/connectors/orders/config", {"rate": RATE}),
        ("PATCH", "/connectors/orders/config?dryRun=true", {"rate": RATE}),
        ("PUT", VALIDATE, BAD),
        ("PUT", VALIDATE, {**BAD, "connector.class": REFERENCE}),
        ("PUT", VALIDATE, {"password": REFERENCE}),
    ],
)
def test_no_answer_holds_a_value(
    orders: Client,
    method: str,
    path: str,
    body: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = orders(method, path, body)

    assert answer.status != 500
    assert CANARY not in answer.text
    assert CANARY not in str(answer.headers)
    assert CANARY not in caplog.text


def test_a_value_that_is_no_number_is_said_by_its_key(orders: Client) -> None:
    answer = orders("PATCH", "/connectors/orders/config", {"rate": RATE})

    assert answer.status == 400
    assert "rate" in answer.error
