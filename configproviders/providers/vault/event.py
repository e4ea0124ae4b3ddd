"""One event of Vault: what it says has changed.

An event is JSON, a CloudEvent. Which secret it is about stands in its metadata, and not always in
the same way: ``data_path`` and ``path`` begin with the mount, or in old versions do not; those of
databases may name a role alone. So what is compared is what all spellings of a secret have in
common. To take another secret for changed costs one look; to overlook one costs the time until the
next poll. https://developer.hashicorp.com/vault/docs/concepts/events
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ... import fields
from ...errors import MalformedText

_KV2_PARTS = {"data", "metadata", "delete", "undelete", "destroy"}
_READING = ("creds-create", "static-creds-create", "metadata-read")  # With -fail behind, too.

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """A change of what is at *paths*, or of whatever has the *name* within the *mount*."""

    paths: frozenset[Parts]
    mount: Parts
    name: Parts

    def concerns(self, path: str) -> bool:
        """Tell whether the secret at *path*, which begins with its mount, may have changed."""
        parts = _common(path)
        if parts in self.paths:
            return True
        is_within = parts[: len(self.mount)] == self.mount
        return bool(self.name) and is_within and parts[-len(self.name) :] == self.name


def parse(message: str | bytes) -> Event | None:
    """Return the change that *message* tells of; ``None`` if it tells of none.

    Credentials that somebody was issued are none, and who looked again because of them would make
    the next event.
    """
    try:
        data = _part(fields.parse(message), "data")
    except MalformedText:
        return None
    metadata = _part(_part(data, "event"), "metadata")
    kind = str(data.get("event_type", "")).rpartition("/")[2]
    is_change = str(metadata.get("modified", "true")).lower() != "false"
    if not is_change or kind.removesuffix("-fail") in _READING:
        return None
    mount = _text(_part(data, "plugin_info"), "mount_path")
    named = {_text(metadata, "data_path"), _text(metadata, "path")} - {""}
    paths = frozenset(_common(each) for path in named for each in (path, f"{mount}/{path}"))
    name = _split(_text(metadata, "name")) if mount else ()
    return Event(paths, _split(mount), name) if paths or name else None


def _common(path: str) -> Parts:
    """Return what all spellings of *path* have in common: it without ``data`` and the like."""
    parts = _split(path)
    return (*parts[:1], *(part for part in parts[1:-1] if part not in _KV2_PARTS), *parts[1:][-1:])


def _split(path: str) -> Parts:
    return tuple(part for part in path.split("/") if part)


def _part(content: object, name: str) -> Mapping[str, object]:
    found = content.get(name) if isinstance(content, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(content: Mapping[str, object], name: str) -> str:
    found = content.get(name)
    return found if isinstance(found, str) else ""
