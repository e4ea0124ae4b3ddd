"""What clients send: JSON, read strictly; nothing of it is repeated in an error."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ..errors import BadRequest

LARGEST = 1 << 20
"""Bytes that a body may have."""

_KINDS = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}


async def read_object(request: Request) -> dict[str, Any]:
    """Return the JSON object of the body; numbers are the text that was sent.

    Answers 400 for anything else, 413 and 415 as HTTP has it. An object that names a key twice is
    refused: which of both is meant, readers do not agree on.
    """
    content = await _read(request)
    if not content:
        raise BadRequest("the body is empty: send a JSON object")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415)
    body = _parse(content)
    if not isinstance(body, dict):
        raise BadRequest(f"the body is {_kind(body)}, not an object")
    return body


def read_config(config: Mapping[str, Any]) -> dict[str, str]:
    """Return a connector's config: all is text, as Jackson reads scalars into a map of strings."""
    return {key: _text(key, value) for key, value in config.items()}


def read_patch(config: Mapping[str, Any]) -> dict[str, str | None]:
    """Return changes of a config, in which null stands for a key to be removed."""
    return {key: None if value is None else _text(key, value) for key, value in config.items()}


def refuse_unknown(body: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise :class:`BadRequest` if *body* has fields that are not *known*."""
    if unknown := sorted(body.keys() - known):
        raise BadRequest(f"unknown fields {unknown}; there are {', '.join(known)}")


async def _read(request: Request) -> bytes:
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > LARGEST:
                raise HTTPException(413, f"a body is {LARGEST >> 20} MiB at most")
    except ClientDisconnect as error:
        raise BadRequest("the body has no end") from error
    return bytes(content)


def _parse(content: bytes) -> Any:
    try:
        body = json.loads(
            content,
            object_pairs_hook=_object,
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
        )
        json.dumps(body, ensure_ascii=False).encode()  # Half of a surrogate pair is no text.
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadRequest(f"the body is not JSON: {error.msg.lower()} at {place}") from None
    except UnicodeError:
        raise BadRequest("the body is not Unicode text") from None
    except RecursionError:
        raise BadRequest("the body is nested too deeply") from None
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = [key for key, count in counts.items() if count > 1]
        raise BadRequest(f"the body has keys more than once: {twice}")
    return found


def _refuse_constant(name: str) -> Any:
    raise BadRequest(f"the body is not JSON: {name} is no number there")


def _text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    raise BadRequest(f"the config's {key!r} is {_kind(value)}: only text, numbers and booleans are")


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "text or a number")
