"""Texts that hold names and values: properties, JSON, YAML and TOML, each to a flat ``dict``.

Nested keys are joined with dots, and the items of a list are numbered from 0. In JSON and YAML a
value is text as it was typed: ``no``, ``0123`` and ``1.10`` stay what they are; TOML's integers and
dates come out as Python writes them. A null is no value. No message quotes the text: it may be a
secret that was not quoted right.

The module is pure; the readers of JSON, TOML and YAML are loaded when one is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import properties
from .errors import MalformedText, shorten

MAX_BYTES = 16 * 1024 * 1024
_MAX_VALUES = 100_000
_MAX_DEPTH = 100
_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
_DEEP_TOML_KEY = re.compile(r"""(?:[\w\-"']+[ \t]*\.[ \t]*){200}""")
_CONNECTOR = {"name", "config", "tasks", "type", "initial_state"}


def format_of(path: str) -> str:
    """Return the name of the format that the suffix of *path* stands for."""
    name = path.lower()
    found = [text_format for suffix, text_format in _SUFFIXES.items() if name.endswith(suffix)]
    return found[0] if found else "properties"


def decode(content: bytes, encoding: str = "utf-8-sig") -> str:
    """Return *content* as text; raise :class:`MalformedText` with the line that is none."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    raise MalformedText(f"line {line}: not UTF-8")


def parse(text: str, text_format: str, *, whole: bool = False) -> dict[str, str]:
    """Read *text*, whose format is a key of ``FORMATS``; raise :class:`MalformedText`.

    With *whole*, an empty list or mapping is an error, since no text stands for it.
    """
    if text_format == "properties":
        return properties.loads(text)
    return _flat(FORMATS[text_format](text), whole=whole)


def parse_config(text: str, text_format: str) -> dict[str, str]:
    """Read *text* like :func:`parse`, and the JSON of a Kafka Connect connector as its config.

    That is ``{"name": …, "config": {…}}``, also with what Connect's answers add to it; the name
    becomes an entry of the config. It is read *whole*: no setting may be lost.
    """
    if text_format != "json":
        return parse(text, text_format, whole=True)
    document = _json(text)
    if (
        isinstance(document, dict)
        and document.keys() <= _CONNECTOR
        and isinstance(document.get("name"), str)
        and isinstance(document.get("config"), dict)
    ):
        config = _flat(document["config"], whole=True)
        if config.get("name", document["name"]) != document["name"]:
            raise MalformedText("the connector has one name, and another within its config")
        return {"name": document["name"], **config}
    return _flat(document, whole=True)


def _json(text: str) -> object:
    import json

    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        fault = f"line {error.lineno}: column {error.colno}: {error.msg}"
    except RecursionError:
        fault = "nested too deeply"
    raise MalformedText(f"{fault} (as JSON)")


def _toml(text: str) -> object:
    import tomllib

    if _DEEP_TOML_KEY.search(text):  # Its time and memory grow with the square of the depth.
        raise MalformedText("nested too deeply")
    try:
        return tomllib.loads(text, parse_float=str)
    except ValueError as error:  # Also for an integer of too many digits.
        place = re.search(r"\(at (line \d+), (column \d+)\)", str(error))
        fault = f"{place[1]}: {place[2]}" if place else "the end, or a number"
    except RecursionError:
        fault = "nested too deeply"
    raise MalformedText(f"{fault}: not TOML; text stands in quotes there")


def _yaml(text: str) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_depth(yaml.parse(text, loader))
        return _YamlValues().value(yaml.compose(text, loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fault = f"line {mark.line + 1}: column {mark.column + 1}" if mark else "the end"
    except yaml.YAMLError:
        fault = "a character that YAML does not allow"
    raise MalformedText(f"{fault}: not YAML; quote text that starts with a special character")


def _refuse_depth(events: Iterator[object]) -> None:
    # The composer in C recurses until the process crashes.
    depth = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent")
        depth -= name.endswith("EndEvent")
        if depth > _MAX_DEPTH:
            raise MalformedText("nested too deeply")


class _YamlValues:
    """Nodes to values without YAML's types, since ``no`` and ``0123`` are text here.

    What stands behind several aliases becomes one object, so nothing multiplies.
    """

    def __init__(self) -> None:
        self._made: dict[int, object] = {}

    def value(self, node: Any) -> object:
        if node is None or node.tag == "tag:yaml.org,2002:null":
            return None
        if isinstance(node.value, str):
            return node.value
        if id(node) in self._made:
            return self._made[id(node)]
        if node.id == "sequence":
            items: list[object] = []
            self._made[id(node)] = items
            items.extend(map(self.value, node.value))
            return items
        pairs: dict[str, object] = {}
        self._made[id(node)] = pairs
        pairs.update((self._key(key), self.value(value)) for key, value in node.value)
        return pairs

    def _key(self, node: Any) -> str:
        line = node.start_mark.line + 1
        if node.tag == "tag:yaml.org,2002:merge":
            raise MalformedText(f"line {line}: merge keys ('<<') are not read: write the keys out")
        if not isinstance(node.value, str):
            raise MalformedText(f"line {line}: a key is not text")
        return node.value


FORMATS: dict[str, Callable[[str], object]] = {
    "properties": properties.loads,
    "json": _json,
    "yaml": _yaml,
    "toml": _toml,
}


def _flat(document: object, *, whole: bool) -> dict[str, str]:
    if not isinstance(document, dict):
        raise MalformedText("the top level is not a mapping of names to values")
    flat: dict[str, str] = {}
    waiting: list[tuple[str, object]] = [("", document)]
    nodes = characters = 0
    while waiting:
        key, node = waiting.pop()
        children = []
        for name, child in _children(node):
            children.append((f"{key}.{name}" if key else name, child))
            nodes, characters = nodes + 1, characters + len(children[-1][0])
            _refuse_excess(nodes, characters)
        waiting.extend(reversed(children))
        if whole and key and node in ([], {}):
            raise MalformedText(f"the value of {shorten(key)!r} is empty: write text")
        if node is not None and not isinstance(node, dict | list):
            if key in flat:
                raise MalformedText(f"key {shorten(key)!r} stands twice, nested and with a dot")
            flat[key] = _text(node)
            characters += len(flat[key])
            _refuse_excess(nodes, characters)
    return flat


def _refuse_excess(nodes: int, characters: int) -> None:
    # Aliases and long keys make much out of a small file.
    if nodes > _MAX_VALUES or characters > MAX_BYTES:
        raise MalformedText(f"more than {_MAX_VALUES:,} values, or {MAX_BYTES >> 20} MiB of text")


def _children(node: object) -> Iterable[tuple[str, object]]:
    if isinstance(node, dict):
        return node.items()
    if isinstance(node, list):
        return ((str(number), child) for number, child in enumerate(node))
    return ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    isoformat = getattr(value, "isoformat", None)  # TOML's dates and times.
    return str(isoformat() if isoformat else value)
