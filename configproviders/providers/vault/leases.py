"""What dynamic engines issue, kept alive and handed out again until it is replaced.

A lease dies with the token that made it, whatever its own time. So when the session has a new
token, all leases are issued anew under it, while the old ones still work; so is one whose renewal
gives no more. Two references to the user and the password of one role are answered from one lease.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...errors import LookupFailed, ProviderUnavailable
from ...single_flight import SingleFlight
from .client import Answer, Client
from .lifetimes import Lifetime, whole
from .session import Session

_MARGIN_SECONDS = 0.5
_REVOKE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Lease:
    """An answer of a dynamic engine, the token it hangs on, and how long it lives."""

    path: str
    answer: Answer = field(repr=False)
    token: str = field(repr=False)
    life: Lifetime

    @property
    def id(self) -> str:
        """The id by which Vault knows it."""
        return str(self.answer["lease_id"])


class Leases:
    """Reads through a session, and keeps the leases that come of it. Thread-safe."""

    def __init__(self, client: Client, session: Session, changed: Callable[[], None]) -> None:
        """Start with no leases; *changed* is called when :attr:`due` may be sooner."""
        self._client = client
        self._session = session
        self._changed = changed
        self._lock = threading.Lock()
        self._leases: dict[str, Lease] = {}
        self._superseded: list[Lease] = []  # They live on, and whoever holds them may use them.
        self._reads: SingleFlight[Answer] = SingleFlight()

    def __len__(self) -> int:
        return len(self._leases)

    def read(
        self, path: str, params: Mapping[str, str] | None = None, *, counts: bool = True
    ) -> Answer:
        """Return what is at *path*: from a lease that lives, or by asking, once for all threads."""
        lease = self._leases.get(path)
        if lease and self._is_current(lease) and self.seconds_left(lease) > _MARGIN_SECONDS:
            return lease.answer
        key = (path, *sorted((params or {}).items()))
        return self._reads.do(key, lambda: self._ask(path, params, counts=counts))

    def forget(self, path: str | None) -> None:
        """Have *path*, or all, issued anew when it is read again."""
        with self._lock:
            for each in [path] if path else list(self._leases):
                if lease := self._leases.pop(each, None):
                    self._superseded.append(lease)

    def ttl(self, path: str) -> float | None:
        """Return how long what *path* issued lives if nobody renews it, in seconds."""
        lease = self._leases.get(path)
        return self.seconds_left(lease) if lease else None

    def seconds_left(self, lease: Lease) -> float:
        """Return how long *lease* lives if nobody renews it or its token."""
        token, now = self._session.token, time.monotonic()
        lives = [lease.life, token.life if token and token.value == lease.token else None]
        return min(life.left(now) for life in lives if life)

    @property
    def due(self) -> list[float]:
        """When :meth:`keep` has something to do, in monotonic seconds."""
        if self._hangs_on_uses():
            return []
        with self._lock:
            leases = list(self._leases.values())
        return [each.life.due if self._is_current(each) else 0.0 for each in leases]

    def keep(self) -> None:
        """Renew, or issue anew, what is due; raise the first :class:`LookupFailed`, at the end."""
        failures = []
        for lease in [] if self._hangs_on_uses() else list(self._leases.values()):
            try:
                self._keep(lease)
            except LookupFailed as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def revoke(self) -> None:
        """End all leases as far as Vault allows it, by ending the token if it is ours."""
        with self._lock:
            leases = [*self._leases.values(), *self._superseded]
            self._leases, self._superseded = {}, []
        with self._client.deadline(_REVOKE_SECONDS):
            if self._session.logs_in and self._revoke_tokens(leases):
                return
            for lease in leases:
                with suppress(LookupFailed):
                    self._client.post("sys/leases/revoke", lease.token, {"lease_id": lease.id})

    def _revoke_tokens(self, leases: Iterable[Lease]) -> bool:
        """End the tokens of our logins, and so what hangs on them; return whether all went."""
        token = self._session.token
        tokens = {lease.token for lease in leases} | ({token.value} if token else set())
        ended = set()
        for each in tokens:
            with suppress(LookupFailed):
                self._client.post("auth/token/revoke-self", each)
                ended.add(each)
        return ended == tokens

    def _hangs_on_uses(self) -> bool:
        # Each call of ours would use up the token that the other leases hang on.
        token = self._session.token
        return token is not None and token.uses > 0

    def _ask(self, path: str, params: Mapping[str, str] | None, *, counts: bool = True) -> Answer:
        asked = time.monotonic()
        answer, token = self._session.get(path, params, counts=counts)
        granted = whole(answer.get("lease_duration"))
        if answer.get("lease_id") and granted:
            renewable = answer.get("renewable") is True
            life = Lifetime.of(granted, renewable=renewable, now=asked, random=random.random)
            with self._lock:
                if old := self._leases.get(path):
                    self._superseded = [*self._living(), old]
                self._leases[path] = Lease(path, answer, token.value, life)
            self._changed()
        else:
            with self._lock:  # What was leased here before is not any more.
                self._leases.pop(path, None)
        return answer

    def _living(self) -> list[Lease]:
        now = time.monotonic()
        return [lease for lease in self._superseded if lease.life.left(now)]

    def _is_current(self, lease: Lease) -> bool:
        token = self._session.token
        return token is not None and token.value == lease.token and not self._session.is_spent

    def _keep(self, lease: Lease) -> None:
        waits = lease.life.due > time.monotonic()
        if self._is_current(lease) and (waits or self._renewed(lease)):
            return
        try:
            self._reads.do((lease.path,), lambda: self._ask(lease.path, None))
        except ProviderUnavailable:
            raise
        except LookupFailed:
            with self._lock:  # Who asks next is told why.
                self._leases.pop(lease.path, None)
            raise

    def _renewed(self, lease: Lease) -> bool:
        """Return whether *lease* could be renewed for long enough."""
        if not lease.life.renewable:
            return False
        request = {"lease_id": lease.id, "increment": int(lease.life.granted)}
        asked = time.monotonic()
        try:
            answer = self._client.post("sys/leases/renew", lease.token, request)
        except ProviderUnavailable:
            raise
        except LookupFailed:
            return False  # It is gone, or may not be renewed.
        granted = whole(answer.get("lease_duration"))
        life = lease.life.renewed(granted, asked, random.random)
        with self._lock:
            if self._leases.get(lease.path) is lease:
                self._leases[lease.path] = replace(lease, life=life)
        return life.due > time.monotonic()
