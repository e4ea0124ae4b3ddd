"""What is between us and AWS breaks: the answer is right, or one of our errors says why not."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from servers.aws import HOME, Aws, ask, secrets_manager, ssm, values
from servers.fault_proxy import AWS_ERRORS, FaultProxy
from servers.faults import (
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

from configproviders.errors import ProviderUnavailable
from configproviders.providers.aws import SecretsManagerConfigProvider

pytestmark = pytest.mark.aws

READS, DEADLINE = 1000, 4
FORKING = pytest.mark.filterwarnings("ignore:This process .* multi-threaded:DeprecationWarning")
FAULTS = [HalfAnswer(), Reset(), ResetInBody(), Status(503), Status(429), WrongJson()]


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_a_broken_answer_is_an_error_for_each_that_was_asked_for(aws: Aws, fault: Fault) -> None:
    names, parameters = list(aws.secrets(2)), [aws.parameter("text") for _ in range(2)]

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS, faults={fault: 1.0}) as proxy:
        answers = ask(secrets_manager(endpoint=proxy.url, retry_max="0"), *names)
        answers |= ask(ssm(endpoint=proxy.url, retry_max="0"), *parameters)

    assert [type(each) for each in answers.values()] == [ProviderUnavailable] * 4
    assert "text" not in repr(answers)


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_what_breaks_once_is_overcome_by_trying_again(aws: Aws, fault: Fault) -> None:
    secrets = aws.secrets(2)

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS) as proxy:
        proxy.script = [fault]
        answers = ask(secrets_manager(endpoint=proxy.url, retry_max="1"), *secrets)

    assert values(answers) == secrets


@pytest.mark.parametrize("fault", [SlowBody(60, 60), Silence(), Status(503, 60)], ids=repr)
@pytest.mark.parametrize("retries", ["0", "1"])
def test_a_read_ends_with_its_deadline_under(aws: Aws, fault: Fault, retries: str) -> None:
    names, parameter = list(aws.secrets(2)), aws.parameter("text")

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS, faults={fault: 1.0}) as proxy:
        settings = {"endpoint": proxy.url, "retry_max": retries, "timeout_ms": "1000"}
        for provider, paths in (
            (secrets_manager(**settings), names),
            (ssm(**settings), [parameter]),
        ):
            start = time.monotonic()
            answers = ask(provider, *paths)

            assert {type(each) for each in answers.values()} == {ProviderUnavailable}
            assert time.monotonic() - start < 2


def test_a_connection_is_used_again_for_the_next_call(aws: Aws) -> None:
    name, _ = aws.secret("text")

    with FaultProxy(aws.moto.url) as proxy:
        provider = secrets_manager(endpoint=proxy.url)
        provider.get(name)
        connection = _connection(provider)
        provider.get(name)

        assert _connection(provider) is connection


@FORKING
def test_after_a_fork_each_process_gets_its_own_answers(aws: Aws) -> None:
    mine, theirs = aws.secrets(2)

    def read(name: str, expected: str) -> bool:
        return all(provider.get(name).data == {"value": expected} for _ in range(50))

    with FaultProxy(aws.moto.url) as proxy:
        provider = secrets_manager(endpoint=proxy.url)
        provider.get(mine)
        child = _forked(lambda: read(theirs, "text 1"))
        is_right = read(mine, "text 0")
        status = os.waitpid(child, 0)[1]

    assert (is_right, status) == (True, 0)


@FORKING
def test_after_a_fork_the_child_leaves_the_connections_to_its_parent(aws: Aws) -> None:
    name, _ = aws.secret("text")

    with FaultProxy(aws.moto.url) as proxy:
        provider = secrets_manager(endpoint=proxy.url)
        provider.get(name)
        connection = _connection(provider)
        port = connection.sock.getsockname()

        def connects() -> bool:
            return bool(provider.get(name)) and _connection(provider).sock.getsockname() != port

        status = os.waitpid(_forked(connects), 0)[1]
        provider.get(name)

        assert status == 0
        assert _connection(provider) is connection


def _connection(provider: SecretsManagerConfigProvider) -> Any:
    http: Any = provider._clients.of(HOME)._endpoint.http_session  # type: ignore[attr-defined]  # As it is.
    (pool,) = map(http._manager.pools.get, http._manager.pools.keys())
    return pool.pool.queue[-1]


def _forked(holds: Callable[[], bool]) -> int:
    """Return the id of a child that ends with 0 if *holds* does."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        status = 0 if holds() else 1
    finally:
        os._exit(status)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3 if "SOAK" in os.environ else 1))
def test_a_thousand_reads_under_faults_end_in_the_right_value_or_a_typed_error(
    aws: Aws, seed: int
) -> None:
    secrets, parameters = aws.secrets(10), {aws.parameter(f"p{n}"): f"p{n}" for n in range(10)}
    faults: dict[Fault, float] = {
        Status(429, 0): 0.06,
        Status(503, 0): 0.06,
        Status(500): 0.03,
        Reset(): 0.05,
        ResetInBody(): 0.03,
        HalfAnswer(): 0.03,
        WrongJson(): 0.02,
        SlowBody(0.1, 4): 0.01,
        Silence(): 0.01,
    }
    threads_before, sockets_before = set(threading.enumerate()), open_sockets()
    outcomes: Counter[str] = Counter()

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS, faults=faults, seed=seed) as proxy:
        settings = {"endpoint": proxy.url, "retry_max": "3", "timeout_ms": str(DEADLINE * 1000)}
        stores = (secrets_manager(**settings), secrets), (ssm(**settings), parameters)

        def read(number: int) -> str:
            provider, expected = stores[number % 2]
            name = list(expected)[number // 2 % 10]
            start = time.monotonic()
            try:
                value = provider.get(name).data["value"]
            except ProviderUnavailable:
                outcome = "unavailable"
            else:
                assert value == expected[name]
                outcome = "read"
            assert time.monotonic() - start < DEADLINE * 2
            return outcome

        with ThreadPoolExecutor(8) as pool:
            outcomes.update(pool.map(read, range(READS)))
        for provider, _ in stores:
            provider.close()

    assert outcomes.total() == READS
    assert outcomes["read"] > READS * 0.9
    gc.collect()
    assert set(threading.enumerate()) <= threads_before
    assert open_sockets() <= sockets_before
