"""Resolved configs into sessions: the JVM starts without the secrets and is told them afterwards.

PySpark hands every entry of a builder to the JVM on its command line, where each process of the
machine can read it. So the JVM is started with the entries that hold no secret. What Spark is to
redact is set before the context starts, and each secret goes the way that
:mod:`configproviders.spark.routes` says: into the ``SparkConf`` inside the JVM, or, when the
context runs, into Hadoop's configuration or the session's. A key that comes so late stands in
``SparkConf`` with no value before: what is not there, Spark does not redact in its event log.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..errors import ConfigException
from ..known_values import REDACTED
from ..transformer import ConfigTransformerResult
from . import cleaning, guard, loggers, redaction
from .routes import Route, Way, route

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

_logger = logging.getLogger(__name__)
_HADOOP = "spark.hadoop."
_SHORT = 3  # A value so short stands in any text by chance.


@dataclass(frozen=True, slots=True)
class Parts:
    """A resolved config in the parts that travel apart; ``repr`` shows no value.

    ``plain`` are the entries that hold no secret, and what is needed at the launch of a JVM.
    ``secrets`` are the others, ``routes`` says how each of them goes.
    """

    plain: Mapping[str, str] = field(repr=False)
    secrets: Mapping[str, str] = field(repr=False)
    routes: Mapping[str, Route]

    @classmethod
    def of(
        cls,
        result: ConfigTransformerResult[str],
        master: str | None,
        allow_leaks: Collection[str] = (),
        *,
        before_context: bool = False,
    ) -> Parts:
        """Part *result*; raise :class:`ConfigException` for what must not be handed on.

        With *before_context*, nothing can be done when the context runs: all goes in ``SparkConf``.
        """
        cleaning.remember_result(result)
        keys = result.plan.references
        configs = {"spark.master": master or "", **_without(result.data, keys)}
        routes = {key: route(key, configs) for key in keys}
        if before_context:
            late = (Way.HADOOP, Way.RUNTIME)
            routes = {
                key: replace(each, way=Way.SPARK_CONF) if each.way in late else each
                for key, each in routes.items()
            }
        guard.refuse_options(routes)
        guard.refuse_shown(routes, allow_leaks)
        launch = {key for key, each in routes.items() if each.way is Way.LAUNCH}
        secrets = {key: result.data[key] for key in keys if key not in launch}
        guard.refuse_expansion(secrets, guard.expanded_confs(_only(routes, secrets)))
        return cls(_without(result.data, secrets), secrets, _only(routes, secrets))

    def by(self, *ways: Way) -> dict[str, str]:
        """Return the secrets that go one of these *ways*."""
        return {key: text for key, text in self.secrets.items() if self.routes[key].way in ways}


def submitted_conf() -> dict[str, str]:
    """Return the entries that the JVM was started with, if it was not started here: by submit."""
    from pyspark import SparkConf, SparkContext

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    loggers.hold_python()
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def conf_in_jvm(parts: Parts) -> SparkConf:
    """Return a conf inside the JVM, which is started if none runs, with what may stand there."""
    from pyspark import SparkConf, SparkContext

    loggers.hold_python()
    submitted = submitted_conf()
    birth = SparkConf(loadDefaults=False)
    birth.setAll(list(parts.plain.items()))
    SparkContext._ensure_initialized(conf=birth)
    jvm: Any = SparkContext._jvm
    _hold(jvm)
    if submitted:
        launch = (key for key in parts.plain if route(key).way is Way.LAUNCH)
        _name_what_is_ignored(key for key in launch if submitted.get(key) != parts.plain[key])
    conf = SparkConf()
    conf.setAll(list(parts.plain.items()))
    conf.setAll(list(parts.by(Way.SPARK_CONF).items()))
    conf.setAll([(key, "") for key in parts.by(Way.RUNTIME)])
    jconf: Any = conf._jconf
    for key in parts.by(Way.HADOOP):
        jconf.remove(key)  # The reference, if it was submitted.
    redaction.add_keys(conf, parts.secrets, jvm)
    _refuse_registered(parts.secrets, jvm)
    return conf


def deliver(
    builder: SparkSession.Builder,
    result: ConfigTransformerResult[str],
    *,
    allow_leaks: Collection[str] = (),
) -> SparkSession:
    """Return a session of the kind that *builder* makes, with all of *result* and nothing else.

    A context that runs is taken as it is; see :func:`configproviders.spark.create_session`.
    Raises :class:`ConfigException`.
    """
    from pyspark import SparkContext

    running = SparkContext._active_spark_context
    master = result.data.get("spark.master") or submitted_conf().get("spark.master")
    parts = Parts.of(result, running.master if running else master, allow_leaks)
    fresh = type(builder)()
    return _start(parts, fresh) if running is None else _into(running, parts, fresh)


def set_hadoop(context: SparkContext, secrets: Mapping[str, str]) -> None:
    """Set the ``spark.hadoop.*`` entries *secrets* in Hadoop's configuration of *context*."""
    java: Any = context._jsc
    hadoop = java.hadoopConfiguration()
    for key, text in secrets.items():
        hadoop.set(key.removeprefix(_HADOOP), text)


