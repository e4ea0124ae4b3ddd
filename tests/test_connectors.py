"""Configs as real connectors have them, resolved whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from configproviders import (
    ConfigTransformer,
    DirectoryConfigProvider,
    EnvVarConfigProvider,
    FileConfigProvider,
    properties,
)
from configproviders.plan import LookupPlan
from configproviders.reference import find_all

CONNECTORS = Path(__file__).parent / "connectors"
REFERENCES = {
    "bigquery-sink": 5,
    "debezium-mysql": 7,
    "elasticsearch-sink": 9,
    "jdbc-sink": 6,
    "mongodb-source": 6,
    "s3-sink": 7,
    "snowflake-sink": 7,
}
SECRET = 'p${ä}ss: "w\\örd" of '


def store_secrets(plan: LookupPlan) -> dict[str, str]:
    """Write what *plan* asks for to files and directories; return what goes to the environment."""
    environ = {}
    for (provider, path), keys in plan.lookups.items():
        values = {key: SECRET + key for key in sorted(keys)}
        if provider == "file":
            Path(path).write_text(properties.dumps(values))
        elif provider == "directory":
            Path(path).mkdir()
            for key, value in values.items():
                Path(path, key).write_text(value)
        else:
            environ.update(values)
    return environ


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_real_config_is_resolved_and_all_else_is_kept(name: str, tmp_path: Path) -> None:
    text = (CONNECTORS / f"{name}.properties").read_text().replace("@SECRETS@", str(tmp_path))
    configs = properties.loads(text)
    providers = {"file": FileConfigProvider(), "directory": DirectoryConfigProvider()}
    names = {**providers, "env": EnvVarConfigProvider()}
    plan = ConfigTransformer(names).plan(configs)
    names["env"] = EnvVarConfigProvider(store_secrets(plan))

    result = ConfigTransformer(names).transform(configs, strict=True)

    assert len(list(plan.uses())) == REFERENCES[name]
    expected = dict(configs)
    for use in plan.uses():
        value = SECRET + use.key
        expected[use.config_key] = expected[use.config_key].replace(use.reference.text, value, 1)
    assert result.data == expected
    assert not find_all({key: configs[key] for key in configs if key not in plan.references})


def test_every_connector_is_tested() -> None:
    assert {file.stem for file in CONNECTORS.iterdir()} == set(REFERENCES)


def test_a_jaas_line_holds_two_references() -> None:
    for file in CONNECTORS.iterdir():
        configs = properties.loads(file.read_text())
        lines = {key: found for key, found in find_all(configs).items() if "jaas" in key}
        assert all(len(found) == 2 for found in lines.values())
        assert lines
