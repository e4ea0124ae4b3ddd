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
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..data import SecretText
from ..errors import ConfigException
from ..known_values import REDACTED
from ..transformer import ConfigTransformerResult
from . import cleaning, exceptions, guard, loggers, redaction
from .routes import LOOKED_AT, Route, Way, route

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

_logger = logging.getLogger(__name__)
_HADOOP = "spark.hadoop."
# Two threads at once would each start a context, and one would get that of the other.
_one_at_a_time = threading.RLock()


@dataclass(frozen=True, slots=True)
class Parts:
    """A resolved config in the parts that travel apart; ``repr`` shows no value.

    ``plain`` are the entries that hold no secret, and what is needed at the launch of a JVM.
    ``secrets`` are the others, ``routes`` says how each key with a reference goes.
    """

    plain: Mapping[str, str] = field(repr=False)
    secrets: Mapping[str, SecretText] = field(repr=False)
    routes: Mapping[str, Route]

    @classmethod
    def of(
        cls,
        result: ConfigTransformerResult[str],
        configs: Mapping[str, str],
        allow_leaks: Collection[str] = (),
        *,
        before_context: bool = False,
    ) -> Parts:
        """Part *result*, for a context with *configs* too.

        With *before_context*, nothing can be done when the context runs: all goes in ``SparkConf``.
        Raises :class:`ConfigException` for what must not be handed on.
        """
        cleaning.remember_result(result)
        keys = result.plan.references
        others = {key: text for key, text in result.data.items() if key not in keys}
        known = {**configs, **others}
        routes = {key: route(key, known, before_context=before_context) for key in keys}
        guard.refuse_options(routes)
        guard.refuse_shown(routes, allow_leaks)
        launched = {key for key, each in routes.items() if each.way is Way.LAUNCH}
        secrets = {key: SecretText(result.data[key]) for key in keys if key not in launched}
        guard.refuse_unusual(secrets)
        guard.refuse_expansion(secrets, guard.expanded_confs(secrets))
        plain = {key: text for key, text in result.data.items() if key not in secrets}
        return cls(plain, secrets, routes)

    def by(self, way: Way) -> dict[str, SecretText]:
        """Return the secrets that go this *way*."""
        return {key: text for key, text in self.secrets.items() if self.routes[key].way is way}

    @property
    def launched(self) -> list[str]:
        """The keys with a reference that are allowed to be seen where a JVM is launched."""
        return [key for key, each in self.routes.items() if each.way is Way.LAUNCH]


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
    fresh = type(builder)()
    with _one_at_a_time:
        running = _running_context()
        if running is None:
            return _start(result, allow_leaks, fresh)
        parts = Parts.of(result, _looked_at(running._conf), allow_leaks)
        return _into(running, parts, fresh)


def resolved_conf(
    result: ConfigTransformerResult[str], *, allow_leaks: Collection[str] = ()
) -> SparkConf:
    """Return a conf inside the JVM, which is started if none runs, with all of *result*.

    Raises :class:`ConfigException`.
    """
    with _one_at_a_time:
        return _conf_in_jvm(result, allow_leaks, before_context=True)[0]


def submitted_conf() -> dict[str, str]:
    """Return the entries of the JVM, if one runs already: those of ``spark-submit``, mostly."""
    from pyspark import SparkConf, SparkContext

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    loggers.hold_python()
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def set_hadoop(context: SparkContext, secrets: Mapping[str, str]) -> None:
    """Set the ``spark.hadoop.*`` entries *secrets* in Hadoop's configuration of *context*."""
    java: Any = context._jsc
    hadoop = java.hadoopConfiguration()
    for key, text in secrets.items():
        hadoop.set(key.removeprefix(_HADOOP), text)


