"""What went wrong in other providers of Vault's secrets, and goes right here."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from providers.vault.conftest import Configured, eventually
from servers.certificates import make_certificates
from servers.fault_proxy import FaultProxy
from servers.faults import Status
from servers.vault import Vault

from configproviders import ConfigException, ConfigTransformer, UnresolvedError, load_providers
from configproviders.config_def import ConfigDef
from configproviders.errors import LookupDenied
from configproviders.providers.vault import environment
from configproviders.providers.vault import settings as s

pytestmark = pytest.mark.vault


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    return mount


def test_a_certificate_login_at_a_mount_of_its_own_is_no_userpass_login(
    server: Vault, configured: Configured, tmp_path: Path
) -> None:
    certificates = make_certificates(tmp_path)
    with FaultProxy(server.address) as proxy:
        provider = configured(
            {
                "vault.addr": proxy.url,
                "vault.auth.method": "Certificate",
                "vault.auth.mount": "certificates",
                "vault.ssl.pem_cert_path": str(certificates.client),
                "vault.ssl.pem_key_path": str(certificates.client_key),
            }
        )

        with pytest.raises(LookupDenied, match="cert login at 'auth/certificates'"):
            provider.get("secret/db")

        assert proxy.requests == [("POST", "/v1/auth/certificates/login")]


def test_renewing_goes_on_after_an_error(server: Vault, configured: Configured, mount: str) -> None:
    with FaultProxy(server.address) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*"), token_ttl="2s")
        provider = configured(settings | {"vault.addr": proxy.url, "retry.max": "0"})
        provider.get(f"{mount}/data/db")
        proxy.script = [Status(500)]

        def renewals() -> int:
            return Counter(path for _, path in proxy.requests)["/v1/auth/token/renew-self"]

        eventually(lambda: renewals() == 3)

        assert provider.health().last_error is None


def test_a_token_that_was_given_is_renewed(
    server: Vault, configured: Configured, mount: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("configproviders.providers.vault.session._LOOK_AFTER_SECONDS", 0.1)
    token = server.token(server.allow(f"{mount}/data/*"), ttl="2s")
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": token})
        provider.get(f"{mount}/data/db")

        eventually(lambda: ("POST", "/v1/auth/token/renew-self") in proxy.requests)
        eventually(lambda: (provider.health().token_ttl or timedelta(0)) > timedelta(seconds=1.5))

        assert provider.get(f"{mount}/data/db").data == {"password": "s3cr3t"}


def test_there_is_no_look_up_of_the_token_before_each_read(
    server: Vault, configured: Configured, mount: str
) -> None:
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root})

        for _ in range(5):
            provider.get(f"{mount}/data/db")

        assert proxy.requests == [("GET", f"/v1/{mount}/data/db")] * 5


def test_the_lease_of_kv_version_1_is_no_ttl(server: Vault, configured: Configured) -> None:
    mount = server.mount(version="1")
    server.write(f"{mount}/db", password="s3cr3t", ttl="1s")
    provider = configured({"vault.addr": server.address, "vault.token": server.root})

    answer = provider.get(f"{mount}/db")

    assert (answer.ttl, answer.lease) == (None, None)


def test_a_refusal_is_no_empty_answer(server: Vault, configured: Configured, mount: str) -> None:
    provider = configured({"vault.addr": server.address, "vault.token": server.token("default")})

    with pytest.raises(LookupDenied, match="refused"):
        provider.get(f"{mount}/db")


def test_the_right_to_list_is_not_needed(server: Vault, configured: Configured, mount: str) -> None:
    token = server.token(server.allow(f"{mount}/data/db"))
    provider = configured({"vault.addr": server.address, "vault.token": token})

    assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}


def test_kv_version_1_gets_no_data_in_its_path(server: Vault, configured: Configured) -> None:
    mount = server.mount(version="1")
    server.write(f"{mount}/db", password="old")
    provider = configured({"vault.addr": server.address, "vault.token": server.root})

    assert provider.get(f"{mount}/db").data == {"password": "old"}


def test_an_odd_path_reaches_vault_as_it_is(
    server: Vault, configured: Configured, mount: str
) -> None:
    name = "with blank/100%/{brace}/ünïcode#+&="
    server.put(mount, "plain", {"k": "v"})
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root})

        with pytest.raises(ConfigException, match="no secret, or no such version"):
            provider.get(f"{mount}/data/{name}")

        encoded = "with%20blank/100%25/%7Bbrace%7D/%C3%BCn%C3%AFcode%23%2B%26%3D"
        assert proxy.requests[0] == ("GET", f"/v1/{mount}/data/{encoded}")


@pytest.mark.parametrize(
    ("java_class", "settings"),
    [
        (
            "io.lenses.connect.secrets.providers.VaultSecretProvider",
            {
                "vault.auth.method": "approle",
                "app.role.id": "{role}",
                "app.role.secret.id": "{secret}",
                "app.role.path": "{mount}",
                "vault.engine.version": "2",
                "secret.default.ttl": "60000",
                "token.renewal.ms": "600000",
                "file.dir": "/tmp/secrets",
            },
        ),
        (
            "io.confluent.csid.config.provider.vault.VaultConfigProvider",
            {
                "vault.auth.method": "AppRole",
                "vault.auth.role": "{role}",
                "vault.auth.secret": "{secret}",
                "vault.auth.mount": "{mount}",
                "vault.secrets.version": "2",
                "timeout.seconds": "30",
                "retry.count": "3",
                "retry.interval.seconds": "10",
                "polling.enabled": "true",
                "vault.prefixpath": "kv",
            },
        ),
        (
            "com.github.jcustenborder.kafka.config.vault.VaultConfigProvider",
            {
                "vault.login.by": "Token",
                "vault.token": "{root}",
                "vault.prefix": "",
                "vault.max.retries": "5",
                "vault.retry.interval.ms": "2000",
                "vault.secret.minimum.ttl.ms": "1000",
            },
        ),
    ],
    ids=["Lenses", "csid", "jcustenborder"],
)
def test_the_settings_of_others_work_as_they_are(
    server: Vault, mount: str, java_class: str, settings: dict[str, str]
) -> None:
    role = server.app_role(server.allow(f"{mount}/*"))
    parts = {
        "role": role["vault.approle.role.id"],
        "secret": role["vault.approle.secret.id"],
        "mount": role["vault.auth.mount"],
        "root": server.root,
    }
    address = {"vault.address" if "confluent" in java_class else "vault.addr": server.address}
    params = {name: value.format(**parts) for name, value in settings.items()} | address
    worker = {f"config.providers.vault.param.{name}": value for name, value in params.items()}

    providers = load_providers(
        {"config.providers": "vault", "config.providers.vault.class": java_class, **worker}
    )

    with providers["vault"] as provider:
        assert provider.get(f"{mount}/data/db", ["password"]).data == {"password": "s3cr3t"}


def test_units_are_converted() -> None:
    settings = {"timeout.seconds": "30", "retry.interval.seconds": "10"}

    assert s.TIMEOUT.read(settings) == timedelta(seconds=30)
    assert s.RETRY_BASE.read(settings) == timedelta(seconds=10)
    assert s.RETRY_BASE.read({"vault.retry.interval.ms": "2000"}) == timedelta(seconds=2)


@pytest.mark.parametrize(("text", "seconds"), [("30", 30), ("1m30s", 90), ("0.5s", 0.5)])
def test_durations_of_the_cli_are_read_as_go_does(text: str, seconds: float) -> None:
    settings = environment.complete({}, {"VAULT_CLIENT_TIMEOUT": text})

    assert s.TIMEOUT.read(settings) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "environ",
    [{"VAULT_CLIENT_TIMEOUT": "soon"}, {"BAO_SKIP_VERIFY": "maybe"}, {"VAULT_MAX_RETRIES": "-1"}],
)
def test_a_variable_that_cannot_be_read_is_an_error(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigException):
        environment.complete({}, environ)


def test_the_depth_of_a_prefix_path_is_what_counts(configured: Configured) -> None:
    provider = configured({"vault.secrets.version": "2", "vault.prefixpath": "org/team/kv"})

    assert provider.locate("org/team/kv/db", "k") == ("org/team/kv/data/db", "k")


@pytest.mark.parametrize("name", ["vault.ssl.truststore.location", "aws.request.body"])
def test_a_setting_that_cannot_be_taken_over_says_what_to_do(
    configured: Configured, name: str
) -> None:
    with pytest.raises(ConfigException, match=r"set vault\.ssl\.ca|is signed here"):
        configured({name: "x"})


@pytest.mark.parametrize("value", ["0", "99999999999"])
def test_a_timeout_is_one(configured: Configured, value: str) -> None:
    with pytest.raises(ConfigException, match="write"):
        configured({"timeout.seconds": value})


def test_writing_secrets_to_files_is_refused_and_not_passed_over(configured: Configured) -> None:
    with pytest.raises(ConfigException, match="values are not written to files here"):
        configured({"file.write": "true"})


def test_no_name_stands_for_two_settings() -> None:
    names = [key.name for key in s.VAULT_DEF]
    names += [alias.name for key in s.VAULT_DEF for alias in key.aliases]

    assert isinstance(s.VAULT_DEF, ConfigDef)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_a_login_that_is_refused_is_not_tried_by_everyone_who_waits(
    server: Vault, configured: Configured
) -> None:
    settings = server.app_role("default") | {"vault.approle.secret.id": "wrong"}
    with FaultProxy(server.address) as proxy:
        provider = configured(settings | {"vault.addr": proxy.url})
        config = {f"c{number}": f"${{vault:secret/{number}:k}}" for number in range(30)}

        with pytest.raises(UnresolvedError) as caught:
            ConfigTransformer({"vault": provider}).transform(config)

        assert len(caught.value.unresolved) == 30
        assert len(proxy.requests) == 1
