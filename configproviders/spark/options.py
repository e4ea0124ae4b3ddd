"""Options of readers and writers: the way for a secret that leaves the fewest traces."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping

from ..data import SecretText
from ..provider import ConfigProvider
from ..transformer import ConfigTransformerResult
from . import cleaning, connect, exceptions, guard, loggers, redaction
from ._resolution import Configs, as_text, read_entries, resolve
from .routes import route, stream_route


def resolve_options(  # noqa: PLR0913  All but two are keywords.
    options: Mapping[str, object],
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
    allow_leaks: Collection[str] = (),
    stream_format: str | None = None,
) -> dict[str, str]:
    """Return *options* for a reader or writer, with values in the place of references.

    *configs* (a mapping or the path of a file) says which providers there are in its
    ``config.providers…`` entries; nothing else of it is used. *providers* are live ones, which
    win. With neither, references go to ``file``, ``directory`` and ``env``. For ``readStream``,
    *stream_format* is its format: some write all of their options to the log.

    No JVM is started. Spark redacts the options, by name, in the session that is active and in
    those that :func:`create_session` makes. In Spark Connect mode the client tells the server to
    do so; a server that is reached without TLS gets none.

    The values have no ``repr``, and are not pickled: a closure carries a reference instead (see
    :mod:`configproviders.spark.executors`).

    Raises :class:`UnresolvedError` with every reference that has no value (with *strict* off, an
    unknown provider and a missing key leave it as typed), and :class:`ConfigException` for an
    option whose value would be seen or changed, but for those that *allow_leaks* names.
    """
    settings, _ = read_entries(configs)
    result = resolve(as_text(options), settings, providers, strict=strict)
    return delivered_options(result, allow_leaks=allow_leaks, stream_format=stream_format)


def delivered_options(
    result: ConfigTransformerResult[str],
    *,
    allow_leaks: Collection[str] = (),
    stream_format: str | None = None,
) -> dict[str, str]:
    """Return the options of *result*, ready for Spark; see :func:`resolve_options`."""
    cleaning.remember_result(result)
    keys = result.plan.references
    secrets = {key: SecretText(result.data[key]) for key in keys}  # So that no frame shows them.
    return covered_options(
        {**result.data, **secrets}, keys, allow_leaks=allow_leaks, stream_format=stream_format
    )


def covered_options(
    options: Mapping[str, str],
    keys: Collection[str],
    *,
    allow_leaks: Collection[str] = (),
    stream_format: str | None = None,
) -> dict[str, str]:
    """Return *options*, of which *keys* hold secrets without a ``repr``, ready for Spark."""
    loggers.hold_python()
    if "pyspark" in sys.modules:
        exceptions.install()
    routes = {
        key: stream_route(key, stream_format) if stream_format else route(key) for key in keys
    }
    guard.refuse_shown(routes, allow_leaks)
    guard.refuse_unusual({key: options[key] for key in keys})
    guard.refuse_expansion(options, guard.expanded_options(keys))
    guard.log_shown(routes)
    redaction.add_options(keys)
    connect.cover_options(redaction.known_options())
    return dict(options)