def _running_context() -> SparkContext | None:
    """Return the context that runs; one that its JVM has stopped by itself is stopped here too."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    java: Any = context._jsc if context else None
    if context is not None and java.sc().isStopped():
        context.stop()
        return None
    return context


def _conf_in_jvm(
    result: ConfigTransformerResult[str], allow_leaks: Collection[str], *, before_context: bool
) -> tuple[SparkConf, Parts]:
    """Return a conf in the JVM with what may stand there before the context starts, and the rest.

    What may not stand there is refused before the JVM is started, as far as *result* says it, and
    then by what Spark's own files say.
    """
    from pyspark import SparkConf, SparkContext

    submitted = submitted_conf()
    parts = Parts.of(result, submitted, allow_leaks, before_context=before_context)
    birth = SparkConf(loadDefaults=False)
    birth.setAll(list(parts.plain.items()))
    loggers.hold_python()
    SparkContext._ensure_initialized(conf=birth)
    jvm: Any = SparkContext._jvm
    _hold(jvm)
    if submitted:
        launch = (key for key in parts.plain if route(key).way is Way.LAUNCH)
        _name_what_is_ignored(key for key in launch if submitted.get(key) != parts.plain[key])
    conf = SparkConf()
    parts = Parts.of(result, _looked_at(conf), allow_leaks, before_context=before_context)
    conf.setAll(list(parts.plain.items()))
    conf.setAll(list(parts.by(Way.SPARK_CONF).items()))
    conf.setAll([(key, "") for key in parts.by(Way.RUNTIME)])
    jconf: Any = conf._jconf
    for key in parts.by(Way.HADOOP):
        jconf.remove(key)  # The reference, if it was submitted.
    guard.log_shown(parts.routes)
    redaction.add_keys(conf, parts.routes, jvm)
    _refuse_registered(parts.secrets, jvm)
    return conf, parts


def _start(
    result: ConfigTransformerResult[str],
    allow_leaks: Collection[str],
    builder: SparkSession.Builder,
) -> SparkSession:
    from pyspark import SparkContext

    conf, parts = _conf_in_jvm(result, allow_leaks, before_context=False)
    context: SparkContext | None = None
    try:
        context = SparkContext.getOrCreate(conf)
        loggers.hold_jvm(context._jvm)
        set_hadoop(context, parts.by(Way.HADOOP))
        session = builder.getOrCreate()
        for key, text in parts.by(Way.RUNTIME).items():
            session.conf.set(key, text)
    except Exception as error:  # noqa: BLE001  It is raised again.
        if context is not None:
            context.stop()
        _refuse_to_quote(error, parts.secrets)
        raise error.with_traceback(None) from None  # PySpark's frames hold entries of the conf.
    return session


def _into(context: SparkContext, parts: Parts, builder: SparkSession.Builder) -> SparkSession:
    """Return the session of *context* with what it can still take, or set nothing and raise."""
    jvm: Any = context._jvm
    if new := sorted(_not_there(context, parts)):
        raise ConfigException(
            f"{', '.join(new)}: a SparkContext is running that takes no secrets any more, or would"
            " show them; stop it first, or hand them to readers and writers with resolve_options"
        )
    guard.log_shown(parts.routes)
    _hold(jvm)
    set_hadoop(context, parts.by(Way.HADOOP))
    others = {key: text for key, text in parts.plain.items() if key not in parts.launched}
    for key, text in others.items():
        if key not in {redaction.REGEX, redaction.OPTIONS_REGEX}:  # They would replace ours.
            builder.config(key, text)
    session = builder.getOrCreate()
    redaction.extend_options(session, others.get(redaction.OPTIONS_REGEX, ""))
    there = context._conf
    changed = (key for key, text in others.items() if there.get(key, None) != text)
    _name_what_is_ignored(key for key in changed if _is_static(key, jvm, session))
    return session


def _not_there(context: SparkContext, parts: Parts) -> Iterator[str]:
    """Yield the keys whose secrets *context* would show, or does not have and takes no more."""
    jvm, there = context._jvm, context._conf
    pattern = there.get(redaction.REGEX, None) or redaction.default(redaction.REGEX, jvm)
    session = redaction.active_session(remote=False)
    for key, text in parts.secrets.items():
        if parts.routes[key].way is Way.HADOOP:
            if not redaction.covers(pattern, key, jvm):
                yield key
        elif there.get(key, None) != text and (
            session is None or session.conf.get(key, None) != text
        ):
            yield key


def _looked_at(conf: SparkConf) -> dict[str, str]:
    """Return what routes look at, and no more: a traceback with locals would show the rest."""
    return {key: str(conf.get(key, "")) for key in LOOKED_AT}


def _hold(jvm: Any) -> None:
    loggers.hold_python()
    loggers.hold_jvm(jvm)
    exceptions.install()


def _is_static(key: str, jvm: Any, session: SparkSession) -> bool:
    return redaction.find_entry(key, jvm) is not None and not session.conf.isModifiable(key)


def _name_what_is_ignored(keys: Iterable[str]) -> None:
    if ignored := ", ".join(keys):
        _logger.warning("the JVM or context that runs already does not take any more: %s", ignored)


def _refuse_registered(secrets: Mapping[str, str], jvm: Any) -> None:
    """Refuse values that Spark would expand, as it does where it knows the key itself."""
    odd = [key for key, text in secrets.items() if "${" in text]
    guard.refuse_expansion(secrets, [key for key in odd if redaction.find_entry(key, jvm)])


def _refuse_to_quote(error: Exception, secrets: Mapping[str, str]) -> None:
    """Raise an error of ours in the place of one that quotes a value, with what it says else."""
    text = str(error)  # Cleaned already, but for values that are too short.
    for value in secrets.values():
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", REDACTED, text) if value else text
    if REDACTED in text:
        first = text.partition("\n\tat ")[0]
        raise ConfigException(f"Spark does not start: {first}") from None
