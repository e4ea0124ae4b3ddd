"""The same rotations in eight backends: what a watcher has to tell of them, and what it must not.

A seed chooses the moments. ``SOAK=1`` makes the 20 rotations 500, or 100 where each is waited for.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from providers.vault.conftest import database_engine, eventually
from servers.fault_proxy import FaultProxy
from servers.postgres import Postgres
from servers.vault import Vault
from watch.backends import KEYS, Content, Secret
from watch.remote_backends import vault_provider

from configproviders import ConfigData
from configproviders.plan import Location, LookupPlan
from configproviders.testing import StaticConfigProvider
from configproviders.watch import ChangeKind, ConfigChange, Watcher

ROTATIONS, FEWER = (500, 100) if "SOAK" in os.environ else (20, 20)
SETTLE = timedelta(milliseconds=50)


class Told:
    """What callbacks are told of a secret, in order."""

    def __init__(self, secret: Secret) -> None:
        self.contents: list[Content] = []
        self.changes: list[ConfigChange] = []
        self._secret = secret
        self._news = threading.Condition()

    def change(self, change: ConfigChange) -> None:
        """Take what is told of a config."""
        self.changes.append(change)
        self.data(self._secret.path, change.locations[Location("it", self._secret.path)].data)

    def data(self, path: str, data: ConfigData) -> None:
        """Take what is told of a path."""
        assert path == self._secret.path
        with self._news:
            self.contents.append(data.data)
            self._news.notify()

    def everything(self, seconds: float = 20) -> None:
        """Wait until the last content is told; fail if it takes too long."""
        with self._news:
            up_to_date = self._news.wait_for(
                lambda: self.contents[-1:] == self._secret.history[-1:], seconds
            )
        assert up_to_date, "the last content was never told"


@pytest.fixture
def told(secret: Secret) -> Iterator[Told]:
    """Watch a config that uses both keys of the secret, each twice, and a secret that stays."""
    user, password = (f"${{it:{secret.path}:{key}}}" for key in KEYS)
    configs = {"user": user, "password": password, "other": "${static:x:username}"}
    configs["url"] = f"jdbc:postgresql://db/orders?user={user}&password={password}"
    providers = {"it": secret.provider, "static": StaticConfigProvider({"x": {"username": "u"}})}
    told = Told(secret)
    interval = secret.poll_interval
    with Watcher(providers, poll_interval=interval, settle=SETTLE, calls_per_second=100) as watcher:
        watcher.watch(LookupPlan.of(configs, providers), told.change)
        yield told


@pytest.mark.soak
def test_every_change_is_told_once_with_the_config_keys_that_it_affects(
    secret: Secret, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    change_and_wait(secret, told, FEWER)

    assert told.contents == secret.history[1:]
    assert_each_says_what_changed(told.changes, secret.history[0])
    assert not shown(secret, caplog.text)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1], ids=lambda seed: f"seed {seed}")
def test_changes_at_random_moments_on_a_bad_network_are_told_in_order_and_never_twice(
    secret: Secret, told: Told, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(seed)
    for number in range(ROTATIONS):
        secret.trouble(on=number % 8 >= 4)
        secret.rotate()
        pause(chance)
        if chance.random() < 0.2:
            secret.rewrite()
            pause(chance)
        if chance.random() < 0.1:
            secret.delete()
            pause(chance)
            secret.restore()
    secret.trouble(on=False)
    secret.rotate()
    told.everything(seconds=60)
    secret.rewrite()
    nothing_happens()

    known = [secret.history[0], *told.contents]
    assert out_of_order(known, secret.history) == []
    assert all(before != after for before, after in itertools.pairwise(known))
    assert_each_says_what_changed(told.changes, secret.history[0])
    assert not shown(secret, caplog.text)


@pytest.mark.parametrize("secret", ["file", "polled"], indirect=True)
def test_a_provider_tells_its_own_subscribers_of_every_change_once(
    secret: Secret, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told(secret)
    secret.provider.subscribe(secret.path, KEYS, told.data)

    change_and_wait(secret, told, FEWER // 2)

    assert told.contents == secret.history[1:]
    assert not shown(secret, caplog.text)


@pytest.mark.vault
@pytest.mark.postgres
def test_a_lease_that_is_renewed_is_no_change_and_credentials_that_are_replaced_are_one(
    vault_server: Vault, database: Postgres
) -> None:
    told: list[ConfigChange] = []
    with (
        database_engine(vault_server, database, ttl="2s", max_ttl="4s") as engine,
        FaultProxy(vault_server.address) as proxy,
    ):
        path = f"{engine.mount}/creds/orders"
        token = vault_server.token(vault_server.allow(path))
        providers = {"vault": vault_provider(proxy, token)}
        plan = LookupPlan.of({"user": f"${{vault:{path}:username}}"}, providers)
        with (
            providers["vault"],
            Watcher(providers, poll_interval=Secret.poll_interval, settle=SETTLE) as watcher,
        ):
            watcher.watch(plan, told.append)
            eventually(lambda: len(told) == 1)
        paths = [path for _, path in proxy.requests]

    assert paths.count(f"/v1/{path}") == 1 + len(told)
    assert "/v1/sys/leases/renew" in paths
    assert [change.config_keys for change in told] == [("user",)] * len(told)


def change_and_wait(secret: Secret, told: Told, rotations: int) -> None:
    """Change *secret* in all ways that there are, and wait for each change to be told."""
    for number in range(rotations):
        secret.rotate()
        told.everything()
        if number % 10 == 1:
            secret.rewrite()
            nothing_happens()
        if number % 10 == 6:
            for act in (secret.delete, secret.restore):
                act()
                told.everything()


def nothing_happens() -> None:
    """Give what must not be told the time to be told."""
    time.sleep(3 * SETTLE.total_seconds())


def pause(chance: random.Random) -> None:
    """Let some time pass, mostly less than it takes to settle, sometimes more."""
    time.sleep(chance.choice((0.0, 0.2, 1.0, 5.0)) * chance.random() * SETTLE.total_seconds())


def assert_each_says_what_changed(changes: list[ConfigChange], first: Content) -> None:
    """Check kinds and keys of *changes* by the contents, the *first* of which was not told."""
    uses = {"user": {"username"}, "password": {"password"}, "url": set(KEYS)}
    kinds = {(True, False): ChangeKind.DELETED, (False, True): ChangeKind.APPEARED}
    before = first
    for change in changes:
        (at,) = change.locations.values()
        after = at.data.data
        keys = {key for key in KEYS if before.get(key) != after.get(key)}
        assert at.kind is kinds.get((bool(before), bool(after)), ChangeKind.CHANGED)
        assert at.keys == keys
        assert list(change.config_keys) == [each for each in uses if uses[each] & keys]
        before = after


def out_of_order(told: list[Content], history: list[Content]) -> list[str]:
    """Return what was told and is not in *history* behind what was told before it."""
    at, wrong = 0, []
    for content in told:
        try:
            at = history.index(content, at) + 1
        except ValueError:
            wrong.append(f"{content} behind {history[at - 1]}")
    return wrong


def shown(secret: Secret, text: str) -> list[int]:
    """Return the numbers of the passwords that *text* shows."""
    passwords = [content.get("password", "") for content in secret.history]
    return [number for number, password in enumerate(passwords) if password and password in text]
