"""What tests of Vault's events share."""

from __future__ import annotations

import threading
from collections.abc import Callable

from providers.vault.conftest import eventually
from servers.vault_events import VaultEvents, event

WRITTEN = event("kv-v2/data-write", "secret/", data_path="secret/data/db", modified="true")
"""Says that ``secret/db`` was written."""


class Watching:
    """Who listens, and what it was told: of everything, or of what."""

    def __init__(self) -> None:
        self.told: list[Callable[[str], bool]] = []

    def __call__(self, concerns: Callable[[str], bool]) -> None:
        self.told.append(concerns)

    def wait_for(self, times: int) -> Callable[[str], bool]:
        """Wait until it was told so often, and return the last."""
        eventually(lambda: len(self.told) >= times)
        assert len(self.told) == times
        return self.told[-1]


def settings(events: VaultEvents, **more: str) -> dict[str, str]:
    """Return the settings of who listens to *events*."""
    return {"vault.addr": events.address, "vault.token": "t", "vault.events": "true", **more}


def threads() -> list[threading.Thread]:
    """Return the threads that listen."""
    return [each for each in threading.enumerate() if each.name == "vault-events"]
