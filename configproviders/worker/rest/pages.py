"""The page for people: the files of ``configproviders/worker/ui`` at ``/ui``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from .paths import resource, text_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",  # It is asked each time whether the file is still the same.
}


class Pages:
    """Serves the page; it may load nothing but these files, and ask nobody but the worker."""

    def __init__(self) -> None:
        """Find the files."""
        self._files = StaticFiles(packages=[("configproviders.worker", "ui")])

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            resource("/ui", get=self.index, is_json=False),
            resource("/ui/{file}", get=self.file, is_json=False),
        ]

    async def index(self, request: Request) -> Response:
        """Return the page."""
        return await self._file("index.html", request)

    async def file(self, request: Request) -> Response:
        """Return what it consists of."""
        return await self._file(text_of(request, "file"), request)

    async def _file(self, name: str, request: Request) -> Response:
        if "/" in name or "\0" in name or name.startswith("."):
            raise HTTPException(404)
        response = await self._files.get_response(name, request.scope)
        response.headers.update(_HEADERS)
        return response
