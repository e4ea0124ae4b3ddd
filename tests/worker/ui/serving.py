"""An ASGI app behind a socket of loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from servers.processes import LOOPBACK, free_port


@contextmanager
def serving_app(app: Any, port: int | None = None) -> Iterator[str]:
    """Serve *app* in a thread; give its URL."""
    port = port or free_port()
    config = uvicorn.Config(app, LOOPBACK, port, lifespan="off", ws="none", log_config=None)
    server = _Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    server.listens.wait(10)
    try:
        yield f"http://{LOOPBACK}:{port}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


class _Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()
