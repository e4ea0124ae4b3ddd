"""Java archives from Maven Central that tests and benchmarks need, kept in a cache folder.

``python3 -m servers.jars`` fetches all of them; so does ``make servers``. It takes no Maven.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CENTRAL = "https://repo1.maven.org/maven2"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "configproviders" / "jars"

KAFKA_CLIENTS = "org.apache.kafka:kafka-clients:4.1.0"
POSTGRESQL = "org.postgresql:postgresql:42.7.7"

# What each must be, by its coordinates: ``<group>:<artifact>:<version>``.
SHA256 = {
    coordinates: sha256
    for sha256, coordinates in map(
        str.split, Path(__file__).with_suffix(".sha256").read_text().splitlines()
    )
}


def _of(*groups: str) -> list[str]:
    return [each for each in SHA256 if each.startswith(groups)]


# What Ivy fetches for ``examples/spark_s3a.py``, less what Spark brings: not AWS's whole bundle.
S3A = _of("org.apache.hadoop:", "org.reactivestreams:", "software.amazon.")
# What Spark needs for the format ``kafka``, less what it brings. Maven Central has no release of
# the token provider that is as new as the source.
SPARK_KAFKA = [*_of("org.apache.spark:", "org.apache.commons:"), KAFKA_CLIENTS]
# What the broker needs, less what Spark brings too. It uses no OAuth and no remote storage.
KAFKA_BROKER = _of(
    "com.google.re2j:",
    "com.typesafe.scala-logging:",
    "com.yammer.metrics:",
    "commons-validator:",
    "net.sf.jopt-simple:",
    "net.sourceforge.argparse4j:",
    "org.apache.kafka:",
    "org.hdrhistogram:",
    "org.pcollections:",
)


def jar(coordinates: str) -> Path:
    """Return the file of *coordinates*, one of those in ``SHA256``.

    Without it and without a network the test is skipped, or fails in CI.
    """
    from servers.missing import missing

    try:
        return fetched(coordinates)
    except OSError as error:
        missing(f"{coordinates} ({error})")


def fetched(coordinates: str) -> Path:
    """Return the same; raise :class:`OSError` without a network.

    What is not what it was is a :class:`ValueError`, and is not kept.
    """
    group, artifact, version = coordinates.split(":")
    sha256 = SHA256[coordinates]
    file = CACHE / f"{artifact}-{version}.jar"
    if not file.exists():
        _fetch(
            f"{CENTRAL}/{group.replace('.', '/')}/{artifact}/{version}/{file.name}", file, sha256
        )
    return file


def _fetch(url: str, file: Path, sha256: str) -> None:
    with urllib.request.urlopen(url, timeout=60) as answer:
        content: bytes = answer.read()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(f"{url} has the SHA-256 {found} instead of {sha256}")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        part.write(content)
    os.replace(part.name, file)  # Several processes may fetch it at once.


if __name__ == "__main__":
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fetched, SHA256))
