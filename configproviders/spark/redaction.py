"""What Spark hides: its default pattern, the user's, and the exact keys that hold secrets.

Never the values: a pattern made of values would itself be shown.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, cast

from ..errors import ConfigException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REGEX = "spark.redaction.regex"
OPTIONS_REGEX = "spark.sql.redaction.options.regex"
STRING_REGEX = "spark.sql.redaction.string.regex"
_SQL_CONF = "org.apache.spark.sql.internal.SQLConf"
# What Hadoop learns only when it loads the file system.
_RENAMED_LATER = {"fs.s3a.server-side-encryption-key": "fs.s3a.encryption.key"}
_lock = threading.Lock()
_options: set[str] = set()
# The prefixes that Hadoop's and Hive's configuration, the metrics and environments show otherwise.
_SHOWN_AS = {
    "spark.hadoop.": "",
    "spark.hive.": "hive.",
    "spark.metrics.conf.": "",
    "spark.executorEnv.": "",
}


def add_keys(conf: Any, keys: Iterable[str], jvm: Any) -> None:
    """Have Spark redact *keys*, in every form in which it shows some, besides what it does now.

    *conf* is a ``SparkConf`` of Python or of the JVM. Options that are known to hold secrets are
    added too. Spark looks for the pattern in keys and in values, so each key is anchored.
    """
    forms = _forms(keys, jvm)
    for entry, names in ((REGEX, forms), (OPTIONS_REGEX, [*forms, *sorted(_options)])):
        if names:
            now = [default(entry, jvm), conf.get(entry, "")]
            pattern = _either(*now, _exactly(names))
            _compiled(entry, pattern, jvm)
            conf.set(entry, pattern)


def covers(pattern: str, key: str, jvm: Any) -> bool:
    """Tell whether *pattern* has Spark hide *key* in every form in which it shows it."""
    compiled = getattr(jvm, "java.util.regex.Pattern").compile(pattern)
    return all(bool(compiled.matcher(form).find()) for form in _forms([key], jvm))


def default(entry: str, jvm: Any) -> str:
    """Return what *entry*, a setting of Spark's own, is when nothing is set."""
    getattr(jvm, _SQL_CONF).isStaticConfigKey(entry)  # It registers its entries.
    found = find_entry(entry, jvm)
    return str(found.defaultValueString())


def find_entry(key: str, jvm: Any) -> Any:
    """Return what Spark knows of *key*: its entry, or ``None`` for a key of somebody else."""
    return getattr(jvm, "org.apache.spark.internal.config.ConfigEntry").findEntry(key)


def add_options(keys: Iterable[str]) -> None:
    """Have sessions redact the options *keys* of readers and writers: that of now, and later ones.

    Spark shows the options of a writer on its pages and in the event log. A session that was made
    by ``newSession()`` before, and is not the active one, does not learn of it.
    """
    with _lock:
        _options.update(keys)
    session = active_session(remote=False)
    if session is not None and _options:
        extend_options(session)


def extend_options(session: SparkSession, pattern: str = "") -> None:
    """Have *session* redact all known options and, in their names and values, *pattern*."""
    jvm: Any = session.sparkContext._jvm
    now = str(session.conf.get(OPTIONS_REGEX))
    missing = [key for key in sorted(known_options()) if not covers(now, key, jvm)]
    more = [pattern] if pattern and pattern not in now else []
    if missing:
        more.append(_exactly(missing))
    if more:
        extended = "|".join([now if now.startswith("(?:") else _either(now), _either(*more)])
        _compiled(OPTIONS_REGEX, extended, jvm)
        session.conf.set(OPTIONS_REGEX, extended)
        context: Any = session.sparkContext._jsc
        context.sc().conf().set(OPTIONS_REGEX, extended)  # For what `newSession()` makes later.


def known_options() -> frozenset[str]:
    """Return the options that are known to hold secrets, of any reader or writer so far."""
    with _lock:
        return frozenset(_options)


def active_session(*, remote: bool) -> SparkSession | None:
    """Return the session of this thread, or else of all, if it is of Spark Connect or not."""
    if "pyspark.sql.session" not in sys.modules:
        return None
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if is_remote() is not remote:
        return None
    if remote:
        from pyspark.sql.connect.session import SparkSession as Remote

        return cast("SparkSession | None", Remote.getActiveSession() or Remote._default_session)
    return SparkSession.getActiveSession() or SparkSession._instantiatedSession


def _exactly(names: Iterable[str]) -> str:
    return f"^(?i:{'|'.join(map(re.escape, names))})$"


def _compiled(entry: str, pattern: str, jvm: Any) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        getattr(jvm, "java.util.regex.Pattern").compile(pattern)
    except (Py4JJavaError, PySparkException):
        pass
    else:
        return
    raise ConfigException(f"{entry} is a pattern that does not compile with our keys beside it")


def _either(*patterns: str) -> str:
    return "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns) if pattern)


def _forms(keys: Iterable[str], jvm: Any) -> list[str]:
    forms, in_hadoop = list[str](), list[str]()
    for key in keys:
        prefix = next((prefix for prefix in _SHOWN_AS if key.startswith(prefix)), None)
        forms.append(key)
        if prefix is not None:
            forms.append(_SHOWN_AS[prefix] + key.removeprefix(prefix))
        if prefix == "spark.hadoop.":
            in_hadoop.append(forms[-1])
    return list(dict.fromkeys(forms + (_names_in_hadoop(in_hadoop, jvm) if in_hadoop else [])))


def _names_in_hadoop(names: Collection[str], jvm: Any) -> list[str]:
    """Return what Hadoop calls *names*: a deprecated one stands there under its new name too."""
    names = [*names, *(_RENAMED_LATER[name] for name in names if name in _RENAMED_LATER)]
    hadoop = getattr(jvm, "org.apache.hadoop.conf.Configuration")(False)  # noqa: FBT003  Without defaults.
    for name in names:
        hadoop.set(name, "")
    return [str(key) for key in hadoop.getPropsWithPrefix("").keySet()]
