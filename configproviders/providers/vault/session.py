"""A token that lives: renewed in time, and replaced by a new login where renewing gives no more.

A read that is refused (403) logs in once and is tried once more. Whether the token or a policy is
to blame a 403 does not say; so shortly after such a login the next one asks Vault about the token
instead, or a config full of forbidden paths would be a storm of logins.

A token that is given, and not logged in for, is looked up some seconds after its first use, since
only then is it known to end; a process that reads its config and goes on makes no call for it.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...errors import LookupDenied, LookupFailed, ProviderUnavailable
from . import environment
from . import settings as s
from .auth import Login, LoginDenied, given_token
from .client import Answer, Client
from .lifetimes import Lifetime, whole

_LOOK_AFTER_SECONDS = 5.0
_REFUSAL_SECONDS = 10.0
_LOGIN_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Token:
    """A token, how long it lives as far as that is known, and for how many uses; 0 means any."""

    value: str = field(repr=False)
    life: Lifetime | None = None
    uses: int = 0


class Session:
    """Reads with a token that lives. Thread-safe."""

    def __init__(
        self,
        client: Client,
        settings: Mapping[str, object],
        environ: Mapping[str, str],
        changed: Callable[[], None],
    ) -> None:
        """Take *settings*, and from *environ* where a token is; nothing is asked before a read.

        *changed* is called when :attr:`due` may be sooner, or the token is another one.
        """
        self._client = client
        self._settings = settings
        self._environ = environ
        self._login = Login(settings, client)
        self._changed = changed
        self._login_lock = threading.RLock()
        self._token: Token | None = None
        self._uses_left = 0
        self._file_state: object = None
        self._look_up_at: float | None = None
        self._refused_at = -_REFUSAL_SECONDS
        self._no_login_until, self._login_failure = 0.0, ""

    @property
    def token(self) -> Token | None:
        """The token in use."""
        return self._token

    @property
    def seconds_left(self) -> float | None:
        """Return what the token has left; ``None`` if it does not end, or nobody knows."""
        life = self._token.life if self._token else None
        return life.left(time.monotonic()) if life else None

    @property
    def logs_in(self) -> bool:
        """Whether the token comes from a login of ours, and so nobody else uses it."""
        return not self._login.is_given

    def get(self, path: str, params: Mapping[str, str] | None = None) -> tuple[Answer, Token]:
        """Return what is at *path* and the token it was read with; raises as the client's."""
        token = self._usable()
        try:
            return self._client.get(path, token.value, params), token
        except LookupDenied:
            if not self._another_than(token):
                raise
        token = self._usable()
        return self._client.get(path, token.value, params), token

    @property
    def due(self) -> float | None:
        """When :meth:`keep` has something to do, in monotonic seconds."""
        token = self._token
        times = [] if self._look_up_at is None else [self._look_up_at]
        if token and token.life and not token.uses and (self.logs_in or token.life.renewable):
            times.append(token.life.due)
        return min(times, default=None)

    def keep(self) -> None:
        """Do what is due: look a given token up, renew, or log in; raise :class:`LookupFailed`."""
        if self._look_up_at is not None and self._look_up_at <= time.monotonic():
            self._look_up()
        token, due = self._token, self.due
        if token and token.life and due is not None and due <= time.monotonic():
            self._renew(token, token.life)

    def _usable(self) -> Token:
        if self._login.is_given:
            return self._given()
        token = self._token
        if token is not None and self._is_good(token):
            return token
        with self._login_lock:
            token = self._token
            return token if token is not None and self._is_good(token) else self._log_in()

    def _is_good(self, token: Token) -> bool:
        if token.life is not None and not token.life.left(time.monotonic()):
            return False
        if not token.uses:
            return True
        with self._login_lock:
            self._uses_left -= 1
            return self._uses_left >= 0

    def _given(self) -> Token:
        with self._login_lock:
            state = _state(environment.token_file(self._settings, self._environ))
            if self._token is None or state != self._file_state:
                value, self._file_state = given_token(self._settings, self._environ), state
                if self._token is None or value != self._token.value:
                    self._token = Token(value)
                    if s.TOKEN_RENEW.read(self._settings):
                        self._look_up_at = time.monotonic() + _LOOK_AFTER_SECONDS
                    self._changed()
            return self._token

    def _log_in(self) -> Token:
        if time.monotonic() < self._no_login_until:
            raise LoginDenied(self._login_failure)
        try:
            auth = self._login.log_in()
        except LoginDenied as error:
            # Of many who wait for a token one has tried; each attempt more may lock a user out.
            self._no_login_until = time.monotonic() + _LOGIN_PAUSE_SECONDS
            self._login_failure = str(error)
            raise
        uses = whole(auth.get("num_uses"))
        # Renewing uses a token up, and one for few uses was not made to live.
        life = _life(auth.get("lease_duration"), bool(auth.get("renewable")) and not uses)
        self._uses_left = uses - 1
        self._token = token = Token(str(auth["client_token"]), life, uses)
        self._changed()
        return token

    def _another_than(self, token: Token) -> bool:
        """Return whether there is another token, now that *token* was refused."""
        with self._login_lock:
            if self._token is None or self._token.value != token.value:
                return True
            if self._login.is_given:
                self._file_state = None
                return self._given().value != token.value
            if time.monotonic() - self._refused_at < _REFUSAL_SECONDS and self._lives(token):
                return False
            self._refused_at = time.monotonic()
            self._log_in()
            return True

    def _lives(self, token: Token) -> bool:
        try:
            self._client.get("auth/token/lookup-self", token.value)
        except LookupDenied:
            return False
        return True

    def _look_up(self) -> None:
        token, self._look_up_at = self._token, None
        if token is None:
            return
        try:
            data = self._client.get("auth/token/lookup-self", token.value)["data"]
        except ProviderUnavailable:
            self._look_up_at = time.monotonic()
            raise
        except LookupFailed:
            return  # It may not look: nothing is known, and reads go on.
        uses = whole(data.get("num_uses"))
        life = _life(data.get("ttl"), bool(data.get("renewable")) and not uses)
        self._replace(token, replace(token, life=life, uses=uses))

    def _renew(self, token: Token, life: Lifetime) -> None:
        if life.renewable:
            with suppress(LookupDenied):
                auth = self._client.post("auth/token/renew-self", token.value)["auth"]
                granted = whole(auth.get("lease_duration"))
                life = life.renewed(granted, time.monotonic(), random.random)
        if life.due > time.monotonic():
            self._replace(token, replace(token, life=life))
        elif self._login.is_given:
            self._replace(token, replace(token, life=replace(life, renewable=False)))
        else:
            with self._login_lock:
                if self._token is token:
                    self._log_in()

    def _replace(self, token: Token, by: Token) -> None:
        with self._login_lock:
            if self._token is token:
                self._token = by


def _life(seconds: object, renewable: bool) -> Lifetime | None:  # noqa: FBT001  Private.
    granted = whole(seconds)
    if not granted:
        return None  # It does not end.
    return Lifetime.of(granted, renewable=renewable, now=time.monotonic(), random=random.random)


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
