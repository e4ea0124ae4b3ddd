"""Sessions and confs: the JVM starts without the secrets and is told them afterwards.

PySpark hands every entry of a builder to the JVM on its command line, where each process of the
machine can read it. So the JVM is started with the entries that hold no reference; the values of
the others are looked up before that, and set in a ``SparkConf`` inside the JVM after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import ConfigException, UnsupportedOperation
from ..provider import ConfigProvider
from ..transformer import ConfigTransformerResult
from . import redaction
from ._resolution import Configs, read_entries, resolve

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

# What spark-submit reads to start the JVM: set in the JVM that runs, it would do nothing.
_AT_BIRTH = (
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
    "spark.driver.extraLibraryPath",
    "spark.driver.memory",
    "spark.jars.excludes",
    "spark.jars.ivy",
    "spark.jars.ivySettings",
    "spark.jars.packages",
    "spark.jars.repositories",
    "spark.submit.deployMode",
)


def create_session(
    builder: SparkSession.Builder,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
) -> SparkSession:
    """Return the session of *builder* and *configs*, with values in the place of references.

    *configs* is a mapping or the path of a file. Its entries go on top of what *builder* holds, as
    if ``builder.config(map=configs)`` came last. ``config.providers…`` entries say which providers
    there are and are not handed on to Spark; *providers* are live ones, which win. With neither,
    references go to ``file``, ``directory`` and ``env``. The keys that hold secrets are added to
    what Spark redacts.

    If a context is running already, entries without references are applied to its session as
    ``getOrCreate`` does, and those with references must be there with the same values.

    Raises :class:`UnresolvedError` before a JVM is started; :class:`ConfigException` for a
    reference where it would come too late; :class:`UnsupportedOperation` in Spark Connect mode,
    where the values would go to a server that shows them to whoever asks for its configuration.
    """
    from pyspark import SparkContext

    settings, entries = _merged(builder._options, configs)
    _refuse_connect(entries)
    result = resolve(entries, settings, providers, strict=strict)
    running = SparkContext._active_spark_context
    if running is None:
        SparkContext.getOrCreate(_conf_in_jvm(result))
        return type(builder)().getOrCreate()
    _refuse_new_secrets(result, running)
    fresh = type(builder)()
    for key, value in _plain(result).items():
        fresh.config(key, value)
    return fresh.getOrCreate()


def resolve_conf(
    conf: SparkConf,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
) -> SparkConf:
    """Return a new conf of *conf* and *configs*, with values in the place of references.

    It lives in the JVM, which is started if none runs, and may be handed to a ``SparkContext``
    without a secret reaching a command line. Arguments and errors are those of
    :func:`create_session`.
    """
    settings, entries = _merged(dict(conf.getAll()), configs)
    _refuse_connect(entries)
    return _conf_in_jvm(resolve(entries, settings, providers, strict=strict))


def _merged(
    options: Mapping[str, object], configs: Configs | None
) -> tuple[dict[str, str], dict[str, str]]:
    settings, entries = read_entries(options)
    more_settings, more_entries = read_entries(configs)
    return settings | more_settings, entries | more_entries


def _conf_in_jvm(result: ConfigTransformerResult[str]) -> SparkConf:
    from pyspark import SparkConf, SparkContext

    secrets = result.plan.references.keys()
    _refuse_at_birth(secrets)
    birth = SparkConf(loadDefaults=False)
    birth.setAll(list(_plain(result).items()))
    SparkContext._ensure_initialized(conf=birth)
    conf = SparkConf()
    conf.setAll(list(result.data.items()))
    redaction.add_keys(conf, secrets, SparkContext._jvm)
    return conf


def _plain(result: ConfigTransformerResult[str]) -> dict[str, str]:
    """Return the entries that hold no reference, and so no secret of ours."""
    secrets = result.plan.references
    return {key: value for key, value in result.data.items() if key not in secrets}


def _refuse_connect(entries: Mapping[str, str]) -> None:
    remote = "spark.remote" in entries or "SPARK_REMOTE" in os.environ
    mode = entries.get("spark.api.mode", os.environ.get("SPARK_API_MODE", ""))
    if remote or mode.lower() == "connect":
        raise UnsupportedOperation(
            "Spark Connect: the client would send the values to the server, which shows them to"
            " whoever asks for its configuration; use a classic session, or resolve_options for"
            " readers and writers"
        )


def _refuse_at_birth(keys: Iterable[str]) -> None:
    late = sorted(set(keys).intersection(_AT_BIRTH))
    if late:
        raise ConfigException(
            f"{', '.join(late)}: read when the JVM starts, from its command line, where no secret"
            " may stand; write the value itself, or resolve the file with resolve-config first"
        )


def _refuse_new_secrets(result: ConfigTransformerResult[str], running: SparkContext) -> None:
    there = running.getConf()
    new = sorted(key for key in result.plan.references if there.get(key) != result.data[key])
    if new:
        raise ConfigException(
            f"{', '.join(new)}: a SparkContext is running and takes no secrets any more; stop it"
            " first, or hand them to readers and writers with resolve_options"
        )
