"""Notices changes of what configs refer to: :class:`Watcher`, and what it tells."""

from .change import ChangeKind, ConfigChange, LocationChange, LocationHealth
from .subscription import Subscription
from .watcher import Watcher

__all__ = [
    "ChangeKind",
    "ConfigChange",
    "LocationChange",
    "LocationHealth",
    "Subscription",
    "Watcher",
]
