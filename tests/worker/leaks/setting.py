"""Where a worker lives that has secrets from everywhere: its folders, and who keeps its secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.jars import POSTGRESQL, jar
from servers.postgres import Postgres
from servers.processes import free_port
from servers.vault import Vault
from spark.leaks.canaries import Findings, random_text
from worker.leaks.talkative import HADOOP_KEY, digest
from worker.workers import entries

from configproviders import properties

ROTATIONS = 2
ROTATED = ("database", "talk")
SECRETS = (
    *(f"{name} {number}" for name in ROTATED for number in range(ROTATIONS + 1)),
    *("vault token", "hadoop", "wrong password", "no number", "refused", "in a name"),
)
CLASSES = "worker.leaks.talkative"
_LOG4J2 = """
rootLogger.level = {level}
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = {level}
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n%ex
"""


@dataclass(frozen=True)
class Setting:
    """Folders below *root*: ``given`` is what the worker is told, in ``run`` it lives."""

    root: Path
    findings: Findings
    database: Postgres
    vault: Vault
    mount: str
    ui_port: int
    is_long: bool

    @classmethod
    def at(cls, root: Path, database: Postgres, vault: Vault, *, is_long: bool) -> Setting:
        """Make all that the worker needs; if it *is_long*, log4j is at DEBUG, and has a UI."""
        canaries = {name: random_text() for name in SECRETS}
        findings = Findings(canaries, random_text())
        setting = cls(
            root, findings, database, vault, vault.mount(version="2"), free_port(), is_long
        )
        for folder in ("given", "run/conf", "run/events", "run/notes", "run/in-" + findings.beacon):
            (root / folder).mkdir(parents=True)
        (setting.run / "conf" / "log4j2.properties").write_text(
            _LOG4J2.format(level="debug" if is_long else "info")
        )
        setting.sql(f"CREATE ROLE {setting.user} LOGIN SUPERUSER")
        setting.sql(f"CREATE TABLE {setting.table} AS SELECT 0 AS {findings.beacon}")
        setting.rotate(0)
        policy = vault.allow(f"{setting.mount}/*")
        token = vault.token(policy, id=findings.canaries["vault token"])
        (root / "given" / "token").write_text(token)
        (setting.run / "worker.properties").write_text(properties.dumps(setting.entries()))
        return setting

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def user(self) -> str:
        return f"user_{self.findings.beacon}"

    @property
    def table(self) -> str:
        return f"orders_{self.findings.beacon}"

    def value(self, name: str) -> str:
        """Return the secret of that *name*: a canary, and what other programs write otherwise."""
        return f"{self.findings.canaries[name]} '\"/%&<é"

    def file(self, name: str) -> str:
        """Return the reference to a secret in the file."""
        return f"${{file:{self.root / 'given' / 'secrets.properties'}:{name}}}"

    @property
    def in_vault(self) -> str:
        """The reference to the password of the database."""
        return f"${{vault:{self.mount}/data/orders:password}}"

    def rotate(self, number: int) -> None:
        """Give the user another password, and then tell so; change the secrets in the file."""
        password = f"{self.findings.canaries[f'database {number}']}'\"/%&<"
        quoted = password.replace("'", "''")
        self.sql(f"ALTER ROLE {self.user} PASSWORD '{quoted}'")
        self.sql(f"UPDATE {self.table} SET {self.findings.beacon} = {number}")
        row = self.run / "in" / f"{number}.json"
        row.parent.mkdir(exist_ok=True)
        row.write_text(f'{{"n": {number}}}\n')
        row.replace(self.run / f"in-{self.findings.beacon}" / row.name)
        self.vault.put(self.mount, "orders", {"password": password})
        file = self.root / "given" / "secrets.properties"
        own = {"talk": self.value(f"talk {number}")}
        names = ("hadoop", "wrong password", "no number", "in a name")
        own |= {name.replace(" ", "_"): self.value(name) for name in names}
        own["refused"] = f"{self.value('refused')} refuse-me"
        file.with_suffix(".new").write_text(properties.dumps(own))
        os.replace(file.with_suffix(".new"), file)

    def entries(self) -> dict[str, str]:
        """Return the settings of the worker."""
        vault = "config.providers.vault"
        beacon, run = self.findings.beacon, self.run
        return {
            **entries(run),
            "config.providers": "file,vault",
            "config.providers.file.param.allowed.paths": str(self.root / "given"),
            f"{vault}.class": "vault",
            f"{vault}.param.vault.addr": self.vault.address,
            f"{vault}.param.vault.token.file": str(self.root / "given" / "token"),
            f"{vault}.param.poll.interval.ms": "200",
            "plugin.allowed.modules": CLASSES,
            "response.http.headers.config": f"set X-Beacon: {beacon}",
            "spark.master": "local[2]",
            "spark.log.level": "DEBUG" if self.is_long else "INFO",
            "spark.app.name": f"worker-{beacon}",
            "spark.jars": str(jar(POSTGRESQL)),
            "spark.driver.host": "127.0.0.1",
            "spark.local.dir": f"{run}/local",
            "spark.sql.warehouse.dir": f"{run}/warehouse-{beacon}",
            "spark.sql.shuffle.partitions": "1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"{run}/events",
            "spark.eventLog.compress": "false",  # A search does not look into compressed blocks.
            "spark.broadcast.compress": "false",
            "spark.rdd.compress": "false",
            "spark.shuffle.compress": "false",
            "spark.sql.inMemoryColumnarStorage.compressed": "false",
            "spark.logConf": "true",
            "spark.ui.enabled": str(self.is_long).lower(),
            "spark.ui.port": str(self.ui_port),
            "spark.hadoop.fs.leaks.beacon": beacon,
            f"spark.hadoop.{HADOOP_KEY}": self.file("hadoop"),
            "spark.my.token": f"token {self.file('hadoop')}",
        }

    def sql(self, statement: str) -> list[Any]:
        import psycopg

        dsn = self.database.dsn(self.database.superuser, self.database.password)
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def has_used(self, number: int) -> bool:
        """Whether tasks of all connectors were started with the secrets of that *number*."""
        return (
            self._notes() == self._expected(number)
            and f'"{self.findings.beacon}":{number}}}' in self._copied()
            and (number,) in self._streamed()
        )

    def _notes(self) -> list[Mapping[str, str]]:
        return [json.loads(file.read_text()) for file in sorted(self.run.glob("notes/talk-[01]"))]

    def _expected(self, number: int) -> list[Mapping[str, str]]:
        talk, hadoop = self.value(f"talk {number}"), self.value("hadoop")
        return [{"secret": digest(talk), "hadoop": digest(hadoop)}] * 2

    def _copied(self) -> str:
        return "".join(file.read_text() for file in self.run.glob("out/*/*.json"))

    def _streamed(self) -> list[Any]:
        if self.sql(f"SELECT to_regclass('streamed_{self.table}')") == [(None,)]:
            return []
        return self.sql(f"SELECT n FROM streamed_{self.table}")

    def close(self) -> None:
        """Drop what is in the database."""
        self.sql(f"DROP TABLE IF EXISTS {self.table}, streamed_{self.table}")
        self.sql(f"DROP ROLE {self.user}")
