"""Serves the REST API: sockets of listeners, and uvicorn in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .errors import ConnectException
from .listener import Listener

_log = logging.getLogger(__name__)

App = Callable[..., Any]
"""An application as ASGI has it."""

_BACKLOG = 128
_FAREWELL = 3
"""Seconds that requests have to end when the server is closed."""


def bind(listener: Listener) -> socket.socket:
    """Return a socket that is bound to *listener*, and takes nobody yet.

    A name of several addresses means the first, one of IPv4 if there is any. Raises
    :class:`ConnectException`, also if the port is in use.
    """
    try:
        family, address = _address(listener)
        # Only where the protocol is named does asyncio send the parts of an answer at once.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:  # Without a host it is for both, else for its own.
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(bool(listener.host)))
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
    except (OSError, UnicodeError) as error:
        raise _cannot_listen(listener, error) from error
    return bound


def url_of(listener: Listener, bound: socket.socket) -> str:
    """Return the URL of *listener* with the port that *bound* really has."""
    return Listener(listener.host, bound.getsockname()[1]).url


class Server:
    """Serves applications on bound sockets until it is closed.

    It has a thread of its own, as signals and the end of the process are the main thread's.
    *ended* is called in that thread when nothing is served any more, for whatever reason.
    """

    def __init__(
        self,
        applications: Sequence[tuple[App, Sequence[socket.socket]]],
        ended: Callable[[], object],
    ) -> None:
        """Take each application with its sockets."""
        import uvicorn

        self._served = [
            (uvicorn.Server(_config(application)), list(sockets))
            for application, sockets in applications
        ]
        self._ended = ended
        self._thread = threading.Thread(target=self._run, name="rest", daemon=True)

    def start(self) -> None:
        """Take requests; raise :class:`ConnectException` if another took the port meanwhile."""
        for _, sockets in self._served:
            for each in sockets:
                try:
                    each.listen(_BACKLOG)
                except OSError as error:
                    raise _cannot_listen(Listener(*each.getsockname()[:2]), error) from error
        self._thread.start()

    def close(self) -> None:
        """Take no more requests, give those that run a moment to end, and wait for that."""
        for server, _ in self._served:
            server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:  # noqa: BLE001  The top of a thread.
            _log.exception("the REST API ended")
        finally:
            self._ended()

    async def _serve(self) -> None:
        await asyncio.gather(*(server.serve(sockets) for server, sockets in self._served))


def _config(application: App) -> Any:
    import uvicorn

    return uvicorn.Config(
        application,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_FAREWELL,
    )


def _address(listener: Listener) -> tuple[int, Any]:
    if not listener.host:
        family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
        return family, ("", listener.port)
    found = socket.getaddrinfo(
        listener.host, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, *_, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, address


def _cannot_listen(listener: Listener, error: Exception) -> ConnectException:
    reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
    return ConnectException(
        f"cannot listen on {listener.url}: {reason}; see listeners and admin.listeners"
    )
