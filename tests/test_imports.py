from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"pyspark", "py4j", "hvac", "requests", "boto3", "botocore", "yaml", "watchdog"}
HEAVY |= {"pytest", "pandas", "pyarrow", "argcomplete", "websockets"}


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.split())


def test_importing_the_package_loads_next_to_nothing() -> None:
    added = modules_after("import configproviders") - modules_after("pass")

    assert len(added) <= 60
    assert not added & (HEAVY | {"asyncio", "json", "logging"})


@pytest.mark.parametrize(
    "module",
    [
        "transformer",
        "registry",
        "cli",
        "spark",
        "cache",
        "watch",
        "providers.vault",
        "providers.aws",
    ],
)
def test_no_module_loads_an_sdk(module: str) -> None:
    assert not modules_after(f"import configproviders.{module}") & HEAVY


def test_all_public_names_together_load_no_sdk() -> None:
    assert not modules_after("from configproviders import *") & (HEAVY | {"asyncio"})


def test_the_module_properties_is_there_after_the_package_alone() -> None:
    modules_after("import configproviders; configproviders.properties.loads('a=b')")
