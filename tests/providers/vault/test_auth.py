"""Each auth method logs in at a real server."""

from __future__ import annotations

import logging
import os
import time
import traceback
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.certificates import Certificates, make_certificates
from servers.jwt import Signer
from servers.kubernetes import ServiceAccount, kubernetes
from servers.ldap import ldap
from servers.moto import run_moto
from servers.vault import Vault, vault

from configproviders import ConfigException
from configproviders.errors import LookupDenied
from configproviders.providers.vault import VaultConfigProvider

pytestmark = pytest.mark.vault


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "s3cr3t"})
    return mount


@pytest.fixture(scope="module")
def policy(server: Vault, mount: str) -> str:
    return server.allow(f"{mount}/data/*")


def password(server: Vault, mount: str, settings: dict[str, str], **environ: str) -> str:
    provider = VaultConfigProvider(environ)
    provider.configure({"vault.addr": server.address, **settings})
    with provider:
        return provider.get(f"{mount}/db", {"password"}).data["password"]


def test_a_token(server: Vault, mount: str, policy: str) -> None:
    assert password(server, mount, {"vault.token": server.token(policy)}) == "s3cr3t"


def test_a_token_from_the_environment(server: Vault, mount: str, policy: str) -> None:
    environ = {"VAULT_TOKEN": server.token(policy), "BAO_ADDR": server.address}
    provider = VaultConfigProvider(environ)

    assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}


def test_a_token_that_the_cli_left(server: Vault, mount: str, policy: str, tmp_path: Path) -> None:
    (tmp_path / ".vault-token").write_text(f"{server.token(policy)}\n")

    assert password(server, mount, {}, HOME=str(tmp_path)) == "s3cr3t"


def test_a_token_file_is_read_again_when_an_agent_replaces_it(
    server: Vault, mount: str, policy: str, tmp_path: Path
) -> None:
    sink, new = tmp_path / "token", tmp_path / "new"
    first = server.token(policy)
    sink.write_text(first)
    provider = VaultConfigProvider({})
    provider.configure({"vault.addr": server.address, "vault.token.file": str(sink)})
    provider.get(f"{mount}/db")

    server.write("auth/token/revoke", token=first)
    new.write_text(server.token(policy))
    new.replace(sink)

    assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}


def test_no_token_at_all_is_an_error_that_says_where_it_may_stand(
    server: Vault, mount: str, tmp_path: Path
) -> None:
    with pytest.raises(LookupDenied, match=r"vault\.token\.file, VAULT_TOKEN"):
        password(server, mount, {}, HOME=str(tmp_path))


def test_an_app_role(server: Vault, mount: str, policy: str) -> None:
    assert password(server, mount, server.app_role(policy)) == "s3cr3t"


def test_an_app_role_whose_secret_id_is_in_a_file(
    server: Vault, mount: str, policy: str, tmp_path: Path
) -> None:
    settings = server.app_role(policy)
    (tmp_path / "secret-id").write_text(settings.pop("vault.approle.secret.id"))
    settings["vault.approle.secret.id.file"] = str(tmp_path / "secret-id")

    assert password(server, mount, settings) == "s3cr3t"


def wrapped(server: Vault, settings: dict[str, str]) -> str:
    from hvac import Client

    client = Client(server.address, server.root)
    path = f"/v1/auth/{settings['vault.auth.mount']}/role/orders/secret-id"
    return str(client.adapter.post(path, wrap_ttl="60s")["wrap_info"]["token"])


def test_an_app_role_whose_secret_id_is_wrapped(server: Vault, mount: str, policy: str) -> None:
    settings = server.app_role(policy)
    settings["vault.approle.secret.id"] = wrapped(server, settings)
    settings["vault.approle.secret.id.wrapped"] = "true"

    assert password(server, mount, settings) == "s3cr3t"


def test_a_wrapped_secret_id_that_was_opened_is_named_as_stolen(
    server: Vault, mount: str, policy: str
) -> None:
    settings = server.app_role(policy)
    settings["vault.approle.secret.id"] = wrapped(server, settings)
    settings["vault.approle.secret.id.wrapped"] = "true"
    password(server, mount, settings)

    with pytest.raises(LookupDenied, match="somebody else has opened it") as caught:
        password(server, mount, settings)

    assert settings["vault.approle.secret.id"] not in str(caught.value)


