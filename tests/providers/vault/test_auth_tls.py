"""TLS towards Vault, and logging in by it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from providers.vault.conftest import password
from servers.certificates import Certificates, make_certificates
from servers.vault import Vault, vault

from configproviders import ConfigException
from configproviders.errors import LookupDenied
from configproviders.providers.vault import VaultConfigProvider

pytestmark = pytest.mark.vault


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_server(
    certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Vault]:
    with vault(tmp_path_factory.mktemp("tls")) as running:
        running.write("sys/auth/cert", type="cert")
        running.write(
            "auth/cert/certs/orders",
            certificate=certificates.ca.read_text(),
            token_policies=running.allow("secret/*"),
        )
        running.put("secret", "db", {"password": "s3cr3t"})
        yield running


def test_a_tls_certificate(tls_server: Vault, certificates: Certificates) -> None:
    settings = {
        "vault.auth.method": "Certificate",
        "vault.ssl.cert": str(certificates.client),
        "vault.ssl.key": str(certificates.client_key),
        "vault.ssl.ca": str(tls_server.ca),
    }

    assert password(tls_server, "secret", settings) == "s3cr3t"


def test_a_new_client_certificate_is_taken_without_a_restart(
    tls_server: Vault, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, other = make_certificates(tmp_path), tmp_path_factory.mktemp("other")
    second = make_certificates(other)
    tls_server.write(
        "auth/cert/certs/rotated",
        certificate=second.ca.read_text(),
        token_policies=tls_server.allow("secret/*"),
    )
    provider = VaultConfigProvider({})
    provider.configure(
        {
            "vault.addr": tls_server.address,
            "vault.auth.method": "cert",
            "vault.ssl.cert": str(first.client),
            "vault.ssl.key": str(first.client_key),
            "vault.ssl.ca": str(tls_server.ca),
        }
    )
    with pytest.raises(LookupDenied, match="cert login"):
        provider.get("secret/db")

    second.client_key.replace(first.client_key)
    second.client.replace(first.client)
    provider.invalidate()
    time.sleep(2)  # A login that was refused is not tried again at once.

    assert provider.get("secret/db").data == {"password": "s3cr3t"}


def test_a_directory_of_authorities_is_read_whole(tls_server: Vault, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("no certificate")
    (tmp_path / "ca.pem").write_text(tls_server.ca.read_text() if tls_server.ca else "")

    found = password(
        tls_server, "secret", {}, VAULT_TOKEN=tls_server.root, VAULT_CAPATH=str(tmp_path)
    )

    assert found == "s3cr3t"


def test_tls_as_the_variables_of_the_cli_say(tls_server: Vault) -> None:
    environ = {"VAULT_TOKEN": tls_server.root, "VAULT_TLS_SERVER_NAME": "localhost"}
    ca = tls_server.ca.read_text() if tls_server.ca else ""

    assert password(tls_server, "secret", {}, VAULT_CACERT_BYTES=ca, **environ) == "s3cr3t"
    with pytest.warns(Warning, match="Unverified HTTPS request"):
        assert password(tls_server, "secret", {}, BAO_SKIP_VERIFY="true", **environ) == "s3cr3t"


def test_a_certificate_of_an_unknown_authority_is_an_error_that_says_so(tls_server: Vault) -> None:
    with pytest.raises(ConfigException, match=r"not accepted: see vault\.ssl\.ca"):
        password(tls_server, "secret", {"vault.token": "t"})


def test_a_server_of_another_name_is_an_error(tls_server: Vault) -> None:
    settings = {"vault.ssl.ca": str(tls_server.ca), "vault.ssl.server.name": "vault.example.org"}

    with pytest.raises(ConfigException, match="certificate is not accepted"):
        password(tls_server, "secret", settings | {"vault.token": "t"})
