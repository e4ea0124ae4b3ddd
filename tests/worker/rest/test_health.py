"""Whether the worker works."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest
from starlette.applications import Starlette
from worker.rest.orders import Client, InstantWorker

from configproviders.worker.rest.health import Health


def test_the_root_says_which_api_this_is(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"cluster.id": "lake"}))

    found = ask("GET", "/").json

    assert found.keys() == {"version", "commit", "kafka_cluster_id"}
    assert found["kafka_cluster_id"] == "lake"
    assert tuple(map(int, found["version"].split(".")))[:2] >= (3, 5)  # kcctl asks for that.


def test_a_worker_that_works_is_healthy(ask: Client) -> None:
    answer = ask("GET", "/health")

    assert (answer.status, answer.json["status"]) == (200, "healthy")


def test_a_worker_that_has_not_begun_is_starting(
    serve: Callable[..., Client], worker: InstantWorker
) -> None:
    ask = serve(worker, begin=False)

    answer = ask("GET", "/health")

    assert (answer.status, answer.json["status"]) == (503, "starting")


def test_what_is_wrong_is_said(ask: Client, worker: InstantWorker) -> None:
    worker.runner.problem = "the Spark application has ended"

    answer = ask("GET", "/health")

    assert answer.status == 500
    assert answer.json == {"status": "unhealthy", "message": "the Spark application has ended"}


def test_a_worker_that_does_not_answer_is_unhealthy(
    switch: tuple[object, str], ask: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = Event()
    monkeypatch.setattr(worker.runner, "check", lambda: str(released.wait(30)))
    monkeypatch.setattr(switch[0], "app", Starlette(routes=Health(worker, 0.05).routes()))

    first, second = ask("GET", "/health"), ask("GET", "/health")
    released.set()

    assert (first.status, second.status) == (500, 500)
    assert first.json["message"] == "Worker did not answer within 0.05 s."
