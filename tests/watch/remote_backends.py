"""A secret that is rotated in a real server, and read over a network that may be bad."""

from __future__ import annotations

import json
from collections.abc import Mapping

from providers.vault.conftest import Engine
from servers.aws import Aws, secrets_manager, ssm
from servers.fault_proxy import FaultProxy
from servers.faults import (
    Delay,
    Fault,
    HalfAnswer,
    Reset,
    ResetInBody,
    Silence,
    SlowBody,
    Status,
    WrongJson,
)
from servers.vault import Vault
from watch.backends import KEYS, Content, Secret, StoredSecret

from configproviders import ConfigProvider, VaultConfigProvider

_FAULTS: Mapping[Fault, float] = {
    Status(429, 0): 0.1,
    Status(500): 0.1,
    Status(503, 0): 0.1,
    Reset(): 0.1,
    ResetInBody(): 0.05,
    HalfAnswer(): 0.05,
    WrongJson(): 0.05,
    SlowBody(0.2, 4): 0.05,
    Delay(0.1): 0.1,
    Silence(): 0.03,
}
_TIMEOUT_MS = "1000"


class RemoteSecret(Secret):
    """One that a provider reaches through *proxy* alone."""

    def __init__(self, provider: ConfigProvider, path: str, proxy: FaultProxy) -> None:
        super().__init__(provider, path)
        self._proxy = proxy

    def trouble(self, *, on: bool) -> None:
        self._proxy.faults = _FAULTS if on else {}


class KvSecret(RemoteSecret, StoredSecret):
    """A secret in Vault's KV engine of version 2, whose TTL is over before each look."""

    def __init__(self, server: Vault, proxy: FaultProxy) -> None:
        self._server = server
        self._mount = server.mount(version="2")
        self._version = 0
        provider = vault_provider(proxy, server.token(server.allow(f"{self._mount}/data/db")))
        super().__init__(provider, f"{self._mount}/data/db?ttl=50", proxy)

    def _write(self, content: Content) -> None:
        self._version = self._server.put(self._mount, "db", content)

    def _remove(self) -> None:
        self._server.call("DELETE", f"{self._mount}/data/db")

    def _bring_back(self, content: Content) -> None:
        self._server.write(f"{self._mount}/undelete/db", versions=[self._version])


class StaticRoleSecret(RemoteSecret):
    """The credentials of a role of PostgreSQL, whose password Vault makes.

    Of a role that is gone Vault says that it is unknown, in the words for any wrong request.
    """

    def __init__(self, server: Vault, engine: Engine, proxy: FaultProxy) -> None:
        self._server = server
        self._engine = engine
        path = f"{engine.mount}/static-creds/rotating"
        super().__init__(vault_provider(proxy, server.token(server.allow(path))), path, proxy)
        self.rewrite()

    def rotate(self) -> None:
        self._server.write(f"{self._engine.mount}/rotate-role/rotating")
        credentials = self._server.read(self.path)
        self.history.append({key: credentials[key] for key in KEYS})

    def rewrite(self) -> None:
        """Say again how the role is, which changes no password; its own time never comes here."""
        user = self._engine.static_user
        role = {"db_name": "orders", "username": user, "rotation_period": "10h"}
        self._server.write(f"{self._engine.mount}/static-roles/rotating", **role)


class SecretsManagerSecret(RemoteSecret, StoredSecret):
    """A secret in AWS Secrets Manager."""

    def __init__(self, aws: Aws, proxy: FaultProxy) -> None:
        self._aws = aws
        provider = secrets_manager(endpoint=proxy.url, retry_max="1", timeout_ms=_TIMEOUT_MS)
        super().__init__(provider, aws.name(), proxy)

    def _write(self, content: Content) -> None:
        if self.history:
            self._aws.put_secret(self.path, json.dumps(content))
        else:
            self._aws.secret(content, self.path)

    def _remove(self) -> None:
        self._aws.delete_secret(self.path)

    def _bring_back(self, content: Content) -> None:
        self._aws.restore_secret(self.path)


class ParameterSecret(RemoteSecret, StoredSecret):
    """A parameter in AWS SSM, whose TTL is over before each look."""

    def __init__(self, aws: Aws, proxy: FaultProxy) -> None:
        self._aws = aws
        self._name = f"/{aws.name()}"
        provider = ssm(endpoint=proxy.url, retry_max="1", timeout_ms=_TIMEOUT_MS)
        super().__init__(provider, f"{self._name}?ttl=50", proxy)

    def _write(self, content: Content) -> None:
        self._aws.parameter(json.dumps(content), self._name)

    def _remove(self) -> None:
        self._aws.delete_parameter(self._name)


def vault_provider(proxy: FaultProxy, token: str) -> VaultConfigProvider:
    """Return a provider that asks through *proxy*, and does not wait for long."""
    provider = VaultConfigProvider({})
    retries = {"retry.max": "1", "retry.base.ms": "5", "retry.max.ms": "20"}
    address = {"vault.addr": proxy.url, "vault.token": token, "timeout.ms": _TIMEOUT_MS}
    provider.configure(address | retries)
    return provider
