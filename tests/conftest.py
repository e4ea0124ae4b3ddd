"""What several test files share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from configproviders import properties

pytest.register_assert_rewrite("configproviders.testing")


@pytest.fixture
def settled(tmp_path: Path) -> Callable[..., Path]:
    """Write a file whose time stamp is old enough for a provider to keep what it parsed."""

    def write(name: str, text: str | Mapping[str, str]) -> Path:
        file = tmp_path / name
        file.write_text(text if isinstance(text, str) else properties.dumps(text), newline="")
        os.utime(file, ns=(1_000_000_000, 1_000_000_000))
        return file

    return write


@pytest.fixture
def unprivileged() -> AbstractContextManager[None]:
    """Be nobody for a while, where the tests run as root."""

    @contextmanager
    def become_nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return become_nobody()
