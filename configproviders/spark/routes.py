"""How the secret of each key of a config travels into Spark, as data: :func:`route`.

Every way leaves some traces. The rules below send each key by the way that leaves the fewest and
still arrives; a key of which every way shows the value is refused, with what to do instead. They
were found by looking for planted secrets on every surface of Spark; README lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

_NONE: Mapping[str, str] = MappingProxyType({})


class Way(Enum):
    """A way into Spark, and who can still read what went there."""

    OPTION = "option"
    """An option of one reader or writer: nobody."""
    HADOOP = "hadoopConfiguration"
    """Hadoop's configuration of the running context: code with that context."""
    RUNTIME = "runtime conf"
    """``spark.conf`` of one session, set when it runs: code and SQL of that session."""
    SPARK_CONF = "SparkConf"
    """``SparkConf``, set inside the running JVM before the context: all code of the application."""
    LAUNCH = "launch"
    """The command line that starts a JVM: every process of the machine."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way of one key.

    ``shown`` says where the value would be seen; then it is refused, unless the key is among those
    that are allowed to leak, and ``instead`` says what to do.
    """

    way: Way
    shown: str = ""
    instead: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether a secret under the key would be shown."""
        return bool(self.shown)


class _Rule(NamedTuple):
    keys: str  # In lower case, separated by blanks; ``*`` is any text.
    way: Way
    shown: str = ""
    instead: str = ""


_WRITE_IT = "write the value itself"
_AS_OPTION = "hand it to readers and writers with resolve_options"
_ON_EXECUTORS = "resolve it on the executors with configproviders.spark.executors"
_CREDENTIALS = "keep credentials out of it: options user and password"
_PLAIN_TEXT = "no secret belongs there"
_SQL_TEXT = "plans, logs and pages, which show SQL text"
_BY_VIEW = "pass it to the database by a view or a parameter of its own"

_RULES = (
    _Rule(
        "spark.driver.defaultjavaoptions spark.driver.extrajavaoptions",
        Way.LAUNCH,
        "the command line of the driver",
        _AS_OPTION,
    ),
    _Rule(
        "spark.executor.defaultjavaoptions spark.executor.extrajavaoptions"
        " spark.*.extrajavaoptions spark.*.defaultjavaoptions spark.yarn.am.*",
        Way.SPARK_CONF,
        "the command line of each executor",
        _ON_EXECUTORS,
    ),
    _Rule(
        "spark.network.* spark.rpc.*",
        Way.SPARK_CONF,
        "the command line of each executor",
        _WRITE_IT,
    ),
    _Rule(
        "spark.authenticate.secret",
        Way.SPARK_CONF,
        "the environment of each executor and its Python workers",
        "name a file with it in spark.authenticate.secret.file",
    ),
    _Rule(
        "spark.executorenv.* spark.*.appmasterenv.* spark.kubernetes.driverenv.*",
        Way.SPARK_CONF,
        "the environment of each executor and its Python workers",
        _ON_EXECUTORS,
    ),
    _Rule(
        "spark.driver.cores spark.driver.extraclasspath spark.driver.extralibrarypath"
        " spark.driver.memory spark.driver.memoryoverhead spark.files spark.archives spark.jars"
        " spark.jars.* spark.kerberos.* spark.master spark.remote spark.submit.*",
        Way.LAUNCH,
        "the command line of the driver, from which it is taken",
        _WRITE_IT,
    ),
    _Rule(
        "spark.redaction.* spark.sql.redaction.*",
        Way.LAUNCH,
        "errors and SET, which quote patterns",
        _WRITE_IT,
    ),
    _Rule(
        "spark.app.* spark.job.* spark.jobgroup.* spark.kubernetes.*.label.*"
        " spark.kubernetes.*.annotation.*",
        Way.SPARK_CONF,
        "the pages and the event log of Spark, as names",
        _PLAIN_TEXT,
    ),
    _Rule(
        "spark.sql.catalog.*.url spark.hadoop.javax.jdo.option.connectionurl",
        Way.SPARK_CONF,
        "errors of the driver, which quote the URL",
        _CREDENTIALS,
    ),
    _Rule("spark.sql.catalog.*.sessioninitstatement", Way.SPARK_CONF, _SQL_TEXT, _BY_VIEW),
    _Rule("spark.hadoop.*", Way.HADOOP),
    _Rule("spark.*", Way.SPARK_CONF),
    _Rule("url", Way.OPTION, "errors of the driver, which quote the URL", _CREDENTIALS),
    _Rule(
        "createtableoptions dbtable preparequery query sessioninitstatement",
        Way.OPTION,
        _SQL_TEXT,
        _BY_VIEW,
    ),
    _Rule("path", Way.OPTION, "plans, logs and pages, which show paths", _PLAIN_TEXT),
    _Rule("*", Way.OPTION),
)

_READ_AT_START = ("spark.files", "spark.jars", "spark.archives")
_EVENT_LOG, _LOGS = "spark.eventLog.dir", "spark.eventLog.enabled"
LOOKED_AT = ("spark.master", *_READ_AT_START, _EVENT_LOG, _LOGS)
"""The entries on which the ways of others hang."""

# What writes all of SparkConf down when the context starts.
_WRITTEN_DOWN = {
    "yarn": "files of YARN's staging directory, which hold all of SparkConf",
    "k8s": "ConfigMaps of Kubernetes, which hold SparkConf",
}
# Where Hadoop keeps what file systems of other schemes than its keys' names need.
_FAMILIES = {"abfs": "azure", "abfss": "azure", "wasb": "azure", "wasbs": "azure"}
# Streams from these formats log all of their options when they start.
_V1_STREAMS = {"avro", "csv", "json", "orc", "parquet", "text", "xml", "delta"}


def route(key: str, configs: Mapping[str, str] = _NONE, *, before_context: bool = False) -> Route:
    """Return how a secret under *key* travels into a session with *configs*.

    Of *configs*, :data:`LOOKED_AT` is looked at: where the context runs, and the file systems that
    are needed when it starts. With *before_context* nothing can be done when it runs. A key that
    does not begin with ``spark.`` is one of a reader or writer.
    """
    found = key.lower()  # Options are not told apart by case.
    rule = next(
        each for each in _RULES if any(fnmatchcase(found, one) for one in each.keys.split())
    )
    way = rule.way
    if way is Way.HADOOP and (before_context or _is_needed_at_start(key, configs)):
        way = Way.SPARK_CONF
    written = _WRITTEN_DOWN.get(configs.get("spark.master", "").partition(":")[0], "")
    if rule.shown or way is not Way.SPARK_CONF or not written:
        return Route(way, rule.shown, rule.instead)
    if found.startswith("spark.sql.catalog.") and not before_context:
        return Route(Way.RUNTIME)
    return Route(way, written, f"{_AS_OPTION}, or {_ON_EXECUTORS}")


def stream_route(key: str, stream_format: str) -> Route:
    """Return how a secret travels under the option *key* of a stream that is read."""
    if stream_format.lower() in _V1_STREAMS:
        shown = f"the log, where a stream of {stream_format} writes its options when it starts"
        return Route(Way.OPTION, shown, "set what file systems need as spark.hadoop.*")
    return route(key)


def _is_needed_at_start(key: str, configs: Mapping[str, str]) -> bool:
    """Tell whether *key* is for a file system that the start of the context reads or writes."""
    places = [configs.get(each, "") for each in _READ_AT_START]
    if configs.get(_LOGS, "false").lower() == "true":
        places.append(configs.get(_EVENT_LOG, ""))
    schemes = {urlsplit(each.strip()).scheme for place in places for each in place.split(",")}
    families = {_FAMILIES.get(scheme, scheme) for scheme in schemes - {"", "file", "local"}}
    prefixes = tuple(f"spark.hadoop.fs.{family}." for family in families)
    if "gs" in families:
        prefixes += ("spark.hadoop.google.cloud.",)
    return key.startswith(prefixes)
