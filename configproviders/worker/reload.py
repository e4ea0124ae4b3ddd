"""Notices when a secret of a connector changes: :class:`Reloads`.

A connector is watched from the answers that it was launched with, so that no change is lost
between the launch and the watch. It is a change of content that counts: a TTL that ends or a lease
that is renewed restarts nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from ..data import Answer, ConfigData
from ..plan import Location
from ..transformer import ConfigTransformer
from ..watch import ChangeKind, ConfigChange, Watcher
from .connector_keys import reload_action

if TYPE_CHECKING:
    from ..watch.subscription import Subscription


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A reference of a connector's config, the keys that it stands under, and its times.

    ``resolved_at`` is when the connector was last launched with its value, ``changed_at`` when the
    value was last seen to change since the worker began; both in UTC.
    """

    reference: str
    config_keys: tuple[str, ...]
    resolved_at: datetime | None
    changed_at: datetime | None


class Reloads:
    """Watches what connectors were launched with, and asks for their restart. Thread-safe."""

    def __init__(
        self, transformer: ConfigTransformer, watcher: Watcher, restart: Callable[[str], None]
    ) -> None:
        """Take the parts; *restart* is called with the name of a connector, from any thread.

        The watcher is closed by who opened it.
        """
        self._transformer, self._watcher, self._restart = transformer, watcher, restart
        self._lock = threading.Lock()
        self._followed: dict[str, tuple[int, Subscription | None]] = {}
        self._resolved: dict[str, datetime] = {}
        self._changed: dict[Location, datetime] = {}

    def follow(
        self,
        name: str,
        launch: int,
        config: Mapping[str, str],
        answers: Mapping[Location, Answer],
    ) -> None:
        """Watch what *config* of the connector *name* refers to, from its *answers* on.

        They may be errors: when somebody mends what they say, that is a change too. Of several
        launches the one with the highest number counts. Blocks until each location was looked at.
        """
        if all(isinstance(each, ConfigData) for each in answers.values()):
            self._resolved[name] = datetime.now(UTC)
        plan = self._transformer.plan(config)
        restarts = reload_action(config) == "restart"
        told = partial(self._told, name if restarts else None)
        subscription = self._watcher.watch(plan, told, since=answers) if plan.lookups else None
        with self._lock:
            last, before = self._followed.get(name, (0, None))
            outdated = subscription if launch < last else before
            if launch >= last:
                self._followed[name] = launch, subscription
        if outdated is not None:
            outdated.cancel()

    def forget(self, name: str, launch: int) -> None:
        """Watch nothing any more for a *launch* of the connector *name*."""
        with self._lock:
            last, subscription = self._followed.get(name, (0, None))
            if last > launch:
                return
            self._followed.pop(name, None)
        if subscription is not None:
            subscription.cancel()

    def secrets(self, name: str, config: Mapping[str, str]) -> list[SecretUse]:
        """Return each reference of *config*, the config of the connector *name*."""
        keys: dict[tuple[str, Location], list[str]] = {}
        for use in self._transformer.plan(config).uses():
            keys.setdefault((use.reference.text, use.location), []).append(use.config_key)
        return [
            SecretUse(text, tuple(found), self._resolved.get(name), self._changed.get(location))
            for (text, location), found in keys.items()
        ]

    def _told(self, name: str | None, change: ConfigChange) -> None:
        now = datetime.now(UTC)
        self._changed.update(dict.fromkeys(change.locations, now))
        if {each.kind for each in change.locations.values()} == {ChangeKind.DELETED}:
            return  # What runs goes on with what it has; a launch would fail.
        if name is not None:
            self._restart(name)
