"""A worker behind a socket, a new one for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from worker.rest.orders import Client, InstantWorker


class Switch:
    """An app that is another one for each test, so that one server does for all."""

    app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@pytest.fixture(scope="package")
def switch() -> Iterator[tuple[Switch, str]]:
    """Serve for all tests."""
    from worker.ui.serving import serving_app

    switch = Switch()
    with serving_app(switch) as url:
        yield switch, url


@pytest.fixture
def serve(switch: tuple[Switch, str]) -> Iterator[Callable[..., Client]]:
    """Serve a worker that has begun; return a client of it."""
    from worker.rest.orders import Client

    from configproviders.worker.rest.app import create_app

    with ExitStack() as opened:

        def serve(worker: InstantWorker, *, begin: bool = True) -> Client:
            opened.enter_context(worker)
            if begin:
                worker.begin()
            switch[0].app = create_app(worker, port=8083)
            return Client(switch[1])

        yield serve


@pytest.fixture
def worker() -> InstantWorker:
    """Return a worker with the settings that are preset."""
    from worker.rest.orders import InstantWorker

    return InstantWorker()


@pytest.fixture
def ask(serve: Callable[..., Client], worker: InstantWorker) -> Client:
    """Return a client of that worker."""
    return serve(worker)


@pytest.fixture
def orders(ask: Client, worker: InstantWorker) -> Client:
    """Return a client of that worker, which runs the connector ``orders``."""
    from worker.rest.orders import CONFIG
    from worker.workers import runs, until

    assert ask("PUT", "/connectors/orders/config", CONFIG).status == 201
    until(worker, "orders", runs)
    return ask
