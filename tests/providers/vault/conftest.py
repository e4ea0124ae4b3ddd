from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers.vault import Vault, vault


@pytest.fixture(scope="session")
def server() -> Iterator[Vault]:
    """Run one Vault for all tests of a process; they keep to mounts and roles of their own."""
    with vault() as running:
        yield running
