from __future__ import annotations

from collections.abc import Mapping

import pytest
from cache_backend import with_cache
from providers.vault.conftest import Configured
from servers.vault import Vault

from configproviders import ConfigProvider
from configproviders.testing import ConfigProviderContract, Serve

pytestmark = pytest.mark.vault


class TestVaultConfigProvider(ConfigProviderContract):
    registry_name = "vault"

    @pytest.fixture(params=["1", "2"], ids=["KV version 1", "KV version 2"])
    def serve(self, server: Vault, configured: Configured, request: pytest.FixtureRequest) -> Serve:
        mount = server.mount(version=request.param)
        token = server.token(server.allow(f"{mount}/*"))

        def serve(values: Mapping[str, str]) -> tuple[ConfigProvider, str]:
            if request.param == "2":
                server.put(mount, "db", values)
            else:
                server.write(f"{mount}/db", **values)
            provider = configured({"vault.addr": server.address, "vault.token": token})
            return provider, f"{mount}/db"

        return serve

    @pytest.fixture
    def refused(self, server: Vault, configured: Configured) -> tuple[ConfigProvider, str, str]:
        mount = server.mount(version="2")
        server.put(mount, "db", {"USER": "nobody"})
        token = server.token("default")
        provider = configured({"vault.addr": server.address, "vault.token": token})
        return provider, f"{mount}/data/db", "USER"


class TestCacheAroundVault(TestVaultConfigProvider):
    @pytest.fixture(name="serve")
    def with_a_cache(self, serve: Serve) -> Serve:
        return with_cache(serve)
