"""Two streams and a loop of batches in one Spark application, whose password is rotated meanwhile.

All log in to PostgreSQL as one role. Its password is changed there first, then in Vault, then in a
file, with pauses between: who logs in meanwhile is refused, and what the stores say is wrong.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from servers.postgres import Postgres
from servers.vault import Vault

from configproviders import properties
from configproviders.spark import LiveConfigs, retrying, run_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LONGEST = 60.0
TABLES = """
CREATE TABLE {role}_staging (n bigint, batch bigint);
CREATE TABLE {role}_orders (n bigint PRIMARY KEY, batch bigint);
CREATE TABLE {role}_kinds (kind bigint, name text);
INSERT INTO {role}_kinds SELECT kind, 'kind ' || kind FROM generate_series(0, 9) kind;
"""


@dataclass
class Stores:
    """Where the password is: the database, a Vault and a file; and the hand that changes it."""

    database: Postgres
    vault: Vault
    mount: str
    file: Path
    role: str = field(default_factory=lambda: f"orders_{secrets.token_hex(4)}")

    def prepare(self) -> None:
        """Make the role and what it owns."""
        with self._administrator() as connection:
            role = sql.Identifier(self.role)
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            for statement in TABLES.format(role=self.role).strip().split("\n"):
                connection.execute(statement.encode())
            for table in ("staging", "orders", "kinds"):
                name = sql.Identifier(f"{self.role}_{table}")
                change = sql.SQL("ALTER TABLE {} OWNER TO {}")
                connection.execute(change.format(name, role))
        self.rotate()

    def rotate(self, pauses: tuple[float, float] = (0, 0)) -> None:
        """Change the password in one place after the other, with *pauses* in seconds."""
        password = secrets.token_urlsafe(18)
        with self._administrator() as connection:
            connection.pgconn.change_password(self.role.encode(), password.encode())
        time.sleep(pauses[0])
        self.vault.put(self.mount, "orders", {"user": self.role, "password": password})
        time.sleep(pauses[1])
        spare = self.file.with_suffix(".new")
        spare.write_text(properties.dumps({"user": self.role, "password": password}))
        spare.replace(self.file)

    def _administrator(self) -> psycopg.Connection[Any]:
        dsn = self.database.dsn(self.database.superuser, self.database.password)
        return psycopg.connect(dsn, autocommit=True)

    def rows(self) -> list[int]:
        """Return what is in the table that the stream writes to."""
        with self._administrator() as connection:
            table = sql.Identifier(f"{self.role}_orders")
            found = connection.execute(sql.SQL("SELECT n FROM {} ORDER BY n").format(table))
            return [row[0] for row in found]

    def options(self, place: str) -> dict[str, str]:
        """Return the options of JDBC with references to one of the stores."""
        stores = {"vault": f"vault:{self.mount}/data/orders", "file": f"file:{self.file}"}
        url = f"jdbc:postgresql://{self.database.host}:{self.database.port}/postgres"
        of_store = {key: f"${{{stores[place]}:{key}}}" for key in ("user", "password")}
        return {"url": url, "driver": "org.postgresql.Driver", **of_store}

    def providers(self) -> dict[str, str]:
        """Return the settings of the providers; Vault is asked anew once an hour."""
        token = self.vault.token(self.vault.allow(f"{self.mount}/data/orders"))
        return {
            "config.providers": "vault,file",
            "config.providers.file.class": "file",
            "config.providers.vault.class": "vault",
            "config.providers.vault.param.vault.addr": self.vault.address,
            "config.providers.vault.param.vault.token": token,
            "config.providers.vault.param.poll.interval.ms": "3600000",
        }


class Jobs:
    """Three users of the password, what they have done, and what has gone wrong."""

    def __init__(self, spark: SparkSession, live: LiveConfigs, stores: Stores, place: Path) -> None:
        self._spark, self._stores, self._place = spark, stores, place
        self.from_vault = live.options(stores.options("vault"))
        self.from_file = live.options(stores.options("file"))
        self.fed = 0
        self.done = Counter[str]()
        self.refused = Counter[str]()
        # The revision of the password with which the last batch of each was done.
        self._logged_in = {"upserts": -1, "reads": -1}
        self._copying = 0, -1  # How many batches there were at the start, and its revision.
        self.failures: list[str] = []
        self._over = threading.Event()
        for name in ("in", "checkpoint", "out"):
            (place / name).mkdir()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run all of them, and in the end what is left to do."""
        jobs = (self._feed, self._read, self._copy)
        threads = [threading.Thread(target=self._guarded, args=(job,), daemon=True) for job in jobs]
        upsert = retrying(self._upsert, self.from_vault)
        query = self._stream().writeStream.foreachBatch(upsert).queryName("upsert")
        upserting = query.option("checkpointLocation", str(self._place / "upserting")).start()
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            threads[0].join()
            threads[1].join()
            upserting.processAllAvailable()
            self.done["queries active"] = len(self._spark.streams.active)
            for each in self._spark.streams.active:
                each.processAllAvailable()
                each.stop()
            threads[2].join()

    def settle(self, revision: int) -> None:
        """Wait until each of them has done a batch with that *revision* of the password."""
        end = time.monotonic() + LONGEST
        while not self._is_settled(revision):
            if time.monotonic() > end or self.failures:
                raise TimeoutError(f"{self.failures}: {self._logged_in} {self._copying}")
            time.sleep(0.01)

    def _is_settled(self, revision: int) -> bool:
        before, started_with = self._copying
        copied = started_with == revision and self.copies() > before
        return copied and set(self._logged_in.values()) == {revision}

    def copies(self) -> int:
        """Return how many batches the file sink has got; Spark keeps the last hundred names."""
        commits = (self._place / "checkpoint" / "commits").glob("[0-9]*")
        return max((int(each.name) + 1 for each in commits), default=0)

    def copied(self) -> list[int]:
        """Return what the file sink has."""
        frame = self._spark.read.parquet(str(self._place / "out"))
        return sorted(row.n for row in frame.select("n").collect())

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  It is reported.
            self.failures.append(f"{job.__name__}: {type(error).__name__}: {error}"[:2000])

    def _feed(self) -> None:
        while not self._over.wait(0.15):
            lines = "".join(f'{{"n": {self.fed + n}}}\n' for n in range(10))
            part = self._place / "part"
            part.write_text(lines)
            part.replace(self._place / "in" / f"{self.fed:09}")
            self.fed += 10

    def _stream(self) -> DataFrame:
        return self._spark.readStream.schema("n long").json(str(self._place / "in"))

    def _table(self, name: str) -> str:
        return f"{self._stores.role}_{name}"

    def _upsert(self, frame: DataFrame, batch: int) -> None:
        """Write a batch twice over without harm: a staging table, and one transaction."""
        revision, options = self.from_vault.revision, self.from_vault()
        self.refused["upserts"] += 1
        rows = frame.selectExpr("n", f"{batch} AS batch").write.format("jdbc").options(**options)
        rows = rows.option("dbtable", self._table("staging")).option("truncate", value=True)
        rows.mode("overwrite").save()
        dsn = self._stores.database.dsn(options["user"], options["password"])
        with psycopg.connect(dsn) as connection:
            connection.execute(
                sql.SQL("INSERT INTO {} SELECT * FROM {} ON CONFLICT DO NOTHING").format(
                    *map(sql.Identifier, (self._table("orders"), self._table("staging")))
                )
            )
        self.refused["upserts"] -= 1
        self.done["upserts"] += 1
        self._logged_in["upserts"] = revision

    def _read(self) -> None:
        def count() -> None:
            revision = self.from_file.revision
            self.refused["reads"] += 1
            reader = self._spark.read.format("jdbc").options(**self.from_file())
            reader.option("dbtable", self._table("orders")).load().count()
            self.refused["reads"] -= 1
            self.done["reads"] += 1
            self._logged_in["reads"] = revision

        patient = retrying(count, self.from_file)
        while not self._over.wait(0.05):
            patient()

    def _copy(self) -> None:
        run_query(self._start_copy, self.from_file)

    def _start_copy(self) -> StreamingQuery:
        """Start what logs in for each batch with the options that it was started with."""
        self.done["starts"] += 1
        self._copying = self.copies(), self.from_file.revision
        reader = self._spark.read.format("jdbc").options(**self.from_file())
        kinds = reader.option("dbtable", self._table("kinds")).load()
        joined = self._stream().selectExpr("n", "n % 10 AS kind").join(kinds, "kind")
        writer = joined.writeStream.queryName("copy").format("parquet")
        writer = writer.option("checkpointLocation", str(self._place / "checkpoint"))
        return writer.start(str(self._place / "out"))