def _start(parts: Parts, builder: SparkSession.Builder) -> SparkSession:
    from pyspark import SparkContext

    conf = conf_in_jvm(parts)
    context: SparkContext | None = None
    try:
        context = SparkContext.getOrCreate(conf)
        loggers.hold_jvm(context._jvm)
        set_hadoop(context, parts.by(Way.HADOOP))
        session = builder.getOrCreate()
        for key, text in parts.by(Way.RUNTIME).items():
            session.conf.set(key, text)
    except Exception as error:
        if context is not None:
            context.stop()
        _refuse_to_quote(error, parts.secrets)
        raise
    return session


def _into(context: SparkContext, parts: Parts, builder: SparkSession.Builder) -> SparkSession:
    """Return the session of *context* with what it can still take, or set nothing and raise."""
    from pyspark.sql import SparkSession

    jvm, there = context._jvm, dict(context._conf.getAll())
    active = SparkSession.getActiveSession()
    runtime = {key: active.conf.get(key, "") for key in parts.by(Way.RUNTIME)} if active else {}
    pattern = there.get(redaction.REGEX) or redaction.default(redaction.REGEX, jvm)
    hadoop = parts.by(Way.HADOOP)
    new = [key for key in hadoop if not redaction.covers(pattern, key, jvm)]
    others = ((key, text) for key, text in parts.secrets.items() if key not in hadoop)
    new += [key for key, text in others if text not in (there.get(key), runtime.get(key))]
    if new:
        raise ConfigException(
            f"{', '.join(sorted(new))}: a SparkContext is running that takes no secrets any more,"
            " or would show them; stop it first, or hand them to readers and writers with"
            " resolve_options"
        )
    _hold(jvm)
    set_hadoop(context, hadoop)
    for key, value in parts.plain.items():
        if key != redaction.REGEX:  # A session's own would take the place of ours.
            builder.config(key, value)
    session = builder.getOrCreate()
    redaction.add_options(())
    other = (key for key, value in parts.plain.items() if there.get(key) != value)
    _name_what_is_ignored(key for key in other if _is_static(key, session))
    return session


def _hold(jvm: Any) -> None:
    loggers.hold_python()
    loggers.hold_jvm(jvm)
    cleaning.install()


def _is_static(key: str, session: SparkSession) -> bool:
    jvm: Any = session.sparkContext._jvm
    known = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(key) is not None
    return known and not session.conf.isModifiable(key)


def _name_what_is_ignored(keys: Iterable[str]) -> None:
    if ignored := ", ".join(keys):
        _logger.warning("the JVM or context that runs already does not take any more: %s", ignored)


def _refuse_registered(secrets: Mapping[str, str], jvm: Any) -> None:
    """Refuse values that Spark would expand, as it does where it knows the key itself."""
    find = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry
    known = [key for key, text in secrets.items() if "${" in text and find(key) is not None]
    guard.refuse_expansion(secrets, known)


def _refuse_to_quote(error: Exception, secrets: Mapping[str, str]) -> None:
    """Raise an error of ours in the place of one that quotes a value."""
    text = str(error)
    short = [key for key, value in secrets.items() if len(value) > _SHORT and value in text]
    if short or REDACTED in text:
        named = short or [key for key in secrets if key in text] or secrets
        raise ConfigException(
            f"{', '.join(sorted(named))}: Spark does not take the value: {type(error).__name__}"
        ) from None


def _without(entries: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    return {key: text for key, text in entries.items() if key not in keys}


def _only(routes: Mapping[str, Route], keys: Collection[str]) -> dict[str, Route]:
    return {key: each for key, each in routes.items() if key in keys}
