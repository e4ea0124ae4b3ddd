"""The thread that does what is due, such as a renewal, while nobody asks for anything."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence

from ...errors import ConfigException

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE, _STOP_SECONDS = 0.5, 30.0, 2.0
_LONGEST_WAIT = 86_400.0


class Keeper:
    """Calls *work* when *due* says, in a thread named ``vault-session``.

    *due* returns monotonic times, none if nothing will ever be due. The thread starts when
    :meth:`wake` finds something to wait for. An error of *work* is kept in :attr:`last_error`, and
    *work* is called again after a growing, jittered pause: what was due already waits that long,
    and no longer does what comes due meanwhile.
    """

    def __init__(self, due: Callable[[], Sequence[float]], work: Callable[[], None]) -> None:
        """Take both; nothing is started."""
        self._due = due
        self._work = work
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.last_error: str | None = None

    def wake(self) -> None:
        """Have *due* asked again: something has changed."""
        with self._changed:
            if self._thread is None and not self._closed and self._due():
                self._thread = threading.Thread(target=self._run, name="vault-session", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread, after the call it is in."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        pause = tried = 0.0
        while self._wait(tried, pause):
            tried = time.monotonic()
            try:
                self._work()
            except Exception as error:  # noqa: BLE001  The top of a thread, which must go on.
                self._report(error)
                pause = min(max(_FIRST_PAUSE, pause * 2), _LONGEST_PAUSE)
            else:
                pause, self.last_error = 0.0, None

    def _wait(self, tried: float, pause: float) -> bool:
        """Wait until something is due, what was due when *tried* at least *pause*; go on if so."""
        again = time.monotonic() + pause * (0.5 + random.random())  # noqa: S311  No secret.
        with self._changed:
            while not self._closed:
                times = [max(due, again) if due <= tried else due for due in self._due()]
                if not times:
                    self.last_error = None  # What could not be kept alive is gone.
                left = min(times, default=time.monotonic() + _LONGEST_WAIT) - time.monotonic()
                if left <= 0:
                    return True
                self._changed.wait(min(left, _LONGEST_WAIT))
        return False

    def _report(self, error: Exception) -> None:
        # The text of an error that is not ours may hold a token.
        message = str(error) if isinstance(error, ConfigException) else type(error).__name__
        if self.last_error is None:
            _log.warning("a token or lease of Vault cannot be renewed; still trying: %s", message)
        self.last_error = message
