"""What several tests with Spark share."""

from __future__ import annotations

from pathlib import Path

import pytest

from configproviders.testing import CANARY


@pytest.fixture
def secret_file(tmp_path: Path) -> None:
    """Put a file with secrets where a program of the test runs."""
    (tmp_path / "s.properties").write_text(f"key={CANARY}\nregion=eu-{CANARY}\n")