def test_a_wrapped_secret_id_from_elsewhere_is_refused_unopened(
    server: Vault, mount: str, policy: str
) -> None:
    settings, others = server.app_role(policy), server.app_role(policy)
    token = wrapped(server, others)
    settings["vault.approle.secret.id"] = token
    settings["vault.approle.secret.id.wrapped"] = "true"
    settings["vault.approle.secret.id.wrapped.path"] = "auth/mine/role/orders/secret-id"

    with pytest.raises(LookupDenied, match=r"it was made at 'auth/approle-.*/secret-id', not at"):
        password(server, mount, settings)

    assert server.write("sys/wrapping/lookup", token=token)["data"]["creation_path"]


def test_another_wrapping_token_in_the_file_is_opened_at_the_next_login(
    server: Vault, mount: str, policy: str, tmp_path: Path
) -> None:
    settings = server.app_role(policy, secret_id_num_uses=1, token_num_uses=1)
    settings |= {
        "vault.approle.secret.id.file": str(tmp_path / "wrapped"),
        "vault.approle.secret.id.wrapped": "true",
        "vault.kv.version": "2",
    }
    provider = VaultConfigProvider({})
    provider.configure(settings)

    for _ in range(2):  # Each token is for one read, each secret id for one login.
        (tmp_path / "wrapped").write_text(wrapped(server, settings))
        assert provider.get(f"{mount}/db").data == {"password": "s3cr3t"}


def test_a_secret_id_wrapped_at_a_mount_of_several_parts_is_taken(
    server: Vault, mount: str, policy: str
) -> None:
    server.write("sys/auth/team/approle", type="approle")
    server.write("auth/team/approle/role/orders", token_policies=[policy])
    settings = {
        "vault.auth.method": "approle",
        "app.role.path": "team/approle",
        "vault.auth.mount": "team/approle",
        "vault.approle.role.id": server.read("auth/team/approle/role/orders/role-id")["role_id"],
        "vault.approle.secret.id.wrapped": "true",
    }

    settings["vault.approle.secret.id"] = wrapped(server, settings)

    assert password(server, mount, settings) == "s3cr3t"


def test_a_user_and_a_password(server: Vault, mount: str, policy: str) -> None:
    auth = server.enable("userpass")
    server.write(f"auth/{auth}/users/orders", password="pw", token_policies=policy)
    settings = {"vault.auth.mount": f"auth/{auth}", "vault.username": "orders"}

    method = {"vault.auth.method": "UserPass", "vault.password": "pw"}

    assert password(server, mount, settings | method) == "s3cr3t"


def test_a_setting_of_another_method_means_nothing_to_this_one(
    server: Vault, mount: str, policy: str
) -> None:
    settings = server.app_role(policy)
    settings["app.role.path"] = settings.pop("vault.auth.mount")
    others = {"ldap.mount": "ldap", "kubernetes.auth.path": "auth/k", "ldap.username": "somebody"}

    assert password(server, mount, settings | others) == "s3cr3t"


def test_a_secret_in_the_place_of_a_file_is_not_shown(server: Vault, mount: str) -> None:
    with pytest.raises(LookupDenied, match=r"the file of vault\.token\.file cannot") as caught:
        password(server, mount, {"vault.token.file": "hvs.CAESI"})

    assert "hvs.CAESI" not in str(caught.value)


def test_a_pipe_in_the_place_of_a_token_file_blocks_nobody(
    server: Vault, mount: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "token")

    with pytest.raises(LookupDenied, match="not a file"):
        password(server, mount, {"vault.token.file": str(tmp_path / "token")})


