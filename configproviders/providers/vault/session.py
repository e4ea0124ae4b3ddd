"""A token that lives: renewed in time, and replaced by a new login where renewing gives no more.

A read that is refused (403) logs in once and is tried once more. Whether the token or a policy is
to blame a 403 does not say. So when a new login did not help this path some minutes ago, or another
path made us log in some seconds ago, Vault is asked about the token first: a config full of
forbidden paths must not be a storm of logins.

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
from typing import TypeVar

from ...errors import LookupDenied, LookupFailed, PathNotFound, ProviderUnavailable
from . import environment
from . import settings as s
from .auth import Login, LoginDenied, given_token
from .client import Answer, Client
from .lifetimes import Lifetime, whole

T = TypeVar("T")

_LOOK_AFTER_SECONDS = 5.0
_REFUSAL_SECONDS = 10.0
_AGAIN_SECONDS = 300.0
_LOGIN_PAUSE_SECONDS = 2.0
_STILL_TIME = 0.25


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
        self._refused_paths: dict[str, float] = {}
        self._failure: LookupFailed = LookupFailed("")
        self._failed_at = self._no_login_until = 0.0
        self._logged_in_at = -_REFUSAL_SECONDS

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

    @property
    def is_spent(self) -> bool:
        """Whether the token has no use left: then Vault has ended it, and what hangs on it."""
        token = self._token
        return token is not None and token.uses > 0 and self._uses_left <= 0

    def get(
        self, path: str, params: Mapping[str, str] | None = None, *, counts: bool = True
    ) -> tuple[Answer, Token]:
        """Return what is at *path* and the token it was read with; raises as the client's.

        *counts* is false for what Vault takes no use of a token for.
        """
        return self.do(path, lambda token: self._client.get(path, token, params), counts=counts)

    def do(self, path: str, call: Callable[[str], T], *, counts: bool = True) -> tuple[T, Token]:
        """Return what *call*, which asks for *path*, returns for a token; else as :meth:`get`."""
        token = self._usable(counts=counts)
        try:
            return call(token.value), token
        except (PathNotFound, ProviderUnavailable):
            raise
        except LookupFailed as error:
            if not self._another_than(token, path, error):
                raise
        token = self._usable(counts=counts)
        try:
            return call(token.value), token
        except LookupDenied:
            self._refused_paths[path] = time.monotonic()
            raise

    @property
    def due(self) -> list[float]:
        """When :meth:`keep` has something to do, in monotonic seconds."""
        token = self._token
        times = [] if self._look_up_at is None else [self._look_up_at]
        if token and token.life and not token.uses and (self.logs_in or token.life.renewable):
            times.append(token.life.due)
        return times

    def keep(self) -> None:
        """Do what is due: look a given token up, renew, or log in; raise :class:`LookupFailed`."""
        if self._look_up_at is not None and self._look_up_at <= time.monotonic():
            self._look_up()
        token = self._token
        life = token.life if token else None
        if token and life and life.due in self.due and life.due <= time.monotonic():
            self._renew(token, life)

    def _usable(self, *, counts: bool) -> Token:
        if self._login.is_given:
            return self._given()
        token = self._token
        if token is not None and self._is_good(token, counts=counts):
            return token
        came = time.monotonic()
        with self._login_lock:
            token = self._token
            if token is None or not self._is_good(token, counts=counts):
                token = self._log_in(came)
                self._is_good(token, counts=counts)
            return token

    def _is_good(self, token: Token, *, counts: bool) -> bool:
        if token.life is not None and not token.life.left(time.monotonic()):
            return False
        if not token.uses:
            return True
        with self._login_lock:
            if self._uses_left <= 0:
                return False
            self._uses_left -= counts
            return True

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

    def _log_in(self, came: float) -> Token:
        """Log in; who *came* before an attempt that failed shares its failure."""
        if came <= self._failed_at or time.monotonic() < self._no_login_until:
            raise type(self._failure)(str(self._failure))
        asked = time.monotonic()
        try:
            auth = self._login.log_in()
        except LookupFailed as error:
            self._failure, self._failed_at = error, time.monotonic()
            if isinstance(error, LoginDenied):  # Each attempt more may lock a user out.
                self._no_login_until = self._failed_at + _LOGIN_PAUSE_SECONDS
            raise
        uses = whole(auth.get("num_uses"))
        # Renewing uses a token up, and one for few uses was not made to live.
        renewable = auth.get("renewable") is True and not uses
        self._uses_left = uses
        self._logged_in_at = asked
        self._token = token = Token(
            str(auth["client_token"]), _life(auth.get("lease_duration"), renewable, asked), uses
        )
        self._changed()
        return token

    def _another_than(self, token: Token, path: str, error: LookupFailed) -> bool:
        """Return whether there is another token, now that *token* got *error* at *path*."""
        came = time.monotonic()
        with self._login_lock:
            if self._token is None or self._token.value != token.value:
                return True
            if not isinstance(error, LookupDenied) and not self.is_spent:
                return False
            if self._login.is_given:
                self._file_state = None
                return self._given().value != token.value
            recently = came - self._refused_at < _REFUSAL_SECONDS
            again = came - self._refused_paths.get(path, -_AGAIN_SECONDS) < _AGAIN_SECONDS
            if (recently or again) and self._lives(token):
                return False
            self._refused_at = came
            with suppress(LoginDenied):  # What was refused says more than that.
                self._log_in(came)
                return True
            return False

    def _lives(self, token: Token) -> bool:
        try:
            self._client.get("auth/token/lookup-self", token.value)
        except LookupDenied:
            # A policy may forbid to ask; a token just made is not to blame for what is refused.
            return time.monotonic() - self._logged_in_at < _REFUSAL_SECONDS
        return True

    def _look_up(self) -> None:
        with self._login_lock:
            token, self._look_up_at = self._token, None
        if token is None:
            return
        asked = time.monotonic()
        try:
            data = self._client.get("auth/token/lookup-self", token.value).get("data")
        except ProviderUnavailable:
            self._look_up_at = asked
            raise
        except LookupFailed:
            return  # It may not look: nothing is known, and reads go on.
        if isinstance(data, Mapping):
            uses = whole(data.get("num_uses"))
            renewable = data.get("renewable") is True and not uses
            life = _life(data.get("ttl"), renewable, asked)
            self._replace(token, replace(token, life=life))

    def _renew(self, token: Token, life: Lifetime) -> None:
        life = self._renewed(token, life) if life.renewable else life
        if life.due > time.monotonic():
            self._replace(token, replace(token, life=life))
        elif self._login.is_given:
            self._replace(token, replace(token, life=replace(life, renewable=False)))
        else:
            came = time.monotonic()
            with self._login_lock:
                if self._token is token:
                    self._log_in(came)

    def _renewed(self, token: Token, life: Lifetime) -> Lifetime:
        """Return how long *token* lives now: renewed, or as before and due at once."""
        asked = time.monotonic()
        try:
            auth = self._client.post("auth/token/renew-self", token.value).get("auth")
        except LookupDenied:
            return life
        except LookupFailed:
            # It may be an outage, or Vault's way to say that this token is not renewed any more.
            enough = 0 if self._login.is_given else life.granted * _STILL_TIME
            if life.left(asked) > enough:
                raise
            return life
        granted = whole(auth.get("lease_duration")) if isinstance(auth, Mapping) else 0
        return life.renewed(granted, asked, random.random)

    def _replace(self, token: Token, by: Token) -> None:
        with self._login_lock:
            if self._token is token:
                self._token = by


def _life(seconds: object, renewable: bool, now: float) -> Lifetime | None:  # noqa: FBT001  Private.
    granted = whole(seconds)
    if not granted:
        return None  # It does not end.
    return Lifetime.of(granted, renewable=renewable, now=now, random=random.random)


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
