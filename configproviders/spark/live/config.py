"""A config with the values of now: :class:`LiveConfig`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ...errors import shorten
from ...plan import Location
from ...reference import substitute
from ...transformer import ConfigTransformer, ConfigTransformerResult, values_as_typed
from ...watch import ConfigChange, Watcher
from .. import cleaning

_log = logging.getLogger(__name__)

Changed = Callable[[Mapping[str, str]], None]
"""Takes the entries that have another value, with it."""


class _Now(NamedTuple):
    """All at once, so that a reader sees the user and the password of one version."""

    result: ConfigTransformerResult[str]
    revision: int
    subscription: object


class LiveConfig:
    """What a config resolves to now: it was resolved once, and takes in what changes since.

    Nothing is asked of a backend to read it. What is there stays while the backend cannot be
    reached, and when a secret is deleted. Thread-safe; who reads takes no lock.
    """

    def __init__(
        self,
        entries: Mapping[str, str],
        transformer: ConfigTransformer,
        watcher: Watcher,
        forget: Callable[[Location], None],
        renewing: threading.RLock,
    ) -> None:
        """Resolve *entries* and watch what they refer to; raise :class:`UnresolvedError`.

        *forget* is told the locations whose values were refused. Who holds *renewing* asks the
        backends anew; the configs of one set of providers share it.
        """
        self._entries = dict(entries)
        self._transformer = transformer
        self._watcher = watcher
        self._forget = forget
        self._changed: Changed = lambda _: None
        self._renewing = renewing
        self._landing = threading.RLock()  # One at a time brings values.
        self._cancel: Callable[[], None] = lambda: None
        self._now = _Now(self._resolve(), 0, object())
        self._watch(self._now)

    @property
    def result(self) -> ConfigTransformerResult[str]:
        """What the config resolves to; its plan stays the same."""
        return self._now.result

    @property
    def revision(self) -> int:
        """How often the values have changed so far."""
        return self._now.revision

    def invalidate(self, *, revision: int | None = None) -> None:
        """Ask for all values anew, now: those that there are were refused.

        What the providers keep of them is forgotten, so that leased credentials are issued anew.
        With *revision*, nothing happens if the values have changed since: so of several that were
        refused at once, one asks. Raises :class:`UnresolvedError`, and keeps what there is, if that
        fails.
        """
        with self._renewing:
            if revision not in (None, self.revision):
                return
            result = self._resolve()
            if result.data == self.result.data:  # Else another config had them renewed.
                for location in self.result.plan.lookups:
                    self._forget(location)
                result = self._resolve()
            with self._landing:
                now = self._now = self._now._replace(subscription=object())
                self._land(result)
            self._watch(now._replace(result=result))

    def follow(self, changed: Changed, since: Mapping[str, str]) -> None:
        """Have *changed* called with what is not as in *since*, now and whenever it changes.

        It is called in the thread that brings the change: the watcher's, or that of
        :meth:`invalidate`; one at a time, and in order.
        """
        with self._landing:
            self._changed = changed
            if different := _difference(since, self.result.data):
                changed(different)

    def _resolve(self) -> ConfigTransformerResult[str]:
        result = self._transformer.transform(self._entries, strict=True)
        cleaning.remember_result(result)
        return result

    def _watch(self, now: _Now) -> None:
        """Hear of what changes from *now* on, and no more of what was heard before."""
        result, _, current = now
        if not result.plan.lookups:
            return

        def take(change: ConfigChange) -> None:
            with self._landing:
                if self._now.subscription is current:
                    self._land(self._with(change))

        cancel = self._cancel
        self._cancel = self._watcher.watch(result.plan, take, since=result.answers).cancel
        cancel()

    def _with(self, change: ConfigChange) -> ConfigTransformerResult[str]:
        """Return the result with *change*; where a value is gone, all of the location stays."""
        result = self.result
        answers = dict(result.answers)
        for location, each in change.locations.items():
            if result.plan.lookups[location] <= each.data.data.keys():
                answers[location] = each.data
            else:
                place = f"{location.provider}:{shorten(location.path)}"
                _log.warning("what %s said is gone; its last values stay in use", place)
        values = values_as_typed(result.plan, answers)
        data, _ = substitute(self._entries, result.plan.references, values)
        return replace(result, data=data, answers=answers)

    def _land(self, result: ConfigTransformerResult[str]) -> None:
        cleaning.remember_result(result)
        changed = _difference(self.result.data, result.data)
        if changed:
            _log.info("%s: there are new values", ", ".join(changed))
            self._changed(changed)  # Before the revision: who waits for that goes on with all.
        revision = self.revision + bool(changed)
        self._now = self._now._replace(result=result, revision=revision)


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in after.items() if value != before.get(key)}
