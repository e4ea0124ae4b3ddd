"""Headers that the worker's config asks for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from worker.rest.orders import Client, InstantWorker

RULES = (
    'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store", add Vary: A, add Vary: B,'
    " setDate Expires: 3600000"
)


def test_each_answer_has_the_headers_of_the_config(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"response.http.headers.config": RULES}))

    for path in ("/connectors", "/nothing", "/ui", "/metrics"):
        headers = ask("GET", path).headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "no-cache, no-store" in headers.get_all("Cache-Control", [])
        assert headers.get_all("Vary", [])[-2:] == ["A", "B"]


def test_a_date_is_counted_from_the_answer_on(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"response.http.headers.config": RULES}))

    expires = parsedate_to_datetime(ask("GET", "/").headers["Expires"])

    assert timedelta(minutes=50) < expires - datetime.now(UTC) < timedelta(minutes=61)


def test_a_refusal_has_them_too(serve: Callable[..., Client]) -> None:
    ask = serve(InstantWorker(**{"response.http.headers.config": RULES}))

    answer = ask("GET", "/", headers={"Host": "evil.example"})

    assert (answer.status, answer.headers["X-Frame-Options"]) == (403, "DENY")


def test_no_answer_is_kept_or_taken_for_something_else(ask: Client) -> None:
    headers = ask("GET", "/connectors").headers

    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
