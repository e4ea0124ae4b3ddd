"""Vault's answers and refusals as ours, with nothing of the URLs and bodies that SDKs show."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import hvac.adapters
import requests

from ... import fields
from ...errors import (
    ConfigException,
    LookupDenied,
    LookupFailed,
    MalformedText,
    PathNotFound,
    ProviderUnavailable,
    shorten,
)
from . import settings as s
from .transport import open_session

Answer = Mapping[str, Any]
"""The envelope of Vault's answers: ``data``, ``lease_id``, ``lease_duration``, ``auth``, …"""

_LABEL = 63  # Characters that a part of a host's name may have.
_UNAVAILABLE = {
    412: "has not caught up yet",
    429: "limits the rate of requests",
    500: "failed",
    501: "is not initialised",
    502: "got no good answer from the system behind it",
    503: "is in maintenance, or overloaded",
    504: "did not answer its gateway in time",
}


_SAID = {
    "Vault is sealed": "is sealed: unseal it",
    "local node not active": "is a standby, and no server is active",
    "invalid role or secret ID": "the role id or the secret id is wrong, or used up",
    "invalid role": "the role id or the role is wrong",
    "invalid secret id": "the secret id is wrong, or used up",
    "invalid username or password": "the user or the password is wrong",
    "had one use left": "the token had one use left, which is none for credentials",
}
"""What Vault says, by words of it, in words of ours: its own may quote what it was sent."""


