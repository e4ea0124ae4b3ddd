"""How a thread that must go on bears failures: when one is news, and how long to pause after it.

::

    working ── a failure ──> trying ── more than retry.max, or no passing one ──> failing
       └<── an attempt that works ──┘                                                │
       └<── an attempt that works: reported ─────────────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
_DOUBLINGS = 10


class Patience:
    """Counts failures. For one thread."""

    def __init__(self, retries: int, jitter: Callable[[], float]) -> None:
        """Report what *retries* did not overcome; *jitter* gives numbers from 0 to 1."""
        self._retries = retries
        self._jitter = jitter
        self._failures = 0
        self._is_reported = False

    @property
    def is_trying(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    def fail(self, *, may_pass: bool) -> bool:
        """Count a failure; return whether it is to be reported."""
        self._failures += 1
        was_reported = self._is_reported
        self._is_reported |= self._failures > self._retries or not may_pass
        return self._is_reported and not was_reported

    def work(self) -> bool:
        """Count an attempt that works; return whether that is to be reported."""
        was_reported = self._is_reported
        self._failures, self._is_reported = 0, False
        return was_reported

    def pause(self, *, may_pass: bool) -> float:
        """Return the seconds to wait after a failure, up to a minute if it will not just pass."""
        doubled = _FIRST_PAUSE * 2 ** min(self._failures - 1, _DOUBLINGS)
        longest = min(doubled, _LONGEST_PAUSE) if may_pass else _LONGEST_PAUSE
        return longest * self._jitter()
