"""A Kafka broker of the tests' own: one node in KRaft mode."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.jars import KAFKA_BROKER, jar
from servers.missing import missing
from servers.processes import LOOPBACK, free_port, run, serving

_API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)  # Key, version, correlation id, no client id.
_CLUSTER = "Y29uZmlncHJvdmlkZXJzIQ"  # Any 16 bytes; some that are random look like an option.
_MEMORY = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
controller.listener.names=CONTROLLER
log.dirs={place}/data
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


@dataclass(frozen=True, slots=True)
class KafkaBroker:
    """Where the broker is. It makes topics of one partition when they are first used."""

    port: int
    host: str = LOOPBACK

    @property
    def bootstrap_servers(self) -> str:
        """What clients take."""
        return f"{self.host}:{self.port}"

    def answers(self) -> bool:
        """Ask which requests it takes; tell whether it says so."""
        try:
            with socket.create_connection((self.host, self.port), timeout=5) as connection:
                connection.sendall(struct.pack(">i", len(_API_VERSIONS)) + _API_VERSIONS)
                answer = connection.recv(10)
        except OSError:
            return False
        return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)  # Id, no error.


@contextmanager
def kafka_broker(directory: Path | None = None) -> Iterator[KafkaBroker]:
    """Run a broker in *directory*, by default one that is removed afterwards; stop it then."""
    java, class_path = _java(), _class_path()
    with tempfile.TemporaryDirectory(dir=directory) as place:
        broker = KafkaBroker(free_port())
        settings = Path(place, "server.properties")
        settings.write_text(
            _SETTINGS.format(
                host=broker.host, port=broker.port, controller=free_port(), place=place
            )
        )
        main = [java, *_MEMORY, "-cp", class_path]
        run([*main, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)])
        command = [*main, "kafka.Kafka", str(settings)]
        with serving(command, Path(place, "log")) as process:
            process.wait_until(broker.answers, seconds=60)
            yield broker


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else shutil.which("java") or missing("java")


def _class_path() -> str:
    import pyspark

    ours = [str(jar(each)) for each in KAFKA_BROKER]
    return os.pathsep.join([*ours, str(Path(pyspark.__file__).with_name("jars") / "*")])
