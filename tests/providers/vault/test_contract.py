from __future__ import annotations

from collections.abc import Mapping

import pytest
from servers.vault import Vault

from configproviders import ConfigProvider
from configproviders.providers.vault import VaultConfigProvider
from configproviders.testing import ConfigProviderContract, Serve

pytestmark = pytest.mark.vault


class TestVaultConfigProvider(ConfigProviderContract):
    registry_name = "vault"

    @pytest.fixture(params=["1", "2"], ids=["KV version 1", "KV version 2"])
    def serve(self, server: Vault, request: pytest.FixtureRequest) -> Serve:
        mount = server.mount(version=request.param)
        token = server.token(server.allow(f"{mount}/*"))

        def serve(values: Mapping[str, str]) -> tuple[ConfigProvider, str]:
            if request.param == "2":
                server.put(mount, "db", values)
            else:
                server.write(f"{mount}/db", **values)
            provider = VaultConfigProvider({})
            provider.configure({"vault.addr": server.address, "vault.token": token})
            return provider, f"{mount}/db"

        return serve

    @pytest.fixture
    def refused(self, server: Vault) -> tuple[ConfigProvider, str, str]:
        mount = server.mount(version="2")
        server.put(mount, "db", {"USER": "nobody"})
        provider = VaultConfigProvider({})
        provider.configure({"vault.addr": server.address, "vault.token": server.token("default")})
        return provider, f"{mount}/data/db", "USER"
