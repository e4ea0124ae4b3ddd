"""What the command line tells about a config: --check, --plan, --policy."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from configproviders import (
    ConfigData,
    ConfigException,
    EnvVarConfigProvider,
    properties,
)
from configproviders.errors import LookupDenied
from configproviders.testing import CANARY

Run = Callable[..., tuple[int, str, str]]


def test_check_shows_what_is_found_and_never_a_value(run: Run) -> None:
    code, out, err = run("broken.properties", "--check")

    assert code == 1
    assert out == (
        "REFERENCE                            CONFIG KEY  PROVIDER  OUTCOME  TTL  LATENCY\n"
        "${file:secrets.properties:password}  fine        file      found    -    -\n"
        "${file:secrets.properties:usr}       jdbc.user   file      missing  -    -\n"
    )
    assert "no key 'usr'" in err
    assert CANARY not in out + err


def test_check_tells_refused_from_missing_from_failed(run: Run) -> None:
    Path("w.properties").write_text(
        "config.providers=file\nconfig.providers.file.class=file\n"
        f"config.providers.file.param.allowed.paths={os.getcwd()}\n"
    )
    Path("bad.json").write_text("{")
    Path("in.properties").write_text(
        "a=${file:/etc/passwd:root}\nb=${file:nothing:x}\nc=${file:bad.json:x}\nd=${x:y:z}\n"
    )

    code, out, _ = run("in.properties", "--check", "--providers", "w.properties")

    assert code == 1
    assert [line.split()[-3] for line in out.splitlines()[1:]] == [
        "refused",
        "missing",
        "failed",
        "missing",
    ]


def test_check_forgives_no_more_than_the_run_itself(run: Run) -> None:
    Path("in.properties").write_text("a=${file:nothing:x}\n")

    assert run("broken.properties", "--check", "--allow-unresolved")[0] == 0
    assert run("in.properties", "--check", "--allow-unresolved")[0] == 1
    assert run("in.properties", "--allow-unresolved")[0] == 1


def test_check_shows_ttls_in_seconds(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(self: object, path: str, keys: object = None) -> ConfigData:
        return ConfigData({"k": "v"}, timedelta(seconds=int(path)))

    monkeypatch.setattr(EnvVarConfigProvider, "get", get)
    Path("in.properties").write_text("a=${env:0:k}\nb=${env:90:k}\n")

    lines = run("in.properties", "--check")[1].splitlines()

    assert [line.split("found")[1].strip() for line in lines[1:]] == ["0 s   -", "90 s  -"]


def test_check_says_what_backends_cost(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(self: EnvVarConfigProvider, path: str, keys: object = None) -> ConfigData:
        self.calls_made += 1
        return ConfigData({"k": "v"}, timedelta(hours=1), lease="database/creds/r/1")

    monkeypatch.setattr(EnvVarConfigProvider, "get", get)
    monkeypatch.setattr(EnvVarConfigProvider, "waits", True)
    Path("in.properties").write_text("a=${env:1:k}\nb=${env:1:k}\nc=${env:2:k}\n")

    code, out, err = run("in.properties", "--check")

    assert code == 0
    assert re.fullmatch(r"\S+ +a +env +found +3600 s, lease  \d+ ms", out.splitlines()[1])
    assert err == "resolve-config: env: 2 locations in 2 calls\n"


def stale(self: object, path: str, keys: object = None) -> ConfigData:
    return ConfigData({"k": CANARY}, timedelta(seconds=1), stale=path == "old")


def test_check_tells_stale_from_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EnvVarConfigProvider, "get", stale)
    Path("in.properties").write_text("a=${env:old:k}\nb=${env:new:k}\nc=${env:old:no}\n")

    code, out, err = run("in.properties", "--check")

    assert code == 1
    assert [line.split()[3] for line in out.splitlines()[1:]] == ["stale", "found", "missing"]
    assert CANARY not in out + err


def test_stale_values_are_used_and_their_config_keys_are_named_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EnvVarConfigProvider, "get", stale)
    Path("in.properties").write_text("a=${env:old:k}\nb=${env:new:k}\nc=${env:old:k}\n")

    code, out, err = run("in.properties")

    assert code == 0
    assert set(properties.loads(out).values()) == {CANARY}
    assert err == "resolve-config: stale values, since a backend failed: a, c\n"


VAULT = "config.providers=v,s\nconfig.providers.v.class=vault\nconfig.providers.s.class={}\n"


def test_policy_prints_what_vault_must_allow(run: Run) -> None:
    settings = VAULT.format("file")
    Path("in.properties").write_text(f"{settings}a=${{v:kv/data/db:k}}\nb=${{s:f:k}}\n")

    code, out, err = run("in.properties", "--policy")

    assert (code, err) == (0, "")
    assert out == 'path "kv/data/db" {\n  capabilities = ["read"]\n}\n'


def test_policies_of_several_providers_stand_under_their_names(run: Run) -> None:
    settings = VAULT.format("secretsmanager")
    Path("in.properties").write_text(f"{settings}a=${{v:kv/data/db:k}}\nb=${{s:db:k}}\n")

    code, out, _ = run("in.properties", "--policy")

    iam, hcl = out.removeprefix("# s\n").split("\n# v\n")
    assert code == 0
    assert json.loads(iam)["Statement"][0]["Action"] == "secretsmanager:GetSecretValue"
    assert hcl.startswith("path ")


class Policies(EnvVarConfigProvider):
    """Has the path for a policy, or raises what it names."""

    def policy(self, lookups: Mapping[str, object], *, online: bool = False) -> str:
        (path,) = lookups
        if path == "number":
            return 5  # type: ignore[return-value]  # The mistake this is about.
        error = {"wrong": ConfigException("no such setting"), "bug": RuntimeError(CANARY)}.get(path)
        if path == "refused":
            error = LookupDenied("it is refused")
        if error:
            raise error
        return f"may read {path}\n"


@pytest.mark.parametrize(
    ("path", "expected", "reason"),
    [
        ("wrong", 2, "no such setting"),
        ("refused", 1, "it is refused"),
        ("bug", 2, "Policies raised RuntimeError"),
        ("number", 2, "the provider returned int, not the text of a policy"),
    ],
)
def test_a_provider_that_cannot_say_its_policy_is_named_and_the_others_are_printed(
    run: Run, path: str, expected: int, reason: str
) -> None:
    Path("in.properties").write_text(
        f"config.providers=p,q\nconfig.providers.p.class={__name__}:Policies\n"
        f"config.providers.q.class={__name__}:Policies\na=${{p:{path}:k}}\nb=${{q:db:k}}\n"
    )

    code, out, err = run("in.properties", "--policy")

    assert (code, out) == (expected, "# q\nmay read db\n")
    assert err == f"resolve-config: provider 'p': {reason}\n"


def test_of_several_failing_policies_the_worst_counts(run: Run) -> None:
    Path("in.properties").write_text(
        f"config.providers=p,q\nconfig.providers.p.class={__name__}:Policies\n"
        f"config.providers.q.class={__name__}:Policies\na=${{p:refused:k}}\nb=${{q:bug:k}}\n"
    )

    code, out, err = run("in.properties", "--policy")

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("option", [[], ["--check"], ["--policy"], ["--plan"], ["--", "true"]])
@pytest.mark.parametrize(
    "method", ["configure", "locate", "batches", "get", "get_many", "policy", "close", "__init__"]
)
@pytest.mark.parametrize("cache", ["0", "60000"])
def test_no_exception_of_a_provider_is_a_traceback_or_tells_its_text(
    run: Run, monkeypatch: pytest.MonkeyPatch, method: str, option: list[str], cache: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(Policies, method, fail)
    monkeypatch.setattr("os.execvpe", lambda *_: sys.exit(0))
    monkeypatch.setattr("signal.signal", lambda *_: None)
    Path("in.properties").write_text(
        f"config.providers=p\nconfig.providers.p.class={__name__}:Policies\n"
        f"config.providers.p.param.max.stale.ms={cache}\na=${{p:HOME}}\n"
    )

    code, out, err = run("in.properties", *option)

    assert code in {0, 1, 2}
    assert CANARY not in out + err


def test_policy_of_a_config_that_needs_none_says_so(run: Run) -> None:
    code, out, err = run("job.properties", "--policy")

    assert (code, out) == (0, "")
    assert "no provider of this config has a backend with policies" in err


def test_check_is_content_when_all_is_found(run: Run) -> None:
    code, out, err = run("job.properties", "--check")

    assert (code, err) == (0, "")
    assert out.count("found") == 2


def test_plan_asks_nothing(run: Run) -> None:
    Path("secrets.properties").unlink()

    code, out, err = run("job.properties", "--plan")

    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == [
        "file",
        "secrets.properties",
        "password",
        "spark.hadoop.fs.s3a.secret.key",
    ]


def test_plan_says_what_nobody_can_be_asked_for(run: Run) -> None:
    Path("in.properties").write_text("a=${vault:x:y}\n")

    code, _, err = run("in.properties", "--plan")

    assert code == 1
    assert "no config provider named 'vault' is configured; there are: " in err
