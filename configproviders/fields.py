"""The fields of a secret that is a JSON object, each as text.

Text stays what it is; a number is written as it was typed; anything else is canonical JSON, that
is without blanks and with sorted names. A null is no value. A key is the name of a field, or a
JSON pointer (RFC 6901) to what stands deeper: ``/primary/password``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from .errors import MalformedText

_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)


class Number(str):
    """A number of a JSON text, as it was typed."""

    __slots__ = ()


def parse(text: str | bytes) -> object:
    """Read *text* as JSON, its numbers as :class:`Number`; raise :class:`MalformedText`."""
    import json

    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    except json.JSONDecodeError as error:
        fault = f"line {error.lineno}: column {error.colno}: not JSON"
    except UnicodeDecodeError:
        fault = "not UTF-8"
    except RecursionError:
        fault = "nested too deeply"
    raise MalformedText(fault)


def select(fields: Mapping[str, object], keys: Collection[str] | None) -> dict[str, str]:
    """Return what *keys* stand for in *fields*, all fields if ``None``; absent ones are left out.

    Raises :class:`MalformedText` for a value that is nested too deeply to be written.
    """
    found = {key: _find(fields, key) for key in (fields if keys is None else keys)}
    try:
        return {key: text_of(value) for key, value in found.items() if value is not None}
    except RecursionError:
        pass
    raise MalformedText("nested too deeply")


def text_of(value: object) -> str:
    """Return *value* as the text that a config holds."""
    return str(value) if isinstance(value, str) else _canonical(value)


def _find(fields: Mapping[str, object], key: str) -> object:
    if key in fields or not key.startswith("/"):
        return fields.get(key)
    value: object = fields
    for token in key[1:].split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and _INDEX.fullmatch(name):
            value = dict(zip(map(str, range(len(value))), value, strict=True)).get(name)
        else:
            return None
    return value


def _canonical(value: object) -> str:
    import json

    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Mapping):
        pairs = (f"{_canonical(name)}:{_canonical(value[name])}" for name in sorted(value))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    return json.dumps(value, ensure_ascii=False)
