"""What a bad network and a bad day of Vault do to reads."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from providers.vault.conftest import Configured
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
from servers.processes import open_sockets
from servers.vault import Vault, vault

from configproviders import ConfigTransformer, UnresolvedError
from configproviders.cache import CachingConfigProvider
from configproviders.errors import LookupFailed, ProviderUnavailable
from configproviders.testing import FakeClock

pytestmark = pytest.mark.vault
READS = 1000
DEADLINE = 1.0
QUICK = {"retry.base.ms": "5", "retry.max.ms": "50", "timeout.ms": str(int(DEADLINE * 1000))}


@pytest.fixture(scope="module")
def mount(server: Vault) -> str:
    mount = server.mount(version="2")
    for number in range(10):
        server.put(mount, f"{number}", {"password": f"s3cr3t-{number}"})
    return mount


@pytest.mark.parametrize(
    "fault",
    [
        Status(429, 0),
        Status(412),
        Status(500),
        Status(502),
        Status(503, 0),
        Reset(),
        ResetInBody(),
        HalfAnswer(),
        WrongJson(),
    ],
    ids=repr,
)
def test_a_read_is_tried_again_after(
    mount: str, server: Vault, configured: Configured, fault: Fault
) -> None:
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root, **QUICK})
        proxy.script = [fault, fault]

        assert provider.get(f"{mount}/data/1").data == {"password": "s3cr3t-1"}

        assert len(proxy.requests) == 3


@pytest.mark.parametrize("fault", [Silence(), SlowBody(60, 60), Status(503, 60)], ids=repr)
def test_a_read_ends_with_its_deadline_under(
    mount: str, server: Vault, configured: Configured, fault: Fault
) -> None:
    with FaultProxy(server.address) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root, **QUICK})
        proxy.script = [fault] * 10
        start = time.monotonic()

        with pytest.raises(ProviderUnavailable):
            provider.get(f"{mount}/data/1")

        assert time.monotonic() - start < DEADLINE * 3  # Of a minute that it might have taken.


def test_a_silent_server_is_waited_for_once_and_not_by_each_wave_of_lookups(
    server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address, faults={Silence(): 1.0}) as proxy:
        provider = configured({"vault.addr": proxy.url, "vault.token": server.root, **QUICK})
        transformer = ConfigTransformer({"vault": provider}, concurrency=4)

        with pytest.raises(UnresolvedError) as caught:
            transformer.transform({f"c{n}": f"${{vault:a/data/{n}:k}}" for n in range(40)})

        assert len(caught.value.unresolved) == 40
        assert len(proxy.requests) == 4


def test_one_lost_connection_is_no_silence(
    mount: str, server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        settings = {"vault.addr": proxy.url, "vault.token": server.root, **QUICK}
        provider = configured(settings | {"retry.max": "0"})
        proxy.script = [Reset()]
        with pytest.raises(ProviderUnavailable):
            provider.get(f"{mount}/data/1")

        assert provider.get(f"{mount}/data/1").data == {"password": "s3cr3t-1"}


def test_a_login_that_may_have_been_done_is_not_sent_again(
    server: Vault, configured: Configured
) -> None:
    with FaultProxy(server.address) as proxy:
        settings = server.app_role("default") | {"vault.addr": proxy.url, **QUICK}
        proxy.script = [ResetInBody()]

        with pytest.raises(ProviderUnavailable):
            configured(settings).get("secret/data/db")

        assert [path.rpartition("/")[2] for _, path in proxy.requests] == ["login"]


@pytest.mark.parametrize("fault", [Status(503, 0), Status(429, 0), Status(412)], ids=repr)
def test_a_login_that_was_not_done_is_sent_again(
    server: Vault, configured: Configured, fault: Fault
) -> None:
    with FaultProxy(server.address) as proxy:
        settings = server.app_role("root") | {"vault.addr": proxy.url, **QUICK}
        proxy.script = [fault]

        with pytest.raises(LookupFailed):
            configured(settings).get("secret/data/db")

        assert [path.rpartition("/")[2] for _, path in proxy.requests][:2] == ["login", "login"]


@pytest.fixture
def sealable() -> Iterator[Vault]:
    """Run a Vault that nobody else uses."""
    with vault() as running:
        yield running


def test_what_a_sealed_vault_says(configured: Configured, sealable: Vault) -> None:
    provider = configured(
        {"vault.addr": sealable.address, "vault.token": sealable.root, **QUICK, "retry.max": "1"}
    )
    sealable.seal()

    with pytest.raises(ProviderUnavailable, match="is sealed: unseal it"):
        provider.get("secret/data/db")


def test_sealing_and_unsealing_costs_no_wrong_answer(
    configured: Configured, sealable: Vault
) -> None:
    sealable.put("secret", "db", {"password": "first"})
    settings = sealable.app_role(sealable.allow("secret/data/*"), token_ttl="1h")
    inner, clock = configured(settings | QUICK | {"retry.max": "0"}), FakeClock()
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    provider = CachingConfigProvider(inner, default_ttl=minute, max_stale=hour, clock=clock)
    before = provider.get("secret/data/db")

    sealable.seal()
    clock.advance(61)
    during = provider.get("secret/data/db")
    sealable.unseal()
    sealable.put("secret", "db", {"password": "second"})
    clock.advance(61)
    after = provider.get("secret/data/db")

    assert (before.data["password"], before.stale) == ("first", False)
    assert (during.data["password"], during.stale) == ("first", True)
    assert (after.data["password"], after.stale) == ("second", False)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3 if "SOAK" in os.environ else 1))
def test_a_thousand_reads_under_faults_end_in_the_right_value_or_a_typed_error(
    mount: str, server: Vault, configured: Configured, seed: int
) -> None:
    faults: dict[Fault, float] = {
        Status(429, 0): 0.05,
        Status(412): 0.03,
        Status(503, 0): 0.05,
        Status(500): 0.03,
        Reset(): 0.04,
        ResetInBody(): 0.02,
        HalfAnswer(): 0.02,
        WrongJson(): 0.02,
        SlowBody(0.2, 5): 0.01,
        Delay(0.05): 0.02,
        Silence(): 0.01,
    }
    threads_before = set(threading.enumerate())
    sockets_before = open_sockets()
    outcomes: Counter[str] = Counter()

    with FaultProxy(server.address, faults=faults, seed=seed) as proxy:
        settings = server.app_role(server.allow(f"{mount}/data/*"))
        provider = configured(settings | {"vault.addr": proxy.url} | QUICK)

        def read(number: int) -> str:
            start = time.monotonic()
            try:
                value = provider.get(f"{mount}/data/{number % 10}").data
            except ProviderUnavailable:
                outcome = "unavailable"
            else:
                assert value == {"password": f"s3cr3t-{number % 10}"}
                outcome = "read"
            assert time.monotonic() - start < DEADLINE * 2
            return outcome

        with ThreadPoolExecutor(8) as threads:
            outcomes.update(threads.map(read, range(READS)))
        provider.close()

    assert outcomes.total() == READS
    assert outcomes["read"] > READS * 0.9
    gc.collect()
    assert set(threading.enumerate()) <= threads_before
    assert open_sockets() <= sockets_before
