"""Wraps the creation of sessions and confs: references in, values delivered out of sight."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ..provider import ConfigProvider
from ..transformer import ConfigTransformerResult
from . import connect, delivery
from ._resolution import Configs, read_entries, resolve, split_submitted

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession


def create_session(
    builder: SparkSession.Builder,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
    allow_leaks: Collection[str] = (),
) -> SparkSession:
    """Return the session of *builder* and *configs*, with values in the place of references.

    *configs* is a mapping or the path of a file. Its entries go on top of what *builder* holds, as
    if ``builder.config(map=configs)`` came last: all of them, also those whose name does not start
    with ``spark.``, so hand over what is meant for Spark. Under ``spark-submit``, references that
    were submitted are resolved too. ``config.providers…`` entries say which providers there are
    and are not handed on (nor are those written ``spark.config.providers…``, since ``spark-submit``
    drops what is not ``spark.*``); *providers* are live ones, which win. With neither, references
    go to ``file``, ``directory`` and ``env``.

    Each value goes the way that :func:`configproviders.spark.route` says. The keys are added to
    what Spark redacts, loggers that print values are held, and what exceptions of Spark say is
    cleaned of the values. A key whose value would be shown is refused, but for those that
    *allow_leaks* names, which are logged.

    If a context is running already, entries without references are applied to its session as
    ``getOrCreate`` does, and those that it ignores are logged; secrets of ``spark.hadoop.*`` are
    taken if it redacts them, others must be there with the same values. In Spark Connect mode
    entries without references are handed on, and any reference is refused: the values would go to a
    server that shows them to whoever asks for its configuration.

    Raises :class:`UnresolvedError` before a JVM is started; :class:`ConfigException` for a
    reference that would be shown or come too late, a value that Hadoop would change, or one that
    Spark refuses; :class:`UnsupportedOperation` in Spark Connect mode.
    """
    settings, entries = _merged(builder._options, configs)
    if connect.is_connect(entries):
        return connect.start(builder, entries)
    result = _resolved(settings, entries, providers, strict=strict)
    return delivery.deliver(builder, result, allow_leaks=allow_leaks)


def resolve_conf(
    conf: SparkConf,
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
    allow_leaks: Collection[str] = (),
) -> SparkConf:
    """Return a new conf of *conf* and *configs*, with values in the place of references.

    It lives in the JVM, which is started if none runs, and may be handed to a ``SparkContext``
    without a secret reaching a command line. All values stand in it, also those that
    :func:`create_session` sets later. Arguments and errors are those of :func:`create_session`.
    """
    settings, entries = _merged(dict(conf.getAll()), configs)
    if connect.is_connect(entries):
        connect.refuse_references(entries)
    result = _resolved(settings, entries, providers, strict=strict)
    return delivery.resolved_conf(result, allow_leaks=allow_leaks)


def _merged(
    options: Mapping[str, object], configs: Configs | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the provider settings and the entries of *options*, with those of *configs* on top."""
    settings, entries = read_entries(options)
    more_settings, more_entries = read_entries(configs)
    return settings | more_settings, entries | more_entries


def _resolved(
    settings: Mapping[str, str],
    entries: Mapping[str, str],
    providers: Mapping[str, ConfigProvider] | None,
    *,
    strict: bool,
) -> ConfigTransformerResult[str]:
    submitted_settings, submitted = split_submitted(delivery.submitted_conf())
    settings = {**submitted_settings, **settings}
    return resolve(entries, settings, providers, strict=strict, submitted=submitted)
