"""Keeps other people's web pages out: a browser on a machine that reaches the worker must not act
for a page that the worker did not send.

A page whose own name is made to point here (DNS rebinding) names that in ``Host``; one of another
site names that in ``Origin``. Addresses in ``Host`` cannot be made to point elsewhere.
"""  # noqa: D205  One sentence does not hold both.

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from .failures import failure

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_ANYBODY = {"localhost", "*"}


class Guard:
    """Answers 403 to a foreign ``Host`` or ``Origin``."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], origins: str = "") -> None:
        """Let pass the names *hosts*, in lower case, and pages of what the pattern *origins* has.

        An asterisk among *hosts* lets all names pass. Pages that came from the ``Host`` that is
        asked need no mention, nor do those of one of *hosts*.
        """
        self._app, self._hosts = app, frozenset(hosts)
        self._origins = re.compile(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is not foreign."""
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            await failure(HTTPException(403, refusal), scope)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> str:
        host = headers.get("host", "localhost").lower()
        if not self._is_ours(host):
            return (
                "the Host of the request is no name of this worker: list it in"
                " rest.allowed.hosts of the worker's config"
            )
        if any(not self._is_known(origin.lower(), host) for origin in headers.getlist("origin")):
            return (
                "the Origin of the request is another site: list it in"
                " access.control.allow.origin of the worker's config"
            )
        return ""

    def _is_ours(self, host: str) -> bool:
        name = _name(f"//{host}")
        return "*" in self._hosts or name in self._hosts or _is_address(name)

    def _is_known(self, origin: str, host: str) -> bool:
        if self._origins.pattern and self._origins.fullmatch(origin):
            return True
        return origin.partition("://")[2] == host or _name(origin) in self._hosts - _ANYBODY


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
