"""A standalone cluster of Spark on loopback: a Master, a Worker, and the executors it starts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.processes import LOOPBACK, Server, free_port, serving

from configproviders import properties

CORES, MEMORY = 2, "1g"
_INHERITED = ("HOME", "JAVA_HOME", "LANG", "LC_ALL")


@dataclass(frozen=True, slots=True)
class SparkCluster:
    """A running cluster of 2 cores and 1 GiB for executors; all that it writes is in *directory*.

    There are ``master.log`` and ``worker.log``, ``work/<application>/<executor>`` with what the
    executors print, ``local`` for blocks and ``tmp`` for temporary files.
    """

    master_url: str
    master_web: str
    worker_web: str
    directory: Path
    master_pid: int
    worker_pid: int

    def process_ids(self) -> list[int]:
        """List what runs now: the Master, the Worker, executors and their Python workers."""
        return _in_sessions({self.master_pid, self.worker_pid})


@contextmanager
def spark_cluster(
    directory: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    worker_conf: Mapping[str, str] | None = None,
    log4j2: Path | None = None,
) -> Iterator[SparkCluster]:
    """Run a cluster in *directory*, which stays; by default in one that is removed afterwards.

    Its environment is *environ* and little of ours, so what an executor finds there is not the
    driver's. *worker_conf* has entries for the Master and the Worker, such as
    ``spark.redaction.regex``; *log4j2* is the ``log4j2.properties`` of both and of the executors.
    A driver needs no more than the URL: executors start the Python that runs the tests.
    """
    with nullcontext(directory) if directory else tempfile.TemporaryDirectory() as place:
        home, port, web = Path(place), free_port(), free_port()
        url, master_web = f"spark://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{web}"
        env = _prepare(home, environ or {}, worker_conf or {}, log4j2)
        own = ["--port", str(port), "--webui-port", str(web)]
        share = ["--port", "0", "--webui-port", "0", "--cores", str(CORES), "--memory", MEMORY]
        pids: list[int] = []
        try:
            with (
                _daemon("master.Master", own, home / "master.log", env) as master,
                _daemon("worker.Worker", [*share, url], home / "worker.log", env) as worker,
            ):
                pids += [master.process.pid, worker.process.pid]
                master.wait_until(
                    lambda: bool(worker.process.poll() or _workers(master_web)), seconds=120
                )
                worker.wait_until(lambda: bool(_workers(master_web)))
                worker_web = _workers(master_web)[0]["webuiaddress"]
                yield SparkCluster(url, master_web, worker_web, home, *pids)
        finally:
            _end_sessions(pids)


def _prepare(
    home: Path, environ: Mapping[str, str], conf: Mapping[str, str], log4j2: Path | None
) -> dict[str, str]:
    """Make the folders and files of a cluster; return its environment."""
    import pyspark

    for name in ("conf", "local", "tmp", "work"):
        (home / name).mkdir(parents=True)
    (home / "conf" / "spark-defaults.conf").write_text(properties.dumps(conf))
    if log4j2:
        shutil.copy(log4j2, home / "conf" / "log4j2.properties")
    java = f"-Djava.io.tmpdir={home / 'tmp'}"
    return {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_TOOL_OPTIONS": f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} {java}".strip(),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(home / "conf"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(home / "local"),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_WORKER_DIR": str(home / "work"),
        "TMPDIR": str(home / "tmp"),
        **environ,
    }


def _daemon(
    name: str, arguments: list[str], log: Path, environ: Mapping[str, str]
) -> AbstractContextManager[Server]:
    spark_class = f"{environ['SPARK_HOME']}/bin/spark-class"
    command = [spark_class, f"org.apache.spark.deploy.{name}", "--host", LOOPBACK, *arguments]
    return serving(command, log, environ=environ, new_session=True)


def _workers(master_web: str) -> list[dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"{master_web}/json/", timeout=10) as answer:
            workers: list[dict[str, Any]] = json.load(answer)["workers"]
    except (OSError, ValueError):  # While it starts: nobody there, no such page, or another one.
        return []
    return [worker for worker in workers if worker["state"] == "ALIVE"]


def _end_sessions(sessions: Collection[int]) -> None:
    """Wait for what the Worker told to end; kill what does not."""
    end = time.monotonic() + 10
    while left := _in_sessions(sessions):
        if time.monotonic() > end:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _in_sessions(sessions: Collection[int]) -> list[int]:
    """List the living processes of *sessions*, which nobody leaves but by a session of his own."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = each.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):  # It has just ended.
            continue
        if int(session) in sessions and state != "Z":
            found.append(int(each.parent.name))
    return found
