"""Texts that hold names and values: properties, JSON, YAML and TOML, each to a flat ``dict``.

Nested keys are joined with dots, and the items of a list are numbered from 0. A value is text as
it was typed: YAML's ``no`` and ``0123`` and JSON's ``1.10`` stay what they are. A null is no value.
No message quotes the text: it may be a secret that was not quoted right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from . import properties
from .errors import MalformedText, shorten

MAX_BYTES = 16 * 1024 * 1024
_MAX_VALUES = 100_000
_MAX_DEPTH = 100
_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
_YAML_NULL, _YAML_MERGE = "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"


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


def parse(text: str, text_format: str) -> dict[str, str]:
    """Read *text*, whose format is a key of ``FORMATS``; raise :class:`MalformedText`."""
    return FORMATS[text_format](text)


def _json(text: str) -> dict[str, str]:
    import json

    try:
        document = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        fault = f"line {error.lineno}: column {error.colno}: {error.msg}"
    except RecursionError:
        fault = "nested too deeply"
    else:
        return _flat(document)
    raise MalformedText(f"{fault} (as JSON)")


def _toml(text: str) -> dict[str, str]:
    import tomllib

    try:
        document = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at (line \d+), (column \d+)\)", str(error))
        fault = f"{place[1]}: {place[2]}" if place else "the end"
    except RecursionError:
        fault = "nested too deeply"
    else:
        return _flat(document)
    raise MalformedText(f"{fault}: not TOML; text stands in quotes there")


def _yaml(text: str) -> dict[str, str]:
    import yaml

    resolvers = {
        first: kept
        for first, all_of_them in yaml.SafeLoader.yaml_implicit_resolvers.items()
        if (kept := [each for each in all_of_them if each[0] in {_YAML_NULL, _YAML_MERGE}])
    }

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # As fast as there is.
        """Reads every plain scalar but null as text, and refuses what could multiply."""

        yaml_implicit_resolvers = resolvers

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            for key, _ in node.value:
                if key.tag == _YAML_MERGE:
                    raise MalformedText(
                        f"line {key.start_mark.line + 1}: merge keys ('<<') are not read:"
                        " write the keys out"
                    )

    try:
        _refuse_depth(yaml.parse(text, Loader))
        document = yaml.load(text, Loader)  # noqa: S506  The loader above is a safe one.
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fault = f"line {mark.line + 1}: column {mark.column + 1}" if mark else "the end"
    except (yaml.YAMLError, ValueError):
        fault = "a character or a number"
    else:
        return _flat(document)
    raise MalformedText(f"{fault}: not YAML; quote text that starts with a special character")


def _refuse_depth(events: Iterator[object]) -> None:
    depth = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent")
        depth -= name.endswith("EndEvent")
        if depth > _MAX_DEPTH:
            raise MalformedText("nested too deeply")


FORMATS: dict[str, Callable[[str], dict[str, str]]] = {
    "properties": properties.loads,
    "json": _json,
    "yaml": _yaml,
    "toml": _toml,
}


def _flat(document: object) -> dict[str, str]:
    if not isinstance(document, dict):
        raise MalformedText("the top level is not a mapping of names to values")
    flat: dict[str, str] = {}
    try:
        for key, value in _leaves(document, ""):
            if key in flat:
                raise MalformedText(f"key {shorten(key)!r} stands twice, nested and with a dot")
            flat[key] = value
            if len(flat) > _MAX_VALUES:
                raise MalformedText(f"more than {_MAX_VALUES:,} values")
    except RecursionError:
        raise MalformedText("nested too deeply, or within itself") from None
    return flat


def _leaves(node: object, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for name, child in node.items():
            if not isinstance(name, str):
                raise MalformedText(f"a key below {shorten(key)!r} is not text")
            yield from _leaves(child, f"{key}.{name}" if key else name)
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _leaves(child, f"{key}.{number}")
    elif node is not None:
        yield key, _text(node, key)


def _text(value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if callable(isoformat := getattr(value, "isoformat", None)):
        return str(isoformat())
    raise MalformedText(f"the value of {shorten(key)!r} is a {type(value).__name__}, not text")
