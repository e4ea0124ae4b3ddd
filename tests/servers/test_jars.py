from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from servers import jars

CONTENT = b"what is in the jar"


@pytest.fixture
def central(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a repository that holds one jar, and an empty cache."""
    file = tmp_path / "central/org/example/orders/1.0/orders-1.0.jar"
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    known = {"org.example:orders:1.0": hashlib.sha256(CONTENT).hexdigest()}
    monkeypatch.setattr(jars, "CENTRAL", (tmp_path / "central").as_uri())
    monkeypatch.setattr(jars, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(jars, "SHA256", known)
    return file


def test_a_jar_is_fetched_once(central: Path, tmp_path: Path) -> None:
    found = jars.jar("org.example:orders:1.0")
    central.unlink()

    assert jars.jar("org.example:orders:1.0") == found == tmp_path / "cache" / "orders-1.0.jar"
    assert found.read_bytes() == CONTENT


def test_a_jar_that_is_not_what_it_was_is_not_kept(central: Path, tmp_path: Path) -> None:
    central.write_bytes(b"something else")

    with pytest.raises(ValueError, match=r"orders-1\.0\.jar has the SHA-256 \w{64} instead of"):
        jars.jar("org.example:orders:1.0")

    assert not (tmp_path / "cache").exists()


def test_a_jar_that_cannot_be_had_is_a_skip(central: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    central.unlink()

    with pytest.raises(
        pytest.skip.Exception, match=r"org\.example:orders:1\.0 .* is not installed"
    ):
        jars.jar("org.example:orders:1.0")
