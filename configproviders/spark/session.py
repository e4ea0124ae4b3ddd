"""Sessions and confs: the JVM starts without the secrets and is told them afterwards.

PySpark hands every entry of a builder to the JVM on its command line, where each process of the
machine can read it. So the JVM is started with the entries that hold no reference; the values of
the others are looked up before that, and set in a ``SparkConf`` inside the JVM after it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import ConfigException, UnsupportedOperation
from ..provider import ConfigProvider
from ..reference import find_all
from ..transformer import ConfigTransformerResult
from . import redaction
from ._resolution import Configs, read_entries, resolve

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

# What SparkSubmit acts on before an application's code runs: set in the JVM that runs, it would do
# nothing, or half of it. Also the pattern of what is redacted, which Spark quotes if it is wrong.
_NO_REFERENCE_IN = (
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
    "spark.driver.extraLibraryPath",
    "spark.driver.memory",
    "spark.jars",
    "spark.jars.excludes",
    "spark.jars.ivy",
    "spark.jars.ivySettings",
    "spark.jars.packages",
    "spark.jars.repositories",
    "spark.kerberos.keytab",
    "spark.kerberos.principal",
    redaction.REGEX,
    "spark.submit.deployMode",
    "spark.submit.pyFiles",
)

_SHORT = 3  # A value so short stands in any text by chance.


def create_session(
    builder: SparkSession.Builder,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
) -> SparkSession:
    """Return the session of *builder* and *configs*, with values in the place of references.

    *configs* is a mapping or the path of a file. Its entries go on top of what *builder* holds, as
    if ``builder.config(map=configs)`` came last: all of them, also those whose name does not start
    with ``spark.``, so hand over what is meant for Spark. ``config.providers…`` entries say which
    providers there are and are not handed on; *providers* are live ones, which win. With neither,
    references go to ``file``, ``directory`` and ``env``. The keys that hold values from providers
    are added to what Spark redacts.

    If a context is running already, entries without references are applied to its session as
    ``getOrCreate`` does, and those with references must be there with the same values. In Spark
    Connect mode entries without references are handed on, and any reference is refused: the
    values would go to a server that shows them to whoever asks for its configuration.

    Raises :class:`UnresolvedError` before a JVM is started; :class:`ConfigException` for a
    reference that would come too late, a value that Hadoop would change, or one that Spark
    refuses; :class:`UnsupportedOperation` in Spark Connect mode.
    """
    from pyspark import SparkContext

    settings, entries = _merged(builder._options, configs)
    if _is_connect(entries):
        return _with_entries(builder, _refuse_references(entries))
    result = resolve(entries, settings, providers, strict=strict)
    running = SparkContext._active_spark_context
    if running is not None:
        _refuse_new_secrets(result, running)
        return _with_entries(builder, _plain(result))
    conf = _conf_in_jvm(result)
    try:
        SparkContext.getOrCreate(conf)
        return type(builder)().getOrCreate()
    except Exception as error:
        _refuse_to_quote(error, result)
        raise


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
    if _is_connect(entries):
        _refuse_references(entries)
    return _conf_in_jvm(resolve(entries, settings, providers, strict=strict))


def _merged(
    options: Mapping[str, object], configs: Configs | None
) -> tuple[dict[str, str], dict[str, str]]:
    settings, entries = read_entries(options)
    more_settings, more_entries = read_entries(configs)
    return settings | more_settings, entries | more_entries


def _with_entries(builder: SparkSession.Builder, entries: Mapping[str, str]) -> SparkSession:
    """Return the session of a new builder like *builder* that holds *entries* alone."""
    fresh = type(builder)()
    for key, value in entries.items():
        if key != redaction.REGEX:  # A session's own would take the place of ours.
            fresh.config(key, value)
    return fresh.getOrCreate()


def _conf_in_jvm(result: ConfigTransformerResult[str]) -> SparkConf:
    from pyspark import SparkConf, SparkContext

    secrets = result.plan.references.keys()
    _refuse_too_late(secrets)
    _refuse_expansion(result)
    py4j = logging.getLogger("py4j")
    if py4j.getEffectiveLevel() < logging.INFO:  # It logs all that goes to the JVM.
        py4j.setLevel(logging.INFO)
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


def _is_connect(entries: Mapping[str, str]) -> bool:
    from pyspark.sql.utils import is_remote
    from pyspark.util import default_api_mode

    remote = "spark.remote" in entries or "SPARK_REMOTE" in os.environ or is_remote()
    mode = entries.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or default_api_mode()
    return remote or mode.lower() == "connect"


def _refuse_references(entries: Mapping[str, str]) -> Mapping[str, str]:
    if keys := sorted(find_all(entries)):
        raise UnsupportedOperation(
            f"{', '.join(keys)}: Spark Connect would send the values to a server that shows them"
            " to whoever asks for its configuration; use a classic session, or resolve_options for"
            " readers and writers"
        )
    return entries


def _refuse_too_late(keys: Iterable[str]) -> None:
    late = sorted(set(keys).intersection(_NO_REFERENCE_IN))
    if late:
        raise ConfigException(
            f"{', '.join(late)}: no reference may stand there, since Spark takes it from the"
            " command line of the JVM, or quotes it in errors; write the value itself"
        )


def _refuse_expansion(result: ConfigTransformerResult[str]) -> None:
    changed = sorted(
        key
        for key in result.plan.references
        if key.startswith("spark.hadoop.") and "${" in result.data[key]
    )
    if changed:
        raise ConfigException(
            f"{', '.join(changed)}: the value holds '${{', which Hadoop would expand; hand it to"
            " readers and writers with resolve_options"
        )


def _refuse_new_secrets(result: ConfigTransformerResult[str], running: SparkContext) -> None:
    there = running.getConf()
    new = sorted(key for key in result.plan.references if there.get(key) != result.data[key])
    if new:
        raise ConfigException(
            f"{', '.join(new)}: a SparkContext is running and takes no secrets any more; stop it"
            " first, or hand them to readers and writers with resolve_options"
        )


def _refuse_to_quote(error: Exception, result: ConfigTransformerResult[str]) -> None:
    """Raise an error of ours in the place of one that quotes a value."""
    text, values = str(error), result.data
    long = (key for key in result.plan.references if len(values[key]) > _SHORT)
    quoted = sorted(key for key in long if values[key] in text)
    if quoted:
        raise ConfigException(
            f"{', '.join(quoted)}: Spark does not take the value: {type(error).__name__}"
        ) from None
