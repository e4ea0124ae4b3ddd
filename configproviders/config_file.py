"""The configs that users write: a file, or standard input, to a flat ``dict``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from .errors import ConfigException, MalformedText, shorten, there_is
from .formats import FORMATS, MAX_BYTES, decode, format_of, parse_config


def read_configs(path: str, *, text_format: str | None = None) -> dict[str, str]:
    """Read the config at *path*; ``-`` is standard input.

    *text_format* is one of :data:`configproviders.formats.FORMATS`; by default the suffix of
    *path* says it, and any unknown one means properties. The JSON of a Kafka Connect connector,
    ``{"name": …, "config": {…}}``, is its config with the name.

    Raises :class:`ConfigException` with the path, and with the line if the text is malformed.
    """
    place = "standard input" if path == "-" else shorten(path)
    chosen = text_format or format_of(path)
    if chosen not in FORMATS:
        raise ConfigException(f"no format named {chosen!r}; {there_is(chosen, FORMATS)}")
    if "\0" in path:
        raise ConfigException(f"cannot read {place!r}: a path holds no NUL character")
    try:
        return parse_config(decode(_content(path)), chosen)
    except MalformedText as error:
        raise MalformedText(f"{place}: {error}") from None
    except OSError as error:
        raise ConfigException(f"cannot read {place!r}: {error.strerror}") from error


def _content(path: str) -> bytes:
    # A pipe is welcome here: a shell makes one for `resolve-config <(command)`.
    if path != "-":
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    elif sys.stdin is not None:
        with suppress(OSError, ValueError):  # A pipe that does not block would look ended.
            os.set_blocking(sys.stdin.fileno(), True)
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        raise ConfigException("standard input is closed")
    if len(content) > MAX_BYTES:
        raise MalformedText(f"larger than {MAX_BYTES >> 20} MiB")
    return content
