"""What a reference to Vault reads, and what each way of not being there says."""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from providers.vault.conftest import Configured
from servers.fault_proxy import FaultProxy
from servers.vault import Vault

from configproviders import ConfigException, ConfigProvider, ConfigTransformer
from configproviders.errors import LookupDenied, LookupFailed, PathNotFound, ProviderUnavailable
from configproviders.providers.vault import VaultConfigProvider

pytestmark = pytest.mark.vault


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    mount = server.mount(version="2")
    server.put(mount, "db", {"password": "first"})
    server.put(mount, "db", {"password": "second"})
    server.put(mount, "team/orders/db", {"password": "deep"})
    server.put(mount, "deleted", {"k": "v"})
    server.call("DELETE", f"{mount}/data/deleted")
    server.put(mount, "destroyed", {"k": "v"})
    server.write(f"{mount}/destroy/destroyed", versions=[1])
    document = {"hosts": [{"name": "a"}], "port": 5432, "tls": True, "none": None}
    server.put(mount, "document", document)
    return mount


@pytest.fixture
def like_root(server: Vault, configured: Configured) -> Configured:
    as_root = {"vault.addr": server.address, "vault.token": server.root}
    return lambda settings: configured(as_root | settings)


@pytest.fixture
def root(like_root: Configured) -> VaultConfigProvider:
    return like_root({})


def resolved(provider: ConfigProvider, **configs: str) -> dict[str, str]:
    return ConfigTransformer({"vault": provider}).transform(configs, strict=True).data


@pytest.mark.parametrize("path", ["db", "data/db", "/db/", "db?version=2", "data/db?version=2"])
def test_a_secret_by_the_path_of_the_cli_and_of_the_api(
    mount: str, root: VaultConfigProvider, path: str
) -> None:
    assert resolved(root, p=f"${{vault:{mount}/{path}:password}}") == {"p": "second"}


def test_an_older_version(mount: str, root: VaultConfigProvider) -> None:
    assert resolved(root, p=f"${{vault:{mount}/db?version=1:password}}") == {"p": "first"}
    assert resolved(root, p=f"$<vault:{mount}/db:password?version=1>") == {"p": "first"}
    assert root.get(f"{mount}/db?version=1").version == "1"


def test_a_ttl_asked_for_in_the_reference(mount: str, root: VaultConfigProvider) -> None:
    assert root.get(f"{mount}/db?ttl=60000").ttl == timedelta(minutes=1)
    assert root.get(f"{mount}/db").ttl is None


def test_values_that_are_not_text_are_json_and_a_pointer_reaches_inside(
    mount: str, root: VaultConfigProvider
) -> None:
    keys = ["hosts", "port", "tls", "none", "/hosts/0/name", "/hosts/1"]

    assert root.get(f"{mount}/document", keys).data == {
        "hosts": '[{"name":"a"}]',
        "port": "5432",
        "tls": "true",
        "/hosts/0/name": "a",
    }


def test_a_mount_several_parts_deep_is_found(server: Vault, root: VaultConfigProvider) -> None:
    server.write("sys/mounts/teams/orders/kv", type="kv", options={"version": "2"})
    server.put("teams/orders/kv", "db", {"password": "deep"})

    assert resolved(root, p="${vault:teams/orders/kv/db:password}") == {"p": "deep"}


def test_a_secret_in_a_folder_named_data(
    mount: str, server: Vault, root: VaultConfigProvider
) -> None:
    server.put(mount, "app/data/db", {"password": "inner"})

    assert resolved(root, p=f"${{vault:{mount}/app/data/db:password}}") == {"p": "inner"}


def test_a_secret_of_kv_version_1_may_look_like_one_of_version_2(
    server: Vault, root: VaultConfigProvider
) -> None:
    mount = server.mount(version="1")
    odd = {"data": {"a": "b"}, "metadata": {"version": 1, "created_time": "now"}}
    server.write(f"{mount}/odd", **odd)

    assert root.get(f"{mount}/odd", ["/data/a"]).data == {"/data/a": "b"}


def test_any_other_path_that_can_be_read(server: Vault, root: VaultConfigProvider) -> None:
    server.write("cubbyhole/note", text="mine")

    assert resolved(root, t="${vault:cubbyhole/note:text}") == {"t": "mine"}


