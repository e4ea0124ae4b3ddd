"""Each auth method logs in at a real server."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from providers.vault.conftest import password
from servers.jwt import Signer
from servers.kubernetes import ServiceAccount, kubernetes
from servers.ldap import ldap
from servers.vault import Vault

from configproviders.errors import LookupDenied
from configproviders.providers.vault import VaultConfigProvider

pytestmark = pytest.mark.vault


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
