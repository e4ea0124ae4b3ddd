"""One server, one session, its leases, and the thread that keeps them: made at the first read."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import timedelta

from .client import Answer, Client
from .event_source import EventSource
from .health import VaultHealth
from .keeper import Keeper
from .leases import Leases
from .session import Session
from .websocket import Line, WebSocket


class Connection:
    """Reads paths of Vault's API. Thread-safe."""

    def __init__(self, settings: Mapping[str, object], environ: Mapping[str, str]) -> None:
        """Connect to nothing yet; raise :class:`ConfigException` for wrong addresses and TLS."""
        self._client = Client(settings)
        self._keeper = Keeper(self._due, self._keep)
        self._session = Session(self._client, settings, environ, self._keeper.wake)
        self._leases = Leases(self._client, self._session, self._keeper.wake)
        self._events = EventSource(settings, self._client.transport)

    @property
    def calls_made(self) -> int:
        """How many requests were sent."""
        return self._client.calls_made

    def deadline(self) -> AbstractContextManager[None]:
        """Have all reads of this thread meanwhile end within one timeout."""
        return self._client.deadline()

    def read(
        self, path: str, params: Mapping[str, str] | None = None, *, counts: bool = True
    ) -> Answer:
        """Return Vault's answer for *path*; raise :class:`LookupFailed` or one of its kinds.

        *counts* is false for what Vault takes no use of a token for.
        """
        return self._leases.read(path, params, counts=counts)

    def forget(self, path: str | None) -> None:
        """Have what was leased for *path*, or all, issued anew when it is read again."""
        self._leases.forget(path)

    @property
    def has_leases(self) -> bool:
        """Whether anything was leased."""
        return len(self._leases) > 0

    def ttl(self, path: str) -> timedelta | None:
        """Return how long the lease issued for *path* lives if nobody renews it."""
        seconds = self._leases.ttl(path)
        return None if seconds is None else timedelta(seconds=seconds)

    def events(self, line: Line) -> WebSocket:
        """Return a WebSocket of Vault's events, with its socket on *line*.

        Raises :class:`PathNotFound` if Vault has none, and other kinds of :class:`LookupFailed`.
        """
        events = self._events
        websocket, _ = self._session.do(events.path, lambda token: events.open(token, line))
        return websocket

    def health(self) -> VaultHealth:
        """Say how the session is, without asking Vault."""
        token, error = self._session.token, self._keeper.last_error
        state = "failing" if error else "ready" if token else "new"
        left = self._session.seconds_left
        ttl = None if left is None else timedelta(seconds=left)
        return VaultHealth(state, ttl, len(self._leases), error)

    def close(self, *, revoke: bool) -> None:
        """Stop renewing, and with *revoke* end the token that was made, and the leases."""
        self._keeper.stop()
        if revoke:
            self._leases.revoke()
        self._client.close()

    def _due(self) -> list[float]:
        return self._session.due + self._leases.due

    def _keep(self) -> None:
        try:
            self._session.keep()
        finally:  # Leases can be kept alive although the token cannot be renewed for now.
            self._leases.keep()
