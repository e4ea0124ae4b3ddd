from __future__ import annotations

import pytest
from worker.stores.contract import StoreContract

from configproviders.worker.stores import Store
from configproviders.worker.stores.memory import MemoryStore


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
