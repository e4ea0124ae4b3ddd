"""What the job is told: the names of its secrets and where they go, and the rest of its conf."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

CONFS = {
    "spark.hadoop.fs.x.secret.key": "hadoop_secret_key",
    "spark.hadoop.fs.azure.account.key.x": "hadoop_account_key",
    "spark.my.dsn": "conf_dsn",
    "spark.my.token": "conf_token",
}
LATE_CONFS = {
    "spark.late.password": "late_conf",
    "spark.sql.catalog.pg.password": "v2_catalog_password",
}
LATE_HADOOP = {"fs.late.apikey": "late_hadoop"}
SOURCE_OPTIONS = {"fs.source.secret.key": "source_option"}
TASK_SECRETS = (
    "task_closure",
    "task_broadcast",
    "task_environment",
    "process_environment",
    "java_option",
)
ROLES = {
    "reader": "reader_password",
    "writer": "writer_password",
    "streamer": "batch_password",
    "cataloguer": "table_password",
    "browser": "v2_catalog_password",
}
OTHERS = (
    "reader_passphrase",
    "writer_passphrase",
    "table_passphrase",
    "statement",
    "url_password",
    "wrong_password",
)
SECRETS = {
    *(*CONFS.values(), *LATE_CONFS.values(), *LATE_HADOOP.values(), *SOURCE_OPTIONS.values()),
    *(*TASK_SECRETS, *ROLES.values(), *OTHERS),
}

DRIVER = "org.postgresql.Driver"
_V2 = "org.apache.spark.sql.execution.datasources.v2"


@dataclass(frozen=True, slots=True)
class Spec:
    """What a run of the job is told: no secret, but the file that holds them."""

    beacon: str
    master: str
    jar: str
    url: str
    secrets: str
    digests: Mapping[str, str]
    seen: str
    folder: str

    def user(self, role: str) -> str:
        """Return the name under which *role* logs in."""
        return f"{role}_{self.beacon}"

    def conf(self) -> dict[str, str]:
        """Return the entries without secrets."""
        return {
            "spark.leaks.beacon": self.beacon,
            "spark.hadoop.fs.leaks.beacon": self.beacon,
            "spark.metrics.namespace": f"job-{self.beacon}",
            "spark.executor.extraJavaOptions": f"-Dleaks.beacon={self.beacon}",
            "spark.executor.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.jars": self.jar,
            "spark.local.dir": f"{self.folder}/local",
            "spark.sql.warehouse.dir": f"{self.folder}/warehouse-{self.beacon}",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"{self.folder}/events",
            "spark.logConf": "true",
            "spark.ui.port": "0",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.catalog.pg": f"{_V2}.jdbc.JDBCTableCatalog",
            "spark.sql.catalog.pg.url": self.url,
            "spark.sql.catalog.pg.driver": DRIVER,
            "spark.sql.catalog.pg.user": self.user("browser"),
            "spark.sql.pyspark.jvmStacktrace.enabled": "true",
            "spark.sql.shuffle.partitions": "2",
            "spark.broadcast.compress": "false",  # A search does not look into compressed blocks.
            "spark.shuffle.compress": "false",
        }


def digest(value: str) -> str:
    """Return what tells a value without showing it."""
    return hashlib.sha256(value.encode()).hexdigest()