def test_one_path_in_two_spellings_is_one_call(
    mount: str, server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        token = server.token(server.allow(f"{mount}/data/*"))
        settings = {"vault.addr": proxy.url, "vault.token": token, "vault.kv.version": "2"}
        config = {
            "a": f"${{vault:{mount}/db:password}}",
            "b": f"${{vault:{mount}/data/db:password}}",
        }

        assert resolved(configured(settings), **config) == {"a": "second", "b": "second"}

        assert proxy.requests == [("GET", f"/v1/{mount}/data/db")]


@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        ("{}/team/", "orders/db"),
        ("/{}//team/", "/orders/db"),
        ("{}/data/team/", "orders/db"),
        ("{}/", "team/orders/db"),
        ("{}/te", "am/orders/db"),
    ],
)
@pytest.mark.parametrize("version", ["auto", "2"])
def test_a_prefix_is_put_before_each_path(
    mount: str, like_root: Configured, prefix: str, path: str, version: str
) -> None:
    provider = like_root({"vault.prefix": prefix.format(mount), "vault.kv.version": version})

    for _ in range(2):  # What the first look finds out changes nothing.
        assert resolved(provider, p=f"${{vault:{path}:password}}") == {"p": "deep"}


def test_calls_are_one_for_each_path_and_one_login(
    mount: str, server: Vault, configured: Configured
) -> None:
    for number in range(40):
        server.put(mount, f"many/{number}", {"user": "u", "password": f"p{number}"})
    with FaultProxy(server.address, latency=0.01) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*")) | {"vault.addr": proxy.url}
        provider = configured(settings)
        config = {
            f"{key}{number}": f"${{vault:{mount}/data/many/{number}:{key}}}"
            for number in range(40)
            for key in ("user", "password")
        }

        data = resolved(provider, **config)

        assert data["password39"] == "p39"
        assert len(proxy.requests) == 41
        assert Counter(path.rpartition("/")[2] for _, path in proxy.requests)["login"] == 1


def test_paths_as_the_cli_has_them_cost_one_call_more_for_a_mount(
    mount: str, server: Vault, configured: Configured
) -> None:
    for number in range(20):
        server.put(mount, f"cli/{number}", {"password": f"p{number}"})
    with FaultProxy(server.address, latency=0.01) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*")) | {"vault.addr": proxy.url}
        config = {f"p{n}": f"${{vault:{mount}/cli/{n}:password}}" for n in range(20)}

        resolved(configured(settings), **config)

        asked = [path for _, path in proxy.requests if "/ui/mounts/" in path]
        assert (len(asked), len(proxy.requests)) == (1, 22)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("{mount}/absent", PathNotFound, "no secret, or no such version"),
        ("{mount}/db?version=9", PathNotFound, "no secret, or no such version"),
        ("no-such-mount/db", PathNotFound, "no secrets engine is mounted"),
        ("{mount}/deleted", PathNotFound, "version 1 is deleted; undelete it"),
        ("{mount}/destroyed", PathNotFound, "version 1 is destroyed"),
        ("{mount}/db?version=x", ConfigException, "is no version: write 1 or more"),
        ("{mount}/db?version=0", ConfigException, "is no version: write 1 or more"),
        ("{mount}/db?versoin=1", ConfigException, "did you mean 'version'"),
        ("{mount}/../sys/mounts", PathNotFound, "no path of Vault"),
    ],
)
def test_each_way_of_not_being_there_has_words_of_its_own(
    mount: str, root: VaultConfigProvider, path: str, error: type[ConfigException], message: str
) -> None:
    with pytest.raises(error, match=message):
        root.get(path.format(mount=mount))


def test_a_version_of_what_has_none_is_an_error(server: Vault, root: VaultConfigProvider) -> None:
    mount = server.mount(version="1")
    server.write(f"{mount}/db", password="s3cr3t")

    with pytest.raises(LookupFailed, match="has no versions"):
        root.get(f"{mount}/db?version=1")


def test_a_wrong_kv_version_in_the_settings_is_named(
    mount: str, server: Vault, configured: Configured
) -> None:
    settings = {"vault.addr": server.address, "vault.token": server.root}

    with pytest.raises(PathNotFound, match=r"set vault\.kv\.version to auto or 2"):
        configured(settings, **{"vault.kv.version": "1"}).get(f"{mount}/db")


