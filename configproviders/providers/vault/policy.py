"""The least Vault policy (HCL) that a config needs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ...errors import ConfigException, shorten

_PLACEHOLDER = "<data/>"
_EXPLANATION = (
    f"# {_PLACEHOLDER}: leave it out if the mount is KV version 1, write data/ if it is version 2;"
    " --online asks Vault.\n"
)


def unknown(path: str) -> str:
    """Return *path* with a mark where a KV engine of version 2 has ``data/``."""
    mount, _, rest = path.partition("/")
    return f"{mount}/{_PLACEHOLDER}{rest}"


def policy(paths: Iterable[str], namespace: str | None) -> str:
    """Return a policy that allows to read *paths* and nothing else.

    Raises :class:`ConfigException` for a path that a policy reads as a pattern.
    """
    ordered = sorted(set(paths))
    for path in ordered:
        if path.endswith("*") or "+" in path.split("/") or "{{" in path or "${" in path:
            raise ConfigException(
                f"no policy can name {shorten(path)!r} alone: it would be read as a pattern"
            )
    notes = f"# In the namespace {json.dumps(namespace)}.\n" if namespace else ""
    notes += _EXPLANATION if any(_PLACEHOLDER in path for path in ordered) else ""
    rules = (
        f'path {json.dumps(path, ensure_ascii=False)} {{\n  capabilities = ["read"]\n}}\n'
        for path in ordered
    )
    return notes + "\n".join(rules)
