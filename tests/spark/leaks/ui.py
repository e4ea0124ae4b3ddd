"""The pages of a web UI, found by their links, and the answers of Spark's REST API."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

_LINK = re.compile(rb"""(?:href|src)=["']([^"'#]+)""")
_NOT_FOLLOWED = ("/static/", "/kill", "/api/")
# Parameters that choose what a page shows; the others sort and page it.
_CHOOSING = {"id", "attempt", "executorId", "appId", "logType", "workerId", "rdd_id"}
_OF_APPLICATION = (
    "jobs",
    "stages?details=true&withSummaries=true",
    "executors",
    "allexecutors",
    "executors/driver/threads",
    "storage/rdd",
    "environment",
    "sql?details=true&planDescription=true&length=1000",
)
_THREADS = "/executors/threadDump/?executorId=driver"
_METRICS = ("/metrics/json", "/metrics/executors/prometheus")


def application_pages(start: str) -> Iterator[tuple[str, bytes]]:
    """Yield the address and text of each page of an application's UI.

    Those that only scripts link to are known here.
    """
    application = json.loads(_get(f"{start}/api/v1/applications"))[0]["id"]
    executions = json.loads(_get(f"{start}/api/v1/applications/{application}/sql?length=1000"))
    of_sql = [f"{start}/SQL/execution/?id={each['id']}" for each in executions]
    yield from pages(start, *of_sql, start + _THREADS)


def pages(start: str, *more: str) -> Iterator[tuple[str, bytes]]:
    """Yield the address and text of *start*, *more* and all pages there that links lead to."""
    waiting, seen = [start, *more], {start, *more}
    while waiting:
        address = waiting.pop()
        page = _get(address)
        yield address, page
        for link in _LINK.findall(page):
            found = _address(address, link.decode().replace("&amp;", "&"))
            if found not in seen and _is_followed(found, start):
                seen.add(found)
                waiting.append(found)


def rest_answers(start: str) -> Iterator[tuple[str, bytes]]:
    """Yield the address and text of what the REST API of an application's UI tells of it."""
    applications = f"{start}/api/v1/applications"
    listed = _get(applications)
    yield applications, listed
    for application in json.loads(listed):
        for path in _OF_APPLICATION:
            address = f"{applications}/{application['id']}/{path}"
            yield address, _get(address)
    for path in _METRICS:
        yield start + path, _get(start + path)


def _get(address: str) -> bytes:
    """Return what stands at *address*, an error's page included."""
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            page: bytes = answer.read()
    except urllib.error.HTTPError as error:
        return error.read()
    return page


def _address(base: str, link: str) -> str:
    """Return what *link* leads to, with the host of *base*: all servers here are on one machine."""
    target, host = urlsplit(urljoin(base, link)), urlsplit(base).hostname
    chosen = [(name, value) for name, value in parse_qsl(target.query) if name in _CHOOSING]
    place = f"{host}:{target.port}"
    return target._replace(netloc=place, query=urlencode(chosen), fragment="").geturl()


def _is_followed(address: str, start: str) -> bool:
    if urlsplit(address).netloc != urlsplit(start).netloc:
        return False
    return not any(part in address for part in _NOT_FOLLOWED)
