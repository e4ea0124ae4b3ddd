"""The job of the leak test: it gives secrets to all that takes some, and shows what can be seen.

It reads from PostgreSQL and writes to it, runs a stream, uses secrets in tasks and fails in the
usual ways. How a secret comes to where it is used is a :class:`Delivery`: PySpark's own way in
``job_plain.py``, ours in ``job_ours.py``. What the job sees of itself goes into a folder for each
surface. Before it ends it waits, so that others can look at it while it runs.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark.leaks.delivery import Delivery
from spark.leaks.spec import CONFS, DRIVER, LATE_CONFS, LATE_HADOOP, TASK_SECRETS, Spec, digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WAITING = 600  # For a machine with much else to do.
EXPLAINS = ("simple", "extended", "codegen", "cost", "formatted")


@dataclass(slots=True)
class Job:
    """A job that runs."""

    spec: Spec
    delivery: Delivery = field(repr=False)
    spark: SparkSession = field(repr=False)
    arrived: dict[str, bool] = field(default_factory=dict)

    def see(self, surface: str, *texts: object) -> None:
        """Write down what *surface* shows."""
        folder = Path(self.spec.seen, surface)
        folder.mkdir(exist_ok=True)
        folder.joinpath(str(len(list(folder.iterdir())))).write_text("\n".join(map(str, texts)))

    def check(self, name: str, value: object) -> None:
        """Note whether *value* is the secret of that *name*."""
        self.arrived[name] = digest(str(value)) == self.spec.digests[name]

    def reader(self, role: str, options: Mapping[str, str], **more: str) -> Any:
        """Return a JDBC reader for *role*."""
        return self.spark.read.format("jdbc").options(**self.jdbc(role), **more).options(**options)

    def writer(self, frame: DataFrame, role: str, table: str, options: Mapping[str, str]) -> Any:
        """Return a JDBC writer for *role* that adds to *table*."""
        writer = frame.write.format("jdbc").mode("append").options(**self.jdbc(role))
        return writer.options(dbtable=table, **options)

    def jdbc(self, role: str) -> dict[str, str]:
        """Return what *role* needs besides a password."""
        return {"url": self.spec.url, "driver": DRIVER, "user": self.spec.user(role)}


def main(make: Callable[[str], Delivery]) -> None:
    """Run the job that the file on the command line describes."""
    spec = Spec(**json.loads(Path(sys.argv[1]).read_text()))
    debug = Path(spec.seen, "logging of Python at DEBUG")
    debug.mkdir()
    logging.basicConfig(level=logging.DEBUG, filename=debug / "0", force=True)
    logging.getLogger("job").debug("the beacon is %s", spec.beacon)
    delivery = make(spec.secrets)
    job = Job(spec, delivery, delivery.session(spec))
    with tempfile.NamedTemporaryFile("w", prefix="leaks-job-") as file:
        file.write(spec.beacon)
        file.flush()
        _run(job, file.name)
        _wait_while_others_look(job)
    Path(spec.seen, "arrived").write_text(json.dumps(job.arrived))
    delivery.close()
    job.spark.stop()
    _unpack_event_logs(spec)


def _run(job: Job, file: str) -> None:
    _set(job)
    job.spark.sparkContext.addFile(file)  # Spark reports its environment again, Hadoop's included.
    for step in (_tasks, _jdbc, _catalog, _stream, _failures, _shown):
        step(job)


def _set(job: Job) -> None:
    context = job.spark.sparkContext
    context.setJobDescription(job.spec.beacon)
    job.delivery.set_late(job.spark)
    hadoop = context._jsc.hadoopConfiguration()
    for key, name in CONFS.items():
        bare = key.removeprefix("spark.hadoop.")
        job.check(name, hadoop.get(bare) if bare != key else job.spark.conf.get(key))
    for key, name in LATE_CONFS.items():
        job.check(name, job.spark.conf.get(key))
    for key, name in LATE_HADOOP.items():
        job.check(name, hadoop.get(key))


def _tasks(job: Job) -> None:
    from pyspark import StorageLevel

    beacon = job.spec.beacon
    keys = {name: job.delivery.task_secret(job.spark, name) for name in TASK_SECRETS}

    def digests(_: object) -> dict[str, str]:
        from hashlib import sha256

        sys.stderr.write(f"{beacon}\n")
        sys.stderr.flush()
        return {name: sha256(str(key()).encode()).hexdigest() for name, key in keys.items()}

    for found in job.spark.sparkContext.parallelize(range(2), 2).map(digests).collect():
        for name, value in found.items():
            job.arrived[name] = value == job.spec.digests[name]
    kept = job.spark.sparkContext.parallelize([beacon] * 10, 2).setName(beacon)
    kept.persist(StorageLevel.DISK_ONLY).count()
    job.see("RDD.toDebugString", kept.toDebugString().decode())  # type: ignore[union-attr]  # It is there.


def _jdbc(job: Job) -> None:
    options = job.delivery.options(password="reader_password", passphrase="reader_passphrase")
    orders = job.reader("reader", options, dbtable="orders").load()
    for mode in EXPLAINS:
        job.see(f"explain: {mode}", _printed(functools.partial(orders.explain, mode=mode)))
    job.arrived["reader_password"] = orders.cache().count() == 1
    options = job.delivery.options(password="writer_password", passphrase="writer_passphrase")
    job.writer(orders, "writer", "written", options).save()
    written = job.reader("writer", options, dbtable="written").load()
    job.arrived["writer_password"] = written.count() == 1
    orders.write.json(f"{job.spec.folder}/output")


def _catalog(job: Job) -> None:
    spark = job.spark
    job.delivery.create_view(job)
    statement = job.delivery.table(job)
    job.see("explain: DDL", _rows(spark.sql(f"EXPLAIN EXTENDED {statement}")))
    spark.sql(statement)
    job.arrived["table_password"] = spark.table("orders_table").count() == 1
    job.arrived["v2_catalog_password"] = spark.table("pg.public.orders").count() == 1
    job.see("SHOW CREATE TABLE", _rows(spark.sql("SHOW CREATE TABLE orders_table")))
    job.see("DESCRIBE EXTENDED", _rows(spark.sql("DESCRIBE EXTENDED orders_table")))
    job.see("SHOW TBLPROPERTIES", _rows(spark.sql("SHOW TBLPROPERTIES orders_table")))
    job.see("DESCRIBE of a view", _rows(spark.sql("DESCRIBE EXTENDED orders_view")))


def _stream(job: Job) -> None:
    def write(batch: DataFrame, _: int) -> None:
        options = job.delivery.batch_options(password="batch_password")
        job.writer(batch, "streamer", "streamed", options).save()

    def refuse(batch: DataFrame, _: int) -> None:
        options = job.delivery.batch_options(password="batch_password")
        raise PermissionError(f"{job.spec.beacon}: refused with {options['password']}")

    query = _start(job, "good", write)
    query.awaitTermination()
    job.see("progress of a stream", json.dumps(query.recentProgress, default=str), query.status)
    job.see("explain: stream", _printed(lambda: query.explain(extended=True)))
    options = job.delivery.options(password="batch_password")
    streamed = job.reader("streamer", options, dbtable="streamed").load()
    job.arrived["batch_password"] = streamed.count() == 2
    failing = _start(job, "bad", refuse)
    _fail(job, "foreachBatch", failing.awaitTermination)
    job.see("exception: foreachBatch", failing.exception())


def _start(job: Job, name: str, function: Callable[[DataFrame, int], None]) -> Any:
    source = job.spark.readStream.schema("id int").options(**job.delivery.source_options())
    rows = source.json(f"{job.spec.folder}/input-{job.spec.beacon}")
    sink = rows.writeStream.queryName(f"{name}-{job.spec.beacon}")
    checkpoint = f"{job.spec.folder}/checkpoints/{name}"
    sink = sink.foreachBatch(job.delivery.batch(function)).option("checkpointLocation", checkpoint)
    return sink.trigger(availableNow=True).start()


def _failures(job: Job) -> None:
    def log_in() -> None:
        where = job.spec.beacon
        options = job.delivery.options(password="wrong_password")
        job.reader("reader", options, dbtable=where).load()

    def connect() -> None:
        url = job.delivery.url(job.spec.url.replace("/c", ":a/c"))
        options = job.delivery.options(password="url_password")
        job.reader("reader", options, dbtable="orders").option("url", url).load()

    def find_table() -> None:
        options = job.delivery.options(password="reader_password")
        job.reader("reader", options, dbtable=job.spec.beacon).load()

    def parse() -> None:
        where = job.spec.beacon
        options = job.delivery.options(key="statement")
        job.spark.sql(f"SELEC '{where}' FROM t WHERE key = '{options['key']}'")

    def run_task() -> None:
        from pyspark.sql.functions import udf

        where = job.spec.beacon
        key = job.delivery.task_secret(job.spark, "task_closure")

        @udf
        def refuse(_: object) -> str:
            raise PermissionError(f"{where}: refused with {key()}")

        job.spark.range(1).select(refuse("id")).collect()

    for name, action in {
        "wrong password": log_in,
        "malformed URL": connect,
        "missing table": find_table,
        "SQL syntax": parse,
        "UDF": run_task,
    }.items():
        _fail(job, name, action)


def _fail(job: Job, name: str, action: Callable[[], object]) -> None:
    """Show how *action* fails."""
    try:
        action()
    except Exception as error:  # noqa: BLE001  Whatever it is, it is shown.
        shown = traceback.format_exception(error)
        job.see(f"exception: {name}", error, repr(error), "".join(shown), vars(error))
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        job.see(f"traceback with locals: {name}", "".join(told.format()))
    else:
        raise RuntimeError(f"{name}: nothing failed")


def _shown(job: Job) -> None:
    spark, context = job.spark, job.spark.sparkContext
    job.see("SET", _rows(spark.sql("SET")))
    job.see("SET -v", _rows(spark.sql("SET -v")))
    job.see("SparkConf.toDebugString", context.getConf().toDebugString())
    job.see("SparkConf.getAll", context.getConf().getAll())
    job.see("spark.conf.getAll", spark.conf.getAll)
    substituted = "SELECT '${spark.leaks.beacon}', '${spark.my.dsn}', '${spark.late.password}'"
    job.see("SELECT '${key}'", spark.sql(substituted).columns)
    entries = context._jsc.hadoopConfiguration().iterator()
    hadoop = {}
    while entries.hasNext():
        entry = entries.next()
        hadoop[entry.getKey()] = entry.getValue()
    job.see("hadoopConfiguration()", hadoop)
    java: Any = context._jvm
    job.see("system properties of the JVM", java.System.getProperties().toString())


def _printed(action: Callable[[], object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        action()
    return out.getvalue()


def _rows(frame: DataFrame) -> str:
    return "\n".join(map(str, frame.collect()))


def _wait_while_others_look(job: Job) -> None:
    """Say where the UI is, and go on when others have looked at it, or never will."""
    context = job.spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    unfinished = Path(job.spec.seen, "address.part")
    unfinished.write_text(str(context.uiWebUrl))
    unfinished.rename(unfinished.with_suffix(""))
    end = time.monotonic() + WAITING
    while time.monotonic() < end and not Path(job.spec.seen, "looked").exists():
        time.sleep(0.05)


def _unpack_event_logs(spec: Spec) -> None:
    """Have the JVM unpack them: Python cannot, before 3.14."""
    from pyspark import SparkContext

    java: Any = SparkContext._jvm
    options = SparkContext._gateway.new_array(java.java.nio.file.CopyOption, 0)  # type: ignore[union-attr]  # It runs.
    for number, file in enumerate(Path(spec.folder, "events").rglob("*.zstd")):
        packed = java.java.io.FileInputStream(str(file))
        unpacked = java.com.github.luben.zstd.ZstdInputStream(packed)
        target = java.java.io.File(f"{spec.seen}/events-{number}").toPath()
        java.java.nio.file.Files.copy(unpacked, target, options)
        unpacked.close()
