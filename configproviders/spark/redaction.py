"""What Spark hides: its default pattern, the user's, and the exact keys that hold secrets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

REGEX = "spark.redaction.regex"
# The prefixes that Hadoop's and Hive's configuration, the metrics and environments show otherwise.
_SHOWN_AS = {
    "spark.hadoop.": "",
    "spark.hive.": "hive.",
    "spark.metrics.conf.": "",
    "spark.executorEnv.": "",
}


def add_keys(conf: Any, keys: Iterable[str], jvm: Any) -> None:
    """Have Spark redact *keys*, in every form in which it shows some, besides what it does now.

    *conf* is a ``SparkConf`` of Python or of the JVM. Spark looks for the pattern in keys and in
    values, so each key is anchored.
    """
    forms = dict.fromkeys(form for key in keys for form in _forms(key, jvm))
    if not forms:
        return
    quoted = "|".join(map(jvm.java.util.regex.Pattern.quote, forms))
    patterns = [default_pattern(jvm), conf.get(REGEX, ""), f"^(?:{quoted})$"]
    conf.set(REGEX, "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns) if pattern))


def default_pattern(jvm: Any) -> str:
    """Return what Spark redacts when nothing is set."""
    package = getattr(jvm.org.apache.spark.internal.config, "package$")
    entry = getattr(package, "MODULE$").SECRET_REDACTION_PATTERN()
    return str(entry.defaultValueString())


def _forms(key: str, jvm: Any) -> list[str]:
    prefix = next((prefix for prefix in _SHOWN_AS if key.startswith(prefix)), None)
    if prefix is None:
        return [key]
    shown = _SHOWN_AS[prefix] + key.removeprefix(prefix)
    return [key, shown, *(_names_in_hadoop(shown, jvm) if prefix == "spark.hadoop." else ())]


def _names_in_hadoop(name: str, jvm: Any) -> list[str]:
    """Return what Hadoop calls *name*: a deprecated one stands there under its new name too."""
    hadoop = jvm.org.apache.hadoop.conf.Configuration(False)  # noqa: FBT003  Without defaults.
    hadoop.set(name, "")
    entries, names = hadoop.iterator(), []
    while entries.hasNext():
        names.append(str(entries.next().getKey()))
    return names
