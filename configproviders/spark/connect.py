"""What a client of Spark Connect can do: its server shows plans and confs to others.

Everything in a conf of the server can be read by whoever has a session there, so no reference may
stand in one. Options of readers and writers are part of a plan, which the server writes to its
pages and its event log; it leaves out what a pattern of the session finds in that text. So the
client sets one, for names that sound secret and for those that hold values, before its first plan.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedOperation
from ..reference import find_all
from . import exceptions, loggers, redaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SOUNDS_SECRET = "password|passwd|secret|token|credential|api.?key|access.?key|private.?key|url"  # noqa: S105  A pattern.


def is_connect(entries: Mapping[str, str]) -> bool:
    """Tell whether a session with *entries* is one of Spark Connect."""
    from pyspark.sql.utils import is_remote
    from pyspark.util import default_api_mode

    remote = "spark.remote" in entries or "SPARK_REMOTE" in os.environ or is_remote()
    mode = entries.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or default_api_mode()
    return remote or mode.lower() == "connect"


def start(builder: SparkSession.Builder, entries: Mapping[str, str]) -> SparkSession:
    """Return the session of *builder* with *entries* alone, which hides the options of plans."""
    refuse_references(entries)
    loggers.hold_python()
    fresh = type(builder)()
    for key, value in entries.items():
        fresh.config(key, value)
    session = fresh.getOrCreate()
    exceptions.install(connect=True)
    keys = redaction.known_options()
    if keys:
        refuse_clear_text(session)
    _cover(session, keys)
    return session


def refuse_references(entries: Mapping[str, str]) -> None:
    """Raise :class:`UnsupportedOperation` for each of *entries* that has a reference."""
    if keys := sorted(find_all(entries)):
        raise UnsupportedOperation(
            f"{', '.join(keys)}: Spark Connect would send the values to a server that shows them"
            " to whoever asks for its configuration; use a classic session, or resolve_options for"
            " readers and writers"
        )


def cover_options(keys: Collection[str]) -> None:
    """Have the session of Spark Connect that is active, if there is one, hide the options *keys*.

    Raises :class:`UnsupportedOperation` if they would go over a network in the clear.
    """
    session = redaction.active_session(remote=True)
    if session is None:
        return
    exceptions.install(connect=True)
    refuse_clear_text(session)
    _cover(session, keys)


def refuse_clear_text(session: Any) -> None:
    """Raise :class:`UnsupportedOperation` if *session* sends options in the clear to elsewhere."""
    channel = session.client._builder
    if not (channel.secure or _is_loopback(channel.host)):
        raise UnsupportedOperation(
            f"the Spark Connect server {channel.host!r} is reached without TLS, where others can"
            " read the options; add ;use_ssl=true to its URL"
        )


def _cover(session: SparkSession, keys: Collection[str]) -> None:
    names = sorted(map(re.escape, keys))
    shapes = [shape for name in (_SOUNDS_SECRET, *names) for shape in _shapes(name)]
    _extend(session, redaction.STRING_REGEX, shapes)
    _extend(session, redaction.OPTIONS_REGEX, [f"^(?i:{name})$" for name in names])


def _shapes(name: str) -> tuple[str, str]:
    """Return what finds an option in the text of a plan as it is sent, and in one for people."""
    value = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'  # Possessive: else Java's stack is too small for a key.
    return (
        rf'(?is:key: "[^"]*(?:{name})[^"]*"\s+value: {value})',
        rf"(?i:(?:{name})\s*\W{{1,4}}[^,)\]}}&\n]*(?:,(?!\s?[\w.-]+=)[^,)\]}}&\n]*)*)",
    )


def _extend(session: SparkSession, entry: str, patterns: Collection[str]) -> None:
    now = session.conf.get(entry, None) or ""
    if missing := [pattern for pattern in patterns if pattern not in now]:
        session.conf.set(entry, "|".join([now, *missing] if now else missing))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
