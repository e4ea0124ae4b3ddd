"""While something blocks, all others are answered."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from worker.rest.orders import CLASS, CONFIG, Client, InstantWorker

VALIDATE = f"/connector-plugins/{CLASS}/config/validate"
Blocking = Callable[[InstantWorker], tuple[object, str]]


def validation(worker: InstantWorker) -> tuple[object, str]:
    return worker.validation, "validate"


@pytest.mark.parametrize(
    ("method", "path", "body", "blocking"),
    [
        ("POST", "/connectors", {"name": "new", "config": CONFIG}, validation),
        ("PUT", "/connectors/orders/config", CONFIG, validation),
        ("PATCH", "/connectors/orders/config", {}, validation),
        ("PUT", VALIDATE, CONFIG, validation),
        ("GET", "/connector-plugins", None, lambda worker: (worker.plugins, "all")),
        ("GET", f"/connector-plugins/{CLASS}/config", None, lambda w: (w.plugins, "find")),
        ("GET", "/connectors/orders/offsets", None, lambda worker: (worker.runner, "offsets")),
        ("GET", "/connectors?expand=progress", None, lambda worker: (worker.runner, "progress")),
        ("GET", "/health", None, lambda worker: (worker.runner, "check")),
    ],
)
def test_what_blocks_keeps_nobody_else_waiting(  # noqa: PLR0913, PLR0917  Of a parametrized test.
    orders: Client,
    worker: InstantWorker,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: Any,
    blocking: Blocking,
) -> None:
    blocked, released = Event(), Event()
    owner, name = blocking(worker)
    function = getattr(owner, name)

    def block(*arguments: Any) -> Any:
        blocked.set()
        assert released.wait(10), "nobody else was answered"
        return function(*arguments)

    with monkeypatch.context() as patched, ThreadPoolExecutor(1) as pool:
        patched.setattr(owner.__class__, name, lambda _, *arguments: block(*arguments))
        waiting: Future[Any] = pool.submit(orders, method, path, body)
        assert blocked.wait(10)
        other = orders("GET", "/connectors/orders/status")
        released.set()

    assert other.status == 200
    assert waiting.result().status in {200, 201}
