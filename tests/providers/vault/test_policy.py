"""The policy that is printed, loaded into a real server."""

from __future__ import annotations

import pytest
from providers.vault.conftest import Configured
from servers.vault import Vault

from configproviders import ConfigException, ConfigTransformer
from configproviders.errors import LookupDenied

pytestmark = pytest.mark.vault


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    mount = server.mount(version="2")
    for name in ("db", "team/orders/db", "document"):
        server.put(mount, name, {"password": name})
    return mount


def test_the_printed_policy_allows_all_that_a_config_needs_and_nothing_else(
    mount: str, server: Vault, configured: Configured
) -> None:
    settings = {"vault.addr": server.address, "vault.token": server.root}
    config = {
        "a": f"${{vault:{mount}/db:password}}",
        "b": f"${{vault:{mount}/data/team/orders/db?version=1:password}}",
    }
    administrator = configured(settings)
    plan = ConfigTransformer({"vault": administrator}).plan(config)
    lookups = {location.path: keys for location, keys in plan.lookups.items()}
    server.write("sys/policies/acl/least", policy=administrator.policy(lookups, online=True))

    least = configured(settings | {"vault.token": server.token("least")})

    data = ConfigTransformer({"vault": least}).transform(config, strict=True).data
    assert data == {"a": "db", "b": "team/orders/db"}
    for other in ("document", "absent", "team/orders", "team/orders/db2"):
        with pytest.raises(LookupDenied):
            least.get(f"{mount}/{other}")


def test_what_settings_do_not_say_is_a_placeholder(configured: Configured) -> None:
    lookups = {"secret/db": {"password"}, "kv/data/db": {"password"}}

    unknown = configured({}).policy(lookups)
    known = configured({"vault.kv.version": "2", "vault.namespace": "team"}).policy(lookups)

    assert 'path "secret/<data/>db" {' in unknown
    assert "<data/>: leave it out if the mount is KV version 1" in unknown
    assert known == (
        '# In the namespace "team".\n'
        'path "kv/data/db" {\n  capabilities = ["read"]\n}\n\n'
        'path "secret/data/db" {\n  capabilities = ["read"]\n}\n'
    )


@pytest.mark.parametrize("path", ["kv/data/a*", "kv/data/+/db", "kv/data/{{x}}", "kv/data/${x"])
def test_a_path_that_a_policy_would_read_as_a_pattern_is_refused(
    configured: Configured, path: str
) -> None:
    with pytest.raises(ConfigException, match="it would be read as a pattern"):
        configured({}).policy({path: {"password"}})
