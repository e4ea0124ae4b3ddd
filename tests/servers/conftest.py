"""A server, and a proxy before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers.echo import UpstreamServer, running_upstream
from servers.fault_proxy import FaultProxy


@pytest.fixture
def server() -> Iterator[UpstreamServer]:
    with running_upstream() as server:
        yield server


@pytest.fixture
def upstream(server: UpstreamServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def proxy(upstream: str) -> Iterator[FaultProxy]:
    with FaultProxy(upstream) as proxy:
        yield proxy
