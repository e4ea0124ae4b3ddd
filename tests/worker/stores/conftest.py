"""Rewrites the assertions of the contract."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("worker.stores.contract")