def test_a_reference_without_a_path_is_an_error_that_shows_one(root: VaultConfigProvider) -> None:
    with pytest.raises(PathNotFound, match=r"\$\{vault:secret/db:password\}"):
        root.locate("", "secret/db")


def test_a_closed_provider_says_so(root: VaultConfigProvider) -> None:
    root.close()

    with pytest.raises(ProviderUnavailable, match="is closed"):
        root.get("secret/db")


@pytest.mark.parametrize("token", ["two\nlines", "with blank", "ünïcode", ""])
def test_what_is_no_token_is_an_error_that_does_not_show_it(
    server: Vault, configured: Configured, token: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(token)
    settings = {"vault.addr": server.address, "vault.token.file": str(tmp_path / "token")}

    with pytest.raises(LookupDenied, match="empty, or no token") as caught:
        configured(settings).get("secret/data/db")

    assert not token or token not in str(caught.value)


def test_a_mount_with_data_in_its_name_confuses_no_other(
    server: Vault, root: VaultConfigProvider
) -> None:
    for path, version in (("teams/data/kv", "2"), ("teams/one", "1"), ("teams/two", "2")):
        server.write(f"sys/mounts/{path}", type="kv", options={"version": version})
    server.put("teams/data/kv", "db", {"password": "data"})
    server.write("teams/one/db", password="one")
    server.put("teams/two", "db", {"password": "two"})

    for _ in range(2):
        assert root.get("teams/data/kv/data/db").data == {"password": "data"}
        assert root.get("teams/data/kv/db").data == {"password": "data"}
        assert root.get("teams/one/db").data == {"password": "one"}
        assert root.get("teams/two/db").data == {"password": "two"}


def test_a_secret_of_kv_version_1_below_data_teaches_nothing_wrong(
    server: Vault, root: VaultConfigProvider
) -> None:
    mount = server.mount(version="1")
    metadata = {"version": 1, "created_time": "", "deletion_time": "", "destroyed": False}
    server.write(f"{mount}/data/odd", data={"inner": "x"}, metadata=metadata)
    server.write(f"{mount}/db", password="plain")

    assert set(root.get(f"{mount}/data/odd").data) == {"data", "metadata"}
    assert root.get(f"{mount}/db").data == {"password": "plain"}


def test_where_a_reference_leads_does_not_change_with_what_was_read(
    mount: str, root: VaultConfigProvider
) -> None:
    before = root.locate(f"{mount}/db", "password")

    root.get(f"{mount}/db")

    assert root.locate(f"{mount}/db", "password") == before


def test_all_spellings_of_a_secret_are_one_read(
    mount: str, server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root})
        spellings = ("db", "data/db", "/db", "db?ttl=5000", "data/db?ttl=60000")
        config = {path: f"${{vault:{mount}/{path}:password}}" for path in spellings}

        data = resolved(provider, **config)

        assert set(data.values()) == {"second"}
        paths = [path for _, path in proxy.requests]
        assert paths.count(f"/v1/{mount}/data/db") == 1
        assert len(paths) <= 2


def test_an_option_at_path_and_key_is_said_once(mount: str, root: VaultConfigProvider) -> None:
    with pytest.raises(ConfigException, match="'version' stands twice"):
        root.locate(f"{mount}/db?version=1", "password?version=2")


def test_a_secret_with_the_fields_of_a_static_role_is_none(
    server: Vault, root: VaultConfigProvider
) -> None:
    mount = server.mount(version="1")
    server.write(f"{mount}/db", rotation_period="12h", ttl="0s", password="s3cr3t")

    assert root.get(f"{mount}/db", ["password"]).data == {"password": "s3cr3t"}
    assert root.get(f"{mount}/db").ttl is None


def test_a_forked_child_has_a_connection_of_its_own(mount: str, root: VaultConfigProvider) -> None:
    root.get(f"{mount}/db")
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:  # Whatever happens here, pytest must not go on in two processes.
        try:
            found = {root.get(f"{mount}/team/orders/db").data["password"] for _ in range(50)}
            os.write(writing, ",".join(found).encode())
        finally:
            os._exit(0)
    found = {root.get(f"{mount}/db").data["password"] for _ in range(50)}
    os.close(writing)

    assert found == {"second"}
    assert os.read(reading, 100) == b"deep"
    os.waitpid(child, 0)
    os.close(reading)
