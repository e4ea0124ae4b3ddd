"""When to renew what ends, by the rules that HashiCorp's own clients follow.

Renewing waits two thirds of what is left and a third of a grace, which is a random tenth to fifth
of the whole (``LifetimeWatcher`` of Vault's Go client). What cannot be renewed is replaced at 85 to
95 percent of its life (consul-template). A renewal that grants less than two thirds of the first
grant meets a maximum: then it is time for something new, while the old still works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

_STILL_GROWS = 2 / 3
_LONGEST = 10 * 366 * 86_400


def whole(value: object) -> int:
    """Return what Vault says of seconds or uses; 0 for what it leaves out or what is no number.

    More than ten years count as ten.
    """
    text = str(value)
    return min(int(text), _LONGEST) if text.isascii() and text.isdigit() else 0


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long something lives, in seconds of a monotonic clock; *granted* at first, *ends* at."""

    granted: float
    ends: float
    renewable: bool
    due: float = field(compare=False)
    """When to act: to renew, or to replace."""

    @classmethod
    def of(
        cls, granted: float, *, renewable: bool, now: float, random: Callable[[], float]
    ) -> Lifetime:
        """Start a life of *granted* seconds at *now*; *random* gives numbers from 0 to 1."""
        return cls(granted, now + granted, renewable, now + _wait(granted, renewable, random()))

    def renewed(self, granted: float, now: float, random: Callable[[], float]) -> Lifetime:
        """Return what is left after a renewal that gave *granted* seconds."""
        grows = granted >= self.granted * _STILL_GROWS
        due = now + _wait(granted, renewable=True, random=random()) if grows else now
        return Lifetime(self.granted, now + granted, self.renewable and grows, due)

    def left(self, now: float) -> float:
        """Return the seconds that are left, 0 at least."""
        return max(0.0, self.ends - now)


def _wait(granted: float, renewable: bool, random: float) -> float:  # noqa: FBT001  Private.
    if not renewable:
        return granted * (0.85 + 0.1 * random)
    return granted * (2 / 3 + (0.1 + 0.1 * random) / 3)
