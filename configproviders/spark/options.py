"""Options of readers and writers: the way for a secret that leaves the fewest traces."""

from __future__ import annotations

from collections.abc import Mapping

from ..provider import ConfigProvider
from ._resolution import Configs, as_text, read_entries, resolve


def resolve_options(
    options: Mapping[str, object],
    configs: Configs | None = None,
    *,
    providers: Mapping[str, ConfigProvider] | None = None,
    strict: bool = True,
) -> dict[str, str]:
    """Return *options* for a reader or writer, with values in the place of references.

    *configs* (a mapping or the path of a file) says which providers there are in its
    ``config.providers…`` entries; nothing else of it is used. *providers* are live ones, which
    win. With neither, references go to ``file``, ``directory`` and ``env``.

    No JVM is started. In Spark Connect mode the client sends the options to the server, whose
    event log and UI show them unless the server redacts them.

    Raises :class:`UnresolvedError` with every reference that has no value; with *strict* off, an
    unknown provider and a missing key leave it as typed.
    """
    settings, _ = read_entries(configs)
    return resolve(as_text(options), settings, providers, strict=strict).data
