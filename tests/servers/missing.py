"""What a test does when the server that it needs is not on this machine."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test for want of *what*; fail it in CI, where everything has to be installed."""
    reason = f"{what} is not installed: run `make servers`"
    if "CI" in os.environ:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
