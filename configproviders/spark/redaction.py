"""What Spark hides: its default pattern, the user's, and the exact keys that hold secrets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

REGEX = "spark.redaction.regex"
_HADOOP, _EXECUTOR_ENV = "spark.hadoop.", "spark.executorEnv."


def add_keys(conf: Any, keys: Iterable[str], jvm: Any) -> None:
    """Have Spark redact *keys*, in both forms in which it shows some, besides what it does now.

    *conf* is a ``SparkConf`` of Python or of the JVM. Spark looks for the pattern in keys and in
    values, so each key is anchored.
    """
    quoted = [jvm.java.util.regex.Pattern.quote(form) for key in keys for form in _forms(key)]
    if not quoted:
        return
    patterns = [default_pattern(jvm), conf.get(REGEX, ""), f"^(?:{'|'.join(quoted)})$"]
    conf.set(REGEX, "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns) if pattern))


def default_pattern(jvm: Any) -> str:
    """Return what Spark redacts when nothing is set."""
    package = getattr(jvm.org.apache.spark.internal.config, "package$")
    entry = getattr(package, "MODULE$").SECRET_REDACTION_PATTERN()
    return str(entry.defaultValueString())


def _forms(key: str) -> list[str]:
    # Hadoop's configuration and an executor's environment show the key without the prefix.
    bare = key.removeprefix(_HADOOP).removeprefix(_EXECUTOR_ENV)
    return [key] if bare == key else [key, bare]
