"""What nobody foresaw."""

from __future__ import annotations

import asyncio
import json
import math
from concurrent.futures import Future
from datetime import date
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message
from worker.rest.orders import CONFIG, Client, InstantWorker

from configproviders.spark.cleaning import remember
from configproviders.testing import CANARY
from configproviders.worker.connector import Progress
from configproviders.worker.errors import BadRequest, ConnectException
from configproviders.worker.rest.bodies import read_object
from configproviders.worker.rest.failures import Failures, failure
from configproviders.worker.rest.paths import resource
from configproviders.worker.rest.responses import Json, progress
from configproviders.worker.rest.waiting import done


def failing(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


def chained() -> Exception:
    """Return an error that holds a value, and so does its cause."""
    error = RuntimeError(f"cannot log in with {CANARY}")
    error.__cause__ = ValueError(CANARY)
    return error


@pytest.mark.parametrize("error", [chained(), ConnectException(f"no {CANARY}")])
def test_an_error_is_answered_and_logged_without_values(
    ask: Client,
    worker: InstantWorker,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    remember([CANARY])
    monkeypatch.setattr(worker.herder, "names", failing(error))

    answer = ask("GET", "/connectors")

    assert answer.status == 500
    assert CANARY not in answer.error
    assert "GET '/connectors' failed" in caplog.text
    assert "Traceback" in caplog.text
    assert CANARY not in caplog.text


def test_a_refusal_is_answered_without_values(
    ask: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember([CANARY])
    monkeypatch.setattr(worker.herder, "names", failing(BadRequest(f"no {CANARY}")))

    answer = ask("GET", "/connectors")

    assert answer.status == 400
    assert CANARY not in answer.error


def test_an_error_that_a_future_holds_is_answered(
    orders: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: Future[None] = Future()
    failed.set_exception(KeyError("phase"))
    monkeypatch.setattr(worker.herder, "pause", lambda _: failed)

    answer = orders("PUT", "/connectors/orders/pause")

    assert answer.status == 500
    assert answer.error == "KeyError: 'phase'"


def test_the_worker_goes_on_after_a_failure(
    ask: Client, worker: InstantWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(worker.validation, "validate", failing(chained()))
        assert ask("PUT", "/connectors/orders/config", CONFIG).status == 500

    assert ask("PUT", "/connectors/orders/config", CONFIG).status == 201


def test_a_request_that_takes_too_long_is_answered() -> None:
    async def wait(_: Request) -> Response:
        await asyncio.Event().wait()
        return Response()

    answer = asyncio.run(answered(resource("/", get=wait, timeout=0.01)))

    assert answer == {
        "error_code": 500,
        "message": "the request timed out after 0.01 s; the worker is still busy with it",
    }


def test_a_time_out_of_something_else_is_not_taken_for_that_of_the_request() -> None:
    async def fail(_: Request) -> Response:
        raise TimeoutError("the store is slow")

    answer = asyncio.run(answered(resource("/", get=fail)))

    assert answer["message"] == "TimeoutError: the store is slow"


def test_an_error_in_the_midst_of_an_answer_is_raised_without_values() -> None:
    remember([CANARY])

    async def begin(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError(CANARY)

    with pytest.raises(ValueError, match="redacted"):
        asyncio.run(answered(begin))


def test_the_place_of_a_failure_is_logged_and_a_refusal_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for path in ("/failed", "/refused"):
        error = ConnectException("x") if path == "/failed" else BadRequest("x")
        failure(error, {"type": "http", "method": "GET", "path": path})

    assert [record.getMessage() for record in caplog.records] == ["GET '/failed' failed"]


def test_a_client_that_goes_away_is_no_failure_of_the_worker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def read(request: Request) -> Response:
        return Json(await read_object(request))

    answer = asyncio.run(answered(resource("/", get=read)))

    assert answer["error_code"] == 400
    assert caplog.records == []


def test_what_the_herder_is_doing_goes_on_when_its_request_times_out() -> None:
    future: Future[None] = Future()

    async def wait(_: Request) -> Response:
        await done(future)
        return Response()

    answer = asyncio.run(answered(resource("/", get=wait, timeout=0.01)))

    assert answer["error_code"] == 500
    assert not future.cancelled()


@pytest.mark.parametrize("rate", [math.inf, math.nan])
def test_a_rate_that_is_no_number_yet_is_none(rate: float) -> None:
    shown = progress({0: Progress(0, rate)})

    assert shown == {"0": {"rows": 0, "rows_per_second": None, "offsets": []}}


def test_what_json_cannot_hold_is_shown_as_well_as_it_can_be() -> None:
    body = bytes(Json({"path": "\udcff", "since": date(2026, 1, 2)}).body)

    assert json.loads(body) == {"path": "\udcff", "since": "2026-01-02"}


async def answered(app: Any) -> Any:
    """Ask an app for ``/``, and return what it answers."""
    sent = list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    await Failures(app)(scope, receive, send)
    return json.loads(b"".join(message.get("body", b"") for message in sent))
