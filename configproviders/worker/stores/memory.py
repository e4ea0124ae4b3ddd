"""Connectors in memory, for tests and for workers that are to begin with none."""

from __future__ import annotations

from dataclasses import replace

from . import Store, StoredConnector


class MemoryStore(Store):
    """Keeps connectors as long as it lives; what it keeps does not survive the process."""

    def __init__(self) -> None:
        """Begin with none."""
        self._connectors: dict[str, StoredConnector] = {}

    def connectors(self) -> list[StoredConnector]:
        """Return all, in the order in which they were first put."""
        return [_copy(connector) for connector in self._connectors.values()]

    def put(self, connector: StoredConnector) -> None:
        """Keep *connector*, in the place of the one of its name if there is one."""
        self._connectors[connector.name] = _copy(connector)

    def delete(self, name: str) -> None:
        """Keep the connector *name* no more; nothing happens if there is none."""
        self._connectors.pop(name, None)

    def close(self) -> None:
        """Do nothing: nothing is held."""


def _copy(connector: StoredConnector) -> StoredConnector:
    return replace(connector, config=dict(connector.config))
