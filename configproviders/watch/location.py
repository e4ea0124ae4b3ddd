"""One location that is watched: what is known of it, who wants what, whether it can be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from ..data import Answer, ConfigData
from ..errors import ConfigException, KeyNotFound, PathNotFound
from ..plan import Location
from ..provider import ConfigProvider
from .change import LocationHealth
from .content import NOTHING, Content
from .timing import Rate

if TYPE_CHECKING:
    from .subscription import Subscription


class Source:
    """A provider, how often it is asked, and what is watched of it by path."""

    def __init__(
        self,
        name: str,
        provider: ConfigProvider,
        interval: float,
        rate: Rate,
        *,
        ends_here: bool = False,
    ) -> None:
        """Start with nothing watched; *ends_here* says that its own ``subscribe`` led to us."""
        self.name = name
        self.provider = provider
        self.ends_here = ends_here
        self.waits = provider.waits
        self.interval = interval
        self.rate = rate
        self.locations: dict[str, WatchedLocation] = {}


class Reading(NamedTuple):
    """What an answer says about a location; no ``content`` if it says nothing new."""

    data: ConfigData | None
    content: Content | None = None
    error: str | None = None
    unread: Collection[str] = ()
    stale: bool = False

    @classmethod
    def of(cls, answer: Answer) -> Reading:
        """Read *answer*: an absent path holds nothing, a failure says nothing about the content."""
        if isinstance(answer, PathNotFound):
            return cls(ConfigData({}), NOTHING)
        if isinstance(answer, ConfigException):
            return cls(None, error=str(answer))
        if answer.stale:
            return cls(answer, error="its backend fails; the last answer is kept", stale=True)
        failed = _unread(answer.errors)
        error = str(next(iter(failed.values()))) if failed else None
        return cls(answer, Content.of(answer.data, answer.version), error, failed.keys())


def _unread(errors: Mapping[str, ConfigException]) -> dict[str, ConfigException]:
    """Return those of *errors* that do not just say that there is nothing."""
    return {
        key: error
        for key, error in errors.items()
        if not isinstance(error, KeyNotFound | PathNotFound)
    }


class WatchedLocation:
    """What is known of one location, and who wants it. Touched under the lock of the state."""

    __slots__ = (
        "askers",
        "asking",
        "content",
        "data",
        "error",
        "event",
        "failing_since",
        "failures",
        "hurried",
        "location",
        "look",
        "missed",
        "since",
        "slot",
        "source",
        "stale",
        "unread",
        "untold",
        "wants",
    )

    def __init__(self, location: Location, source: Source) -> None:
        """Know nothing yet."""
        self.location = location
        self.source = source
        self.wants: dict[Subscription, frozenset[str]] = {}  # No keys are all keys.
        self.content = NOTHING
        self.data: ConfigData | None = None  # Kept only until all of `untold` are told.
        self.untold: set[Subscription] = set()
        self.unread: Collection[str] = ()
        self.asking = False
        self.look: object = None  # The one that it is, or was last, claimed for.
        self.askers: list[Subscription] = []  # Who wanted it when that look was claimed.
        self.hurried = False  # The look that is under way, or was last, followed an event.
        self.since: float | None = None  # When the first event came that it followed.
        self.missed = False  # It came due while it was being asked for.
        self.slot: float | None = None  # When it may be asked for, if that had to be put off.
        self.event: float | None = None  # The first event that no look has followed yet.
        self.error: str | None = None
        self.failures = 0
        self.failing_since = 0.0
        self.stale = False

    @property
    def is_moving(self) -> bool:
        """Whether something happened that no answer tells of yet."""
        return self.event is not None or (self.asking and self.hurried)

    def keys(self) -> frozenset[str] | None:
        """Return the keys to ask for; ``None`` for all."""
        wanted = self.wants.values()
        return frozenset().union(*wanted) if all(wanted) else None

    def asked_by(self) -> list[tuple[Subscription, frozenset[str]]]:
        """Return for whom the look was, or is, and their keys.

        Who came later may want what was not asked for, or have seen what is newer.
        """
        return [(each, self.wants[each]) for each in self.askers if each in self.wants]

    def take(self, reading: Reading, now: float) -> None:
        """Take in what was read *now*."""
        if reading.error is None:
            self.failures = 0
        else:
            self.failing_since = self.failing_since if self.failures else now
            self.failures += 1
        self.error, self.stale = reading.error, reading.stale
        if reading.content is not None:
            self.content = reading.content.keeping(reading.unread, self.content)
            self.unread = reading.unread

    def may_tell(self, keys: frozenset[str]) -> bool:
        """Whether all of *keys* could be read: some of them alone may be of another version.

        No keys are all that are known to be there.
        """
        return not self.unread or (keys or self.content.digests.keys()).isdisjoint(self.unread)

    def values_of(self, keys: frozenset[str]) -> ConfigData:
        """Return what is there of *keys*, as last read."""
        data = self.data
        if data is None:
            return ConfigData({})
        values = {key: value for key, value in data.data.items() if not keys or key in keys}
        return ConfigData(values, data.ttl, version=data.version, lease=data.lease)

    def forget_told(self, subscription: Subscription) -> None:
        """Have *subscription* told; keep no values that nobody waits for."""
        self.untold.discard(subscription)
        if not self.untold:
            self.data = None

    def health(self, now: float, next_look: float | None) -> LocationHealth:
        """Say how it is."""
        failing = timedelta(seconds=now - self.failing_since) if self.failures else None
        left = timedelta(seconds=max(0.0, (now if next_look is None else next_look) - now))
        return LocationHealth(self.error, failing, self.stale, left)
