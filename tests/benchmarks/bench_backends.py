"""Wall time of whole configs against real servers, through a proxy that adds 20 ms to each answer.

Servers and proxy run in a process of their own, so that they take nothing from what is measured.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import boto3

from configproviders import ConfigProvider, ConfigTransformer
from configproviders.lookups import LOOKUP_CONCURRENCY
from configproviders.providers.aws import SecretsManagerConfigProvider, SsmConfigProvider
from configproviders.providers.vault import VaultConfigProvider

LATENCY = 0.02
ROUNDS = 7
PATHS, SECRETS, PARAMETERS = 200, 200, 400
AWS = {"aws.access.key": "bench", "aws.secret.key": "bench", "aws.region": "eu-west-1"}


def main() -> None:
    """Print every figure."""
    with servers() as at:
        bench_vault(at)
        bench_secrets_manager(at)
        bench_parameters(at)
        bench_start(at)


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """Run ``serve`` in a process of its own; yield what it says of its servers."""
    command = [sys.executable, __file__, "serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        yield json.loads(process.stdout.readline())
        process.stdin.close()


def serve() -> None:
    """Fill both servers, say where they are, and run until nobody listens."""
    from servers.fault_proxy import FaultProxy
    from servers.moto import run_moto
    from servers.vault import vault

    with vault() as server, run_moto() as moto:
        session = boto3.Session("bench", "bench", region_name="eu-west-1")
        secrets = session.client("secretsmanager", endpoint_url=moto.url)
        parameters = session.client("ssm", endpoint_url=moto.url)
        for number in range(PATHS):
            server.put("secret", f"bench/{number}", {"password": f"p{number}"})
        for number in range(SECRETS):
            secrets.create_secret(Name=f"bench/{number}", SecretString='{"password":"s3cr3t"}')
        for number in range(PARAMETERS):
            parameters.put_parameter(
                Name=f"/bench/{number}", Value=f"{number}", Type="SecureString"
            )
        role = server.app_role(server.allow("secret/data/bench/*"))
        with (
            FaultProxy(server.address, latency=LATENCY) as to_vault,
            FaultProxy(moto.url, latency=LATENCY) as to_aws,
        ):
            at = {**role, "vault.addr": to_vault.url, "aws": to_aws.url}
            print(json.dumps(at), flush=True)
            sys.stdin.read()


def bench_vault(at: Mapping[str, str]) -> None:
    """Read 200 paths with one login, as a loop over hvac does it, and as few waits as can be."""
    import hvac

    config = {f"c{n}": f"${{vault:secret/data/bench/{n}:password}}" for n in range(PATHS)}
    settings = {name: value for name, value in at.items() if name.startswith("vault.")}

    def by_hvac() -> None:
        client = hvac.Client(at["vault.addr"], token="")
        role, secret = at["vault.approle.role.id"], at["vault.approle.secret.id"]
        client.auth.approle.login(role, secret, mount_point=at["vault.auth.mount"])
        for number in range(PATHS):
            client.secrets.kv.v2.read_secret_version(
                f"bench/{number}", mount_point="secret", raise_on_deleted_version=True
            )

    ours = timed(lambda: resolve(VaultConfigProvider({}), settings, config, calls=PATHS + 1))
    ideal = math.ceil(PATHS / LOOKUP_CONCURRENCY) * LATENCY
    show(f"{PATHS} Vault paths", ours, timed(by_hvac, 3), "hvac in a loop", goal="at most 0.1")
    show(f"{PATHS} Vault paths", ours, [ideal], "waits alone", goal="at most 1.5")


def bench_secrets_manager(at: Mapping[str, str]) -> None:
    """Read 200 secrets in 10 calls, and one by one."""
    config = {f"c{n}": f"${{sm:bench/{n}:password}}" for n in range(SECRETS)}
    settings = {**AWS, "aws.endpoint.override": at["aws"]}
    session = boto3.Session("bench", "bench", region_name="eu-west-1")
    client = session.client("secretsmanager", endpoint_url=at["aws"])

    def one_by_one() -> None:
        for number in range(SECRETS):
            client.get_secret_value(SecretId=f"bench/{number}")

    ours = timed(
        lambda: resolve(SecretsManagerConfigProvider(), settings, config, calls=SECRETS // 20)
    )
    loop = timed(one_by_one, 3)
    show(f"{SECRETS} secrets, 10 calls", ours, loop, "get_secret_value in a loop", goal="0.067")


def bench_parameters(at: Mapping[str, str]) -> None:
    """Read 400 parameters in 40 calls, and one by one."""
    config = {f"c{n}": f"${{ssm::/bench/{n}}}" for n in range(PARAMETERS)}
    settings = {**AWS, "aws.endpoint.override": at["aws"]}
    session = boto3.Session("bench", "bench", region_name="eu-west-1")
    client = session.client("ssm", endpoint_url=at["aws"])

    def one_by_one() -> None:
        for number in range(PARAMETERS):
            client.get_parameter(Name=f"/bench/{number}", WithDecryption=True)

    ours = timed(lambda: resolve(SsmConfigProvider(), settings, config, calls=PARAMETERS // 10))
    loop = timed(one_by_one, 3)
    show(f"{PARAMETERS} parameters, 40 calls", ours, loop, "get_parameter in a loop", goal="")


def bench_start(at: Mapping[str, str]) -> None:
    """Import each provider, and make its first call, in processes of their own."""
    vault = {name: value for name, value in at.items() if name.startswith("vault.")}
    aws = {**AWS, "aws.endpoint.override": at["aws"]}
    for module, name, settings, path in (
        ("vault", "VaultConfigProvider", vault, "secret/data/bench/1"),
        ("aws", "SecretsManagerConfigProvider", aws, "bench/1"),
        ("aws", "SsmConfigProvider", aws, "/bench/1"),
    ):
        start = f"from configproviders.providers.{module} import {name} as P\np = P()\n"
        first = f"p.configure({settings!r})\np.get({path!r})\n"
        bare = [python("pass") for _ in range(ROUNDS)]
        show(f"{name}, import", [python(start) for _ in bare], bare, "python -c pass", goal="")
        show(
            f"{name}, first call", [python(start + first) for _ in bare], bare, "the same", goal=""
        )


def python(code: str) -> float:
    """Run *code* in a new process; return the seconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def resolve(
    provider: ConfigProvider, settings: Mapping[str, str], config: Mapping[str, str], *, calls: int
) -> None:
    """Resolve *config* with a new provider; raise if it takes more than *calls*."""
    with provider:
        provider.configure(settings)
        name = next(iter(config.values()))[2:].split(":")[0]
        ConfigTransformer({name: provider}).transform(dict(config), strict=True)
        if provider.calls_made != calls:
            raise RuntimeError(f"{provider.calls_made} calls instead of {calls}")


def timed(call: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Return the seconds of each of *rounds*, after one to warm up."""
    call()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def show(
    name: str, ours: Sequence[float], theirs: Sequence[float], against: str, *, goal: str
) -> None:
    """Print the ratio of the medians, and both with their range."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    aim = f", goal {goal} x" if goal else ""
    sides = f"{spread(ours)} against {against} {spread(theirs)}"
    print(f"{ratio:.3f} x  {name}: {sides}{aim}", flush=True)


def spread(seconds: Sequence[float]) -> str:
    """Write the median with the least and the most."""
    millis = [each * 1000 for each in seconds]
    return f"{statistics.median(millis):,.0f} ms ({min(millis):,.0f}-{max(millis):,.0f})"


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        main()
