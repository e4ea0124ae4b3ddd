"""What one subscription knows, and has to be told."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from watch.simulated_backends import Content
from watch.world import SETTLE_MAX

from configproviders.watch.location import WatchedLocation


@dataclass(eq=False)
class Wanted:
    """What one subscription knows of one location: what it found when it began, or was told."""

    keys: frozenset[str]
    floor: int
    """From here on in the history of the place is what it may be told next."""
    seen: Content | None = None
    version: str | None = None


@dataclass(eq=False)
class ExpectedSubscription:
    """What has to be told one subscription, and until when."""

    wants: dict[WatchedLocation, Wanted] = field(default_factory=dict)
    pending: set[WatchedLocation] = field(default_factory=set)
    busy: bool = False
    first: float = 0.0
    free: float = 0.0
    tell_by: float = math.inf

    def plan(self, now: float) -> None:
        """Work out until when it must be told, after it could be told until *now*."""
        self.tell_by = max(self.first + SETTLE_MAX, now) if self.pending else math.inf
