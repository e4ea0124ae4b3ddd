"""Who wants to be told, of what, and what they were told last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..plan import Location
from .change import LocationChange
from .content import Content
from .location import WatchedLocation

Tell = Callable[[Mapping[Location, LocationChange]], None]


class Subscription:
    """One callback and the locations it is for. Touched under the lock of the state.

    What it is told is the difference between what it was told last and what there is: so nothing
    is told twice, nothing that went back meanwhile is told, and the order is kept.
    """

    __slots__ = ("_end", "busy", "ended", "first", "locations", "name", "pending", "tell", "told")

    def __init__(self, name: str, tell: Tell, end: Callable[[Subscription], None]) -> None:
        """Know of no location yet; *name* is for messages."""
        self.name = name
        self.tell = tell
        self._end = end
        self.locations: list[WatchedLocation] = []
        self.told: dict[WatchedLocation, Content] = {}
        self.pending: set[WatchedLocation] = set()
        self.first = 0.0  # When the first of what is pending was seen.
        self.busy = False  # It is being told, or about to be.
        self.ended = False

    def cancel(self) -> None:
        """Be told no more; a callback that is under way is not waited for."""
        self._end(self)

    def differs(self, watched: WatchedLocation) -> bool:
        """Whether there is something at *watched* to tell."""
        told = self.told.get(watched)
        keys = watched.wants[self]
        if told is None or not watched.may_tell(keys):
            return False
        return watched.content.only(keys).digests != told.digests

    def take(self) -> dict[Location, LocationChange]:
        """Return what is to be told, and have it told."""
        changes: dict[Location, LocationChange] = {}
        for watched in self.locations:
            if watched not in self.pending:
                continue
            keys, told = watched.wants[self], self.told[watched]
            content = watched.content.only(keys)
            if changed := content.changed_since(told):
                data = watched.values_of(keys)
                kind = content.kind_since(told)
                changes[watched.location] = LocationChange(
                    kind, changed, told.version, content.version, data
                )
            self.told[watched] = content
            watched.forget_told(self)
        self.pending.clear()
        return changes