def main(
    database: dict[str, Any], vault: dict[str, Any], *, mount: str, jar: str, rotations: int
) -> None:
    """Run all, and print what came of it."""
    from pyspark.sql import SparkSession

    place = Path.cwd() / "place"
    place.mkdir()
    stores = Stores(Postgres(**database), Vault(**vault), mount, place / "orders.properties")
    stores.prepare()
    chance = Random(1)
    confs = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.extraClassPath": jar,
        "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "OFF",
    }
    with LiveConfigs({**confs, **stores.providers()}) as live:
        spark = live.create_session(SparkSession.builder)
        jobs = Jobs(spark, live, stores, place)
        seconds = []
        with jobs.running():
            jobs.settle(0)
            for number in range(1, rotations + 1):
                longest = 2.5 if number % 10 == 5 else 0.4
                stores.rotate((longest * chance.random(), longest * chance.random()))
                start = time.monotonic()
                jobs.settle(number)
                seconds.append(time.monotonic() - start)
        report = {
            "fed": jobs.fed,
            "upserted": stores.rows(),
            "copied": jobs.copied(),
            "done": jobs.done,
            "refused": jobs.refused,
            "failures": jobs.failures,
            "seconds": seconds,
        }
        spark.stop()
    print(json.dumps(report))  # noqa: T201  This is what the test reads.
