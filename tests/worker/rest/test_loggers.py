"""Levels of loggers while the worker runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from worker.rest.orders import Client, InstantWorker

from configproviders.worker.rest.app import create_admin_app

NAME = "configproviders.tests.rest"


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    """Have a logger, and leave it without a level."""
    found = logging.getLogger(NAME)
    yield found
    found.setLevel(logging.NOTSET)


def test_a_level_is_set_and_shown(ask: Client, logger: logging.Logger) -> None:
    answer = ask("PUT", f"/admin/loggers/{NAME}", {"level": "debug"})

    assert (answer.status, answer.json) == (200, [NAME])
    assert logger.level == logging.DEBUG
    shown = ask("GET", f"/admin/loggers/{NAME}").json
    assert shown["level"] == "DEBUG"
    assert isinstance(shown["last_modified"], int)
    assert ask("GET", "/admin/loggers").json[NAME] == shown


def test_the_root_is_listed(ask: Client) -> None:
    loggers = ask("GET", "/admin/loggers").json

    assert list(loggers) == sorted(loggers)
    assert loggers["root"].keys() == {"level", "last_modified"}


def test_a_level_of_the_cluster_is_that_of_the_worker(ask: Client) -> None:
    answer = ask("PUT", f"/admin/loggers/{NAME}?scope=CLUSTER", {"level": "ERROR"})

    assert (answer.status, answer.text) == (204, "")


@pytest.mark.parametrize(
    ("body", "status"), [({}, 400), ({"level": None}, 400), ({"level": "LOUD"}, 404)]
)
def test_a_level_that_is_none_is_refused(ask: Client, body: object, status: int) -> None:
    answer = ask("PUT", f"/admin/loggers/{NAME}", body)

    assert answer.status == status
    assert "level" in answer.error


def test_a_logger_that_is_not_there_is_not_found(ask: Client) -> None:
    assert ask("GET", "/admin/loggers/no.such.logger").status == 404


def test_admin_is_not_served_where_the_config_gives_it_other_listeners(
    serve: Callable[..., Client],
) -> None:
    ask = serve(InstantWorker(**{"admin.listeners": ""}))

    assert ask("GET", "/admin/loggers").status == 404


def test_listeners_of_their_own_serve_admin_and_nothing_else(
    ask: Client, worker: InstantWorker, switch: tuple[Any, str]
) -> None:
    switch[0].app = create_admin_app(worker)

    assert ask("GET", "/admin/loggers").status == 200
    assert ask("GET", "/connectors").error == "HTTP 404 Not Found"
