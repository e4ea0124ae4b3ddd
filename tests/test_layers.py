"""The house of the architecture: a module imports only from those that stand above it here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import configproviders

FLOORS = [
    ["errors", "data", "properties", "formats", "fields", "path_options"],  # words
    ["reference"],
    ["config_def", "provider", "plan"],  # contracts and decisions
    ["lookups", "transformer", "single_flight", "known_values"],  # doing
    ["cache_settings", "cache_entry", "cache_memory", "cache"],
    ["providers._allowed_paths", "providers._files"],
    ["providers.env", "providers.file", "providers.directory"],
    ["providers.vault.settings", "providers.vault.lifetimes", "providers.vault.health"],
    ["providers.vault.environment", "providers.vault.policy"],
    ["providers.vault.event", "providers.vault.websocket"],
    ["providers.vault.transport", "providers.vault.client", "providers.vault.event_source"],
    ["providers.vault.auth", "providers.vault.mounts", "providers.vault.keeper"],
    ["providers.vault.session", "providers.vault.leases", "providers.vault.connection"],
    ["providers.vault.events", "providers.vault.provider", "providers.vault"],
    ["providers.aws.arn", "providers.aws.queue_url", "providers.aws.settings"],
    ["providers.aws.references", "providers.aws.contents", "providers.aws.policy"],
    ["providers.aws.failures", "providers.aws.answers", "providers.aws.transport"],
    ["providers.aws.session", "providers.aws.queue", "providers.aws.events"],
    ["providers.aws.patience", "providers.aws.listener", "providers.aws.provider"],
    ["providers.aws.secrets_manager", "providers.aws.ssm", "providers.aws"],
    ["config_file", "registry"],  # assembly and time
    ["watch.change", "watch.content", "watch.timing", "watch.agenda", "watch.location"],
    ["watch.subscription", "watch.callbacks", "watch.file_entries", "watch.file_events"],
    [
        "watch.rounds",
        "watch.state",
        "watch.looks",
        "watch.hearing",
        "watch.watcher",
        "watch",
        "watch.shared",
    ],
    ["testing"],
    ["usage"],
    ["spark.routes", "spark._resolution", "spark.cleaning", "spark.exceptions"],
    ["spark.loggers", "spark.redaction"],
    ["spark.guard", "spark.connect", "spark.delivery", "spark.options", "spark.session"],
    ["spark"],
    ["spark.executors.wire", "spark.executors.tls", "spark.executors.worker_exceptions"],
    ["spark.executors.secret", "spark.executors.texts", "spark.executors.backend"],
    ["spark.executors.client", "spark.executors.server", "spark.executors.driver"],
    ["spark.executors"],
    ["spark.live", "spark.live.authentication", "spark.live.file_systems", "spark.live.config"],
    ["spark.live.session", "spark.live.configs", "spark.live.streaming"],
    ["reports"],
    ["spark.bulk", "spark.bulk.batches", "spark.bulk.references", "spark.bulk.columns"],
    ["spark.bulk.checks", "spark.bulk.local_session", "spark.bulk.inventory"],
    ["worker.errors", "worker.status", "worker.connector"],  # the worker
    ["worker.connector_keys", "worker.config_infos", "worker.plugins", "worker.tracking"],
    ["worker.validation"],
    ["worker.connectors", "worker.connectors._directory", "worker.connectors._checkpoint"],
    ["worker.connectors._settings", "worker.connectors._query", "worker.connectors._jdbc_driver"],
    ["worker.connectors._rows_read", "worker.connectors._flow", "worker.connectors._batch"],
    ["worker.connectors._stream", "worker.connectors._validation", "worker.connectors.pipeline"],
    ["worker.connectors.jdbc", "worker.connectors.file_stream", "worker.connectors.kafka"],
    ["worker.stores", "worker.stores.memory", "worker.stores.sqlite"],
    ["worker.logs"],
    ["worker.runner", "worker.runner.failures", "worker.runner.application"],
    ["worker.runner.task_configs", "worker.runner.task", "worker.runner.job"],
    ["worker.runner.spark"],
    ["worker.entry", "worker.launches", "worker.lifecycle", "worker.commands"],
    ["worker.herder", "worker.reload"],
    ["worker.listener", "worker.response_header", "worker.worker_keys", "worker.worker_config"],
    ["worker.worker"],
    ["worker.rest.waiting", "worker.rest.previews"],
    ["worker.rest", "worker.rest.paths", "worker.rest.bodies", "worker.rest.responses"],
    ["worker.rest.failures", "worker.rest.guard", "worker.rest.headers", "worker.rest.health"],
    ["worker.rest.loggers", "worker.rest.offsets", "worker.rest.plugins", "worker.rest.metrics"],
    ["worker.rest.connectors", "worker.rest.configs", "worker.rest.pages"],
    ["worker.rest.schemas", "worker.rest.openapi", "worker.rest.app"],
    ["worker.server", "worker.__main__", "worker"],
    ["output"],  # edges
    ["cli.terminal", "cli.status_line", "cli.inputs", "cli.overwriting", "cli.on_change"],
    ["cli.session", "cli.keeper", "cli.watch_command", "cli.inventory_command"],
    ["cli", "__main__"],
]
ORDER = [module for floor in FLOORS for module in floor]
PURE = {"os", "time", "threading", "logging", "pathlib"}
ONLY_HERE = {
    "pyspark": "spark worker.runner",
    "py4j": "spark worker.runner",
    "pytest": "testing",
    "yaml": "formats output",
    "argparse": "cli worker.__main__",
    "argcomplete": "cli",
    "hvac": "providers.vault",
    "requests": "providers.vault",
    "urllib3": "providers.vault providers.aws",
    "boto3": "providers.aws providers.vault.auth",
    "botocore": "providers.aws providers.vault.auth",
    "pyarrow": "spark",
    "cryptography": "spark.executors.tls",
    "watchdog": "watch.file_events",
    "websockets": "providers.vault",
    "starlette": "worker.rest",
    "anyio": "worker.rest",
    "prometheus_client": "worker.rest.metrics",
    "uvicorn": "worker.server",
    "pythonjsonlogger": "worker.logs",
    "sqlite3": "worker.stores.sqlite",
    "logging": "testing spark providers cache watch cli worker",
}
ROOT = Path(configproviders.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what is imported for types alone."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        only_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if only_types else self.generic_visit(node)


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(file: Path) -> set[str]:
    """Return what *file* imports when it runs; modules of its own package with a leading dot."""
    package = (
        name_of(file).split(".") if file.name == "__init__.py" else name_of(file).split(".")[:-1]
    )
    found = set()
    for node in ast.walk(WithoutTypes().visit(ast.parse(file.read_text()))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            start = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            names = {f"{start}.{alias.name}".strip(".") for alias in node.names}
            found |= {f".{name if name in ORDER else start}" for name in names} - {"."}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_module_imports_only_from_those_above_it(file: Path) -> None:
    name = name_of(file)
    if name in {"__init__", "providers"}:  # Lazy names for all floors; a docstring.
        return

    below = ORDER[ORDER.index(name) :]

    assert [each for each in imports_of(file) if each.removeprefix(".") in below] == []


@pytest.mark.parametrize("name", FLOORS[0] + FLOORS[1])
def test_the_lower_floors_are_pure(name: str) -> None:
    assert imports_of(ROOT / f"{name}.py") & PURE == set()


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_foreign_package_stays_in_its_room(file: Path) -> None:
    for package, rooms in ONLY_HERE.items():
        allowed = any(f"{name_of(file)}.".startswith(f"{room}.") for room in rooms.split())
        assert allowed or package not in imports_of(file)


def test_only_the_command_line_prints_or_exits() -> None:
    for file in FILES:
        nodes = list(ast.walk(ast.parse(file.read_text())))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        edge = name_of(file).split(".")[0] in {"cli", "__main__"}
        edge = edge or name_of(file) == "worker.__main__"
        assert edge or not names & {"print", "exit", "SystemExit"}


def test_no_check_is_one_that_python_leaves_out_when_it_optimises() -> None:
    for file in FILES:
        kinds = {type(node) for node in ast.walk(ast.parse(file.read_text()))}
        assert ast.Assert not in kinds or name_of(file) == "testing"


def test_a_provider_knows_no_other_provider() -> None:
    for file in (ROOT / "providers").rglob("*.py"):
        own = f".{'.'.join(name_of(file).split('.')[:2])}."
        others = {f"{each}." for each in imports_of(file) if each.startswith(".providers.")}
        assert {each for each in others if not each.startswith((".providers._", own))} == set()