def test_what_the_chain_of_aws_says_is_not_passed_on(
    server: Vault, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(
        '[default]\ncredential_process = sh -c "echo canary-process >&2; exit 1"\n'
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(LookupDenied, match="boto3 finds no AWS credentials") as caught:
        password(server, mount, {"vault.auth.method": "aws"})

    assert "canary-process" not in "".join(traceback.format_exception(caught.value))


def test_signing_for_aws_logs_no_session_token(
    server: Vault,
    mount: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, f"canary-{name}")

    with caplog.at_level(logging.DEBUG), pytest.raises(LookupDenied):
        password(server, mount, {"vault.auth.method": "aws"})

    assert "canary-" not in caplog.text


def test_a_wrong_password_is_refused_and_not_shown(server: Vault, mount: str) -> None:
    auth = server.enable("userpass")
    settings = {"vault.auth.mount": auth, "vault.username": "o", "vault.password": "wrong-pw"}

    with pytest.raises(LookupDenied, match=f"userpass login at 'auth/{auth}' is refused") as caught:
        password(server, mount, settings | {"vault.auth.method": "userpass"})

    assert "wrong-pw" not in str(caught.value)


def test_ldap(server: Vault, mount: str, policy: str) -> None:
    auth = server.enable("ldap")
    with ldap() as directory:
        server.write(
            f"auth/{auth}/config",
            url=directory.url,
            userdn="ou=people,dc=example,dc=org",
            userattr="uid",
            insecure_tls=True,
            token_policies=policy,
        )
        settings = {"vault.auth.mount": auth, "vault.username": "orders"}
        method = {"vault.auth.method": "ldap", "vault.password": directory.password}

        assert password(server, mount, settings | method) == "s3cr3t"


def jwt_settings(server: Vault, policy: str, signer: Signer) -> dict[str, str]:
    auth = server.enable("jwt")
    server.write(f"auth/{auth}/config", jwt_validation_pubkeys=signer.public_key)
    server.write(
        f"auth/{auth}/role/orders",
        role_type="jwt",
        user_claim="sub",
        bound_audiences="vault",
        token_policies=policy,
        token_num_uses=3,
    )
    return {"vault.auth.method": "jwt", "vault.auth.mount": auth, "vault.jwt.role": "orders"}


def test_a_jwt_is_read_again_at_every_login(
    server: Vault, mount: str, policy: str, tmp_path: Path
) -> None:
    signer = Signer()
    claims = {"sub": "orders", "aud": "vault", "iat": int(time.time())}
    settings = jwt_settings(server, policy, signer) | {
        "vault.jwt.path": str(tmp_path / "jwt"),
        "vault.addr": server.address,
        "vault.kv.version": "2",
    }
    (tmp_path / "jwt").write_text(signer.sign(claims | {"exp": int(time.time()) + 60}))
    provider = VaultConfigProvider({})
    provider.configure(settings)
    for _ in range(3):  # The token is made for three uses.
        provider.get(f"{mount}/db")

    (tmp_path / "jwt").write_text("no longer a jwt")

    with pytest.raises(LookupDenied, match="the jwt login"):
        provider.get(f"{mount}/db")


def test_kubernetes_by_an_answerer_of_its_token_review(
    server: Vault, mount: str, policy: str, tmp_path: Path
) -> None:
    auth = server.enable("kubernetes")
    with kubernetes() as cluster:
        account = ServiceAccount("spark", "orders")
        server.write(
            f"auth/{auth}/config",
            kubernetes_host=cluster.url,
            token_reviewer_jwt=cluster.issue(ServiceAccount("vault", "reviewer")),
            disable_local_ca_jwt=True,
        )
        server.write(
            f"auth/{auth}/role/orders",
            bound_service_account_names="orders",
            bound_service_account_namespaces="spark",
            audience="vault",
            token_policies=policy,
        )
        (tmp_path / "token").write_text(cluster.issue(account))
        settings = {
            "vault.auth.method": "kubernetes",
            "kubernetes.auth.path": f"auth/{auth}",
            "kubernetes.role": "orders",
            "kubernetes.token.path": str(tmp_path / "token"),
        }

        assert password(server, mount, settings) == "s3cr3t"


def aws_user(url: str) -> tuple[str, dict[str, str]]:
    import boto3

    iam = boto3.client(
        "iam",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="administrator",
        aws_secret_access_key="administrator",
    )
    name = f"orders-{uuid.uuid4().hex}"
    arn = iam.create_user(UserName=name)["User"]["Arn"]
    return arn, iam.create_access_key(UserName=name)["AccessKey"]


@pytest.mark.aws
@pytest.mark.parametrize("region", [None, "eu-west-1"])
def test_aws_iam_signs_at_login_with_what_the_chain_has(
    server: Vault,
    mount: str,
    policy: str,
    region: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    auth = server.enable("aws")
    with run_moto() as aws:
        user, key = aws_user(aws.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        server.write(
            f"auth/{auth}/config/client",
            sts_endpoint=aws.url,
            iam_server_id_header_value="vault.example.org",
        )
        server.write(
            f"auth/{auth}/role/orders",
            auth_type="iam",
            bound_iam_principal_arn=user,
            resolve_aws_unique_ids=False,
            token_policies=policy,
        )
        settings = {
            "vault.auth.method": "awsiam",
            "aws.mount": auth,
            "aws.role": "orders",
            "vault.aws.server.id": "vault.example.org",
        } | ({"vault.aws.region": region} if region else {})

        assert password(server, mount, settings) == "s3cr3t"

        request = aws.requests[-1]

    assert (request.action, request.region) == ("GetCallerIdentity", region or "us-east-1")
    assert key["SecretAccessKey"] not in request.body


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
