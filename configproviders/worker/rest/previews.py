"""What would happen with a config: the answer to ``?dryRun=true``, from texts as they are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..config_infos import ConfigInfos


def preview(
    name: str, before: Mapping[str, str] | None, after: Mapping[str, str], validated: ConfigInfos
) -> dict[str, Any]:
    """Return what would happen if *after* took the place of *before*, or of nothing.

    An invalid config would not be stored, so nothing would happen: ``none``.
    """
    return {
        "name": name,
        "action": "none" if validated.error_count else _action(before, after),
        "config": dict(after),
        "diff": _diff(before or {}, after),
        "validation": validated.to_json(),
    }


def _action(before: Mapping[str, str] | None, after: Mapping[str, str]) -> str:
    if before is None:
        return "create"
    return "none" if before == after else "update"


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    return {
        "added": {key: after[key] for key in after if key not in before},
        "removed": {key: before[key] for key in before if key not in after},
        "changed": {
            key: {"before": before[key], "after": after[key]}
            for key in before
            if key in after and before[key] != after[key]
        },
    }
