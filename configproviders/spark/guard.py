"""Refuses what would show a secret or change it, before anything is set."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Mapping

from ..errors import ConfigException
from .routes import Route, Way

_logger = logging.getLogger(__name__)
# What Hadoop's Configuration and Spark's ConfigReader take for a variable when a value is read.
_VARIABLE = re.compile(r"\$\{[^}]+\}")
# Options that Hadoop's Configuration receives with those of a reader or writer.
_HADOOP_OPTIONS = ("fs.", "hadoop.", "dfs.", "parquet.", "orc.", "mapreduce.")


def refuse_options(routes: Mapping[str, Route]) -> None:
    """Raise :class:`ConfigException` for what is no key of Spark's."""
    if options := [key for key, each in routes.items() if each.way is Way.OPTION]:
        raise ConfigException(
            f"{', '.join(options)}: no secret is set under a key that does not begin with 'spark.';"
            " hand it to readers and writers with resolve_options, or to Hadoop as spark.hadoop.*"
        )


def refuse_shown(routes: Mapping[str, Route], allow_leaks: Collection[str]) -> None:
    """Raise one :class:`ConfigException` for all secrets that would be shown, but those allowed."""
    if isinstance(allow_leaks, str):
        raise ConfigException(f"allow_leaks is a set of keys, not one text: {{{allow_leaks!r}}}")
    lines = "".join(
        f"\n  {key}: it would be seen in {each.shown}; {each.instead}"
        for key, each in routes.items()
        if each.is_refused and key not in allow_leaks
    )
    if lines:
        raise ConfigException(
            "no reference may stand there, unless allow_leaks names the key:" + lines
        )


def log_shown(routes: Mapping[str, Route]) -> None:
    """Log each secret that is shown because it is allowed to."""
    for key, each in routes.items():
        if each.is_refused:
            _logger.warning("%s: a secret is seen in %s, as allow_leaks allows", key, each.shown)


def refuse_unusual(secrets: Mapping[str, str]) -> None:
    """Raise :class:`ConfigException` for values that no JVM takes."""
    for key, text in secrets.items():
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ConfigException(f"{key}: the value holds half a surrogate pair, and is no text")


def refuse_expansion(secrets: Mapping[str, str], keys: Iterable[str]) -> None:
    """Raise :class:`ConfigException` if a value under *keys* would be changed when it is read."""
    changed = sorted(key for key in keys if _VARIABLE.search(secrets[key]))
    if changed:
        raise ConfigException(
            f"{', '.join(changed)}: the value holds '${{…}}', which Hadoop or Spark would expand"
            " when it is read; hand it over in a way that does not: an option of JDBC, or"
            " configproviders.spark.executors"
        )


def expanded_options(options: Iterable[str]) -> list[str]:
    """Return those of *options* that are read from Hadoop's configuration, which expands them."""
    return [key for key in options if key.startswith(_HADOOP_OPTIONS)]


def expanded_confs(keys: Iterable[str]) -> list[str]:
    """Return those of *keys* that go to Hadoop's configuration, which expands all that it holds."""
    return [key for key in keys if key.startswith("spark.hadoop.")]