class Client:
    """Asks one Vault server. Thread-safe; it keeps no token."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Connect to nothing yet. Raises :class:`ConfigException` for wrong addresses and TLS."""
        self._address = _address(settings)
        _check_proxy(settings)
        self._seconds = s.TIMEOUT.read(settings).total_seconds()
        self._namespace = s.NAMESPACE.read(settings)
        try:
            self._session, self.transport = open_session(settings)
        except (OSError, ValueError, TypeError) as error:
            # Its text may be the certificate itself.
            reason = getattr(error, "strerror", None) or type(error).__name__
        else:
            return
        raise ConfigException(f"vault.ssl: a certificate cannot be read: {reason}")

    @property
    def calls_made(self) -> int:
        """How many requests were sent."""
        return self.transport.calls_made

    def deadline(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """Have all that this thread asks meanwhile end within one timeout, or within *seconds*."""
        return self.transport.deadline(seconds)

    def get(self, path: str, token: str, params: Mapping[str, str] | None = None) -> Answer:
        """Return what is at *path*; raise :class:`LookupFailed` or one of its kinds."""
        return self._ask("GET", path, token, params=dict(params or {}))

    def post(self, path: str, token: str, json: Mapping[str, object] | None = None) -> Answer:
        """Send *json* to *path*; return the answer, or raise as :meth:`get`."""
        return self._ask("POST", path, token, json=dict(json or {}))

    def close(self) -> None:
        """Let go of the connections."""
        self._session.close()

    def _ask(self, method: str, path: str, token: str, **content: Any) -> Answer:
        # hvac's adapter holds the token; one for each call lets each thread have its own.
        adapter = hvac.adapters.RawAdapter(
            self._address, token or None, namespace=self._namespace, session=self._session
        )
        url = f"/v1/{quote(path, safe='/')}"
        try:
            response = adapter.request(method, url, raise_exception=False, **content)
        except requests.RequestException as error:
            failure: LookupFailed = self._unreachable(error)
        except Exception as error:  # noqa: BLE001  An odd redirect, or a header that is none.
            failure = ProviderUnavailable(
                f"Vault at {self._host()} cannot be asked: {type(error).__name__}"
            )
        else:
            if response.ok:
                return self._envelope(response, path)
            failure = self._refused(response, path)
        raise failure  # Outside, or the SDK's exception, which holds the token, would hang on it.

    def _unreachable(self, error: requests.RequestException) -> ProviderUnavailable:
        late = f"within {self._seconds:g} s"
        reasons = {
            requests.exceptions.SSLError: "its certificate is not accepted: see vault.ssl.ca",
            requests.exceptions.ProxyError: "the proxy cannot be reached",
            requests.exceptions.Timeout: f"no answer {late}",
            requests.exceptions.InvalidSchema: "it redirects from https to http",
            requests.exceptions.TooManyRedirects: "it redirects more than once",
        }
        found = (reason for kind, reason in reasons.items() if isinstance(error, kind))
        reason = next(found, f"no connection, or it broke off; tried {late}")
        return ProviderUnavailable(f"Vault at {self._host()} cannot be reached: {reason}")

    def _refused(self, response: requests.Response, path: str) -> LookupFailed:
        place, status, body = repr(shorten(path)), response.status_code, _parsed(response)
        if not isinstance(body, dict) or not {"errors", "data", "request_id"} & body.keys():
            return self._not_vault(path, status)
        if status == HTTPStatus.FORBIDDEN:
            return LookupDenied(f"{place} is refused by Vault (403): a policy must allow it")
        if status == HTTPStatus.NOT_FOUND:
            return PathNotFound(f"nothing at {place} in Vault: {_absence(body)}")
        said = next((ours for theirs, ours in _SAID.items() if theirs in _errors(body)), "")
        if status in _UNAVAILABLE:
            state = said or _UNAVAILABLE[status]
            return ProviderUnavailable(f"Vault at {self._host()} {state} ({status}), at {place}")
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            return LookupFailed(f"{place} in Vault is nothing that can be read (405)")
        reason = f": {said}" if said else ""
        return LookupFailed(f"Vault does not accept what was asked of {place} ({status}){reason}")

    def _envelope(self, response: requests.Response, path: str) -> Answer:
        answer = _parsed(response) if response.content else {}
        is_read = response.request.method == "GET"
        if not isinstance(answer, dict) or (is_read and not answer):
            raise self._not_vault(path, response.status_code)
        return answer

    def _not_vault(self, path: str, status: int) -> ProviderUnavailable:
        # Not an answer about the path, so nobody may take it for one.
        return ProviderUnavailable(
            f"what answered for {shorten(path)!r} at {self._host()} is not Vault ({status})"
        )

    def _host(self) -> str:
        parts = urlsplit(self._address)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _address(settings: Mapping[str, object]) -> str:
    address = s.ADDR.read(settings).rstrip("/")
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        is_address = is_address and address.isascii() and address.isprintable()
        names = (parts.hostname or "").split(".")
        if is_address and "@" not in address and all(0 < len(name) <= _LABEL for name in names):
            return address
    except ValueError:
        pass
    raise ConfigException(
        "vault.addr is no address: write https://host:8200, without user or password"
    )


def _check_proxy(settings: Mapping[str, object]) -> None:
    proxy = s.PROXY.read(settings) or "http://none"
    try:
        parts = urlsplit(proxy)
        if parts.scheme in {"http", "https"} and parts.port != 0 and proxy.isascii():
            return
    except ValueError:
        pass
    raise ConfigException("vault.proxy is no proxy: write http://host:3128")


def _parsed(response: requests.Response) -> object:
    try:
        return fields.parse(response.content)
    except MalformedText:
        return None


def _errors(body: object) -> str:
    found = body.get("errors") if isinstance(body, dict) else None
    return " ".join(map(str, found)) if isinstance(found, list) else ""


def _absence(body: object) -> str:
    """Say why a 404 is one: its body tells a deleted version from a wrong mount."""
    data = body.get("data") if isinstance(body, dict) else None
    metadata = data.get("metadata") if isinstance(data, dict) else None
    if isinstance(metadata, dict):
        version = metadata.get("version")
        if metadata.get("destroyed"):
            return f"version {version} is destroyed; write a new one"
        return f"version {version} is deleted; undelete it, or write a new one"
    if isinstance(body, dict) and "versioned" in str(body.get("warnings")):
        return "the mount is KV version 2; set vault.kv.version to auto or 2"
    if "no handler for route" in _errors(body):
        return "no secrets engine is mounted there; look at the first part of the path"
    return "no secret, or no such version"
