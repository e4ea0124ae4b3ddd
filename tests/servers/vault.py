"""A Vault server of the tests' own, in dev mode: OpenBao or Vault from PATH, or the one built."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from servers.missing import missing
from servers.processes import LOOPBACK, accepts, free_port, serving

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "configproviders"


@dataclass(frozen=True, slots=True)
class Vault:
    """Where the server is; each method is one call of an administrator."""

    address: str
    root: str = field(repr=False)
    unseal_key: str = field(repr=False)
    ca: Path | None = None

    def call(self, method: str, path: str, **body: object) -> Any:
        """Call the API as root; raise for an error, with its text."""
        answer = requests.request(
            method,
            f"{self.address}/v1/{path}",
            headers={"X-Vault-Token": self.root},
            json=body or None,
            verify=str(self.ca) if self.ca else True,
            timeout=20,
        )
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else {}

    def write(self, path: str, **body: object) -> Any:
        """Write *body* to *path*."""
        return self.call("POST", path, **body)

    def read(self, path: str) -> Any:
        """Return the ``data`` of *path*."""
        return self.call("GET", path)["data"]

    def mount(self, kind: str = "kv", **options: str) -> str:
        """Mount a secrets engine at a path of its own, and return that."""
        path = f"{kind}-{uuid.uuid4().hex[:8]}"
        self.write(f"sys/mounts/{path}", type=kind, options=options)
        return path

    def enable(self, method: str) -> str:
        """Enable an auth method at a path of its own, and return that."""
        path = f"{method}-{uuid.uuid4().hex[:8]}"
        self.write(f"sys/auth/{path}", type=method)
        return path

    def put(self, mount: str, name: str, values: Mapping[str, object]) -> int:
        """Write a secret into a KV engine of version 2, and return its version."""
        return int(self.write(f"{mount}/data/{name}", data=dict(values))["data"]["version"])

    def allow(self, *paths: str, capabilities: Sequence[str] = ("read",)) -> str:
        """Make a policy for *paths*, and return its name."""
        name = f"policy-{uuid.uuid4().hex[:8]}"
        listed = ", ".join(f'"{each}"' for each in capabilities)
        rules = "".join(f'path "{path}" {{ capabilities = [{listed}] }}\n' for path in paths)
        self.write(f"sys/policies/acl/{name}", policy=rules)
        return name

    def token(self, *policies: str, **options: object) -> str:
        """Make a token."""
        body = {"policies": list(policies), **options}
        return str(self.write("auth/token/create", **body)["auth"]["client_token"])

    def app_role(self, *policies: str, **options: object) -> dict[str, str]:
        """Make an AppRole with a secret id; return the settings that log in with it."""
        mount = self.enable("approle")
        self.write(f"auth/{mount}/role/orders", token_policies=list(policies), **options)
        role = self.read(f"auth/{mount}/role/orders/role-id")["role_id"]
        secret = self.write(f"auth/{mount}/role/orders/secret-id")["data"]["secret_id"]
        return {
            "vault.addr": self.address,
            "vault.auth.method": "approle",
            "vault.auth.mount": mount,
            "vault.approle.role.id": role,
            "vault.approle.secret.id": secret,
        }

    def seal(self) -> None:
        """Seal the server."""
        self.call("PUT", "sys/seal")

    def unseal(self) -> None:
        """Unseal it, and wait until it is active again."""
        self.call("PUT", "sys/unseal", key=self.unseal_key)
        while True:
            health = requests.get(f"{self.address}/v1/sys/health", timeout=20)
            if health.status_code == 200:
                return


@contextmanager
def vault(tls: Path | None = None) -> Iterator[Vault]:
    """Run a server on a free port, with TLS and its certificates in *tls* if that is given."""
    root, port = uuid.uuid4().hex, free_port()
    options = ["-dev", f"-dev-root-token-id={root}", "-dev-no-store-token"]
    options.append(f"-dev-listen-address={LOOPBACK}:{port}")
    if tls:
        options += ["-dev-tls", f"-dev-tls-cert-dir={tls}"]
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory, "log")
        with serving([_server(), "server", *options], log) as process:
            # In this order: the key is shown once the log is quiet, and TLS logs who just knocks.
            process.wait_until(lambda: "Unseal Key: " in log.read_text() and accepts(port))
            found = re.search("Unseal Key: (.+)", log.read_text())
            key = found[1].strip() if found else ""
            address = f"{'https' if tls else 'http'}://{LOOPBACK}:{port}"
            yield Vault(address, root, key, tls / "vault-ca.pem" if tls else None)


def _server() -> str:
    for name in ("bao", "vault"):
        if found := shutil.which(name):
            return found
    built = sorted(_CACHE.glob("vault-v*[0-9]"))
    return str(built[-1]) if built else missing("bao or vault")
