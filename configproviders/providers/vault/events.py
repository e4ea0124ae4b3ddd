"""Vault's events, told to who watches, so that a change is seen at once and not by the next poll.

Vault keeps no event for who is not there. So whenever a connection comes about, everything counts
as changed; and polling goes on meanwhile, for what is lost without a trace. A server without events
(OpenBao, Vault's community edition) is asked again after an hour: it may be another one by then.

Events come when they come, so waiting for them takes a thread: one for a provider, while somebody
listens.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from functools import partial

from ...errors import ConfigException, LookupDenied, PathNotFound
from ...provider import Changed
from ...single_flight import renew_in_children
from .event import Event, parse
from .websocket import Line, WebSocket

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE, _STEADY_SECONDS = 0.5, 60.0, 60.0
_WITHOUT_EVENTS_PAUSE = 3600.0
_SILENCE_SECONDS = 20.0
_STOP_SECONDS = 2.0

Concerns = Callable[[str], bool]


class Events:
    """Calls who listens, all from one thread, which runs while somebody does. Thread-safe.

    *connect* opens a connection on a line, and *locate* says where in Vault a path is.
    """

    def __init__(self, connect: Callable[[Line], WebSocket], locate: Callable[[str], str]) -> None:
        """Take both; nothing is connected before :meth:`listen`."""
        self._connect = connect
        self._locate = locate
        self._lock = threading.Lock()
        self._listeners: dict[object, Changed] = {}
        self._receiver: Receiver | None = None
        renew_in_children(self)

    def listen(self, changed: Changed) -> Callable[[], None]:
        """Have *changed* called from now on; return what ends that."""
        listener = object()
        with self._lock:
            if self._receiver is None:
                receiver = Receiver(self._connect, self._tell)
                receiver.start()  # There may be no thread to be had: then nobody listens.
                self._receiver = receiver
            self._listeners[listener] = changed
        return partial(self._forget, listener)

    def close(self) -> None:
        """Have nobody called any more, and end the connection and the thread."""
        with self._lock:
            self._listeners.clear()
        self._forget(None)

    def renew(self) -> None:
        """Have nobody listen in a forked child: the connection is its parent's."""
        self._lock = threading.Lock()
        self._listeners = {}
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.abandon()

    def _forget(self, listener: object) -> None:
        receiver = None
        with self._lock:
            self._listeners.pop(listener, None)
            if not self._listeners:
                receiver, self._receiver = self._receiver, None
        if receiver is not None:  # Without the lock, which its thread may wait for.
            receiver.stop()

    def _tell(self, event: Event | None) -> None:
        """Tell all of *event*; ``None`` concerns everything."""

        def concerns(path: str) -> bool:
            try:
                return event is None or event.concerns(self._locate(path))
            except ConfigException:
                return False  # It is no path.

        with self._lock:
            listeners = list(self._listeners.values())
        for changed in listeners:
            changed(concerns)


class Receiver:
    """Connects, receives, and connects again, in a thread named ``vault-events``.

    *tell* is called with each event, and with ``None`` when any may have been missed.
    """

    def __init__(
        self, connect: Callable[[Line], WebSocket], tell: Callable[[Event | None], None]
    ) -> None:
        """Take both; nothing is started."""
        self._connect = connect
        self._tell = tell
        self._line = Line()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vault-events", daemon=True)
        self._trouble = ""
        self._has_worked = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the connection and the thread: at once, or after a login that is under way."""
        self._stopped.set()
        self._line.cut()
        if self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)

    def abandon(self) -> None:
        """Let go of what a forked child shares with the parent."""
        self._line.abandon()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause * (0.5 + random.random())):  # noqa: S311  No secret.
            began = time.monotonic()
            try:
                self._receive()
            except Exception as error:  # noqa: BLE001  The top of a thread, which must go on.
                self._line.release()
                lasted = time.monotonic() - began
                pause = min(max(_FIRST_PAUSE, pause * 2), _LONGEST_PAUSE)
                if lasted > _STEADY_SECONDS:
                    pause = _FIRST_PAUSE
                elif isinstance(error, PathNotFound) and not self._has_worked:
                    pause = _WITHOUT_EVENTS_PAUSE
                self._report(error)

    def _receive(self) -> None:
        """Receive until the connection is lost, which is an exception."""
        with self._connect(self._line) as websocket:
            self._has_worked = True
            self._report(None)
            self._tell(None)
            for message in websocket.messages(_SILENCE_SECONDS):
                if event := parse(message):
                    self._tell(event)

    def _report(self, error: Exception | None) -> None:
        """Log what is another kind of trouble than before, or that there is none any more."""
        trouble = "" if error is None else _kind(error)
        before, self._trouble = self._trouble, trouble
        if trouble == before or self._stopped.is_set():
            return
        if error is None:
            _log.info("events of Vault are received again")
        else:
            _log.warning("no events of Vault for now; polling goes on: %s", _reason(error))


def _kind(error: Exception) -> str:
    kinds = (PathNotFound, LookupDenied)
    return next((each.__name__ for each in kinds if isinstance(error, each)), "lost")


def _reason(error: Exception) -> str:
    # The text of an error that is not ours may hold anything.
    ours = isinstance(error, ConfigException)
    return str(error) if ours else f"the connection is lost ({type(error).__name__})"
