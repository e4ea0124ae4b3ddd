"""The contract every source of values fulfils: :class:`ConfigProvider` (KIP-297)."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from .config_def import ConfigDef
from .errors import ConfigException, UnsupportedOperation, plugin_failure

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Self

    from .data import Answer, ConfigChangeCallback, ConfigData
    from .watch.shared import Shared

_WATCH = "configproviders.watch.shared"

Changed = Callable[[Callable[[str], bool]], None]
"""Takes a function that tells for a path whether what is there may have changed."""


class ConfigProvider(ABC):
    """Looks up values by path and key.

    A provider needs no more than :meth:`get`; all else has a default that works. ``configure`` is
    called at most once, before the first ``get``, and a provider works without it. ``get`` may be
    called from several threads at once. A missing key is left out of the answer; a missing path,
    a refusal and a failing backend are errors from :mod:`configproviders.errors`. ``close`` may be
    called twice. No value may stand in a log line, a ``repr`` or an exception.

    A provider is a context manager that closes itself.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef()
    """The settings that :meth:`configure` takes, for documentation and validation."""

    waits: ClassVar[bool] = True
    """Whether :meth:`get` waits for a network: then several lookups run at the same time."""

    poll_interval: timedelta | None = None
    """How often a watcher asks again, where a setting says so (``poll.interval.ms``)."""

    values_outlive_it: bool = False
    """Set by who hands values to what lives on: then :meth:`close` must not revoke them."""

    calls_made: int = 0
    """How many calls of its backend the provider has made so far, logins and retries included."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings under ``config.providers.<name>.param.``, without that prefix.

        By default nothing is taken and every setting is accepted.
        """

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Return the path and key that are meant by the ones typed: by default the same.

        Pure: no backend is asked. What maps to one path is fetched together. Raises
        :class:`ConfigException` for what can mean nothing.
        """
        return path, key

    @abstractmethod
    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the values of *keys* at *path*; of all keys there if *keys* is ``None``.

        Raises :class:`LookupFailed` or one of its kinds, or :class:`MalformedText` for what is
        there and cannot be read.
        """

    def batches(self, paths: Collection[str]) -> Iterable[Collection[str]]:
        """Return *paths* in groups, each of which :meth:`get_many` fetches in one call.

        Pure. By default all are one group if :meth:`get_many` is not the one from here, and else
        each is alone.
        """
        if type(self).get_many is ConfigProvider.get_many:
            return [(path,) for path in paths]
        return [paths]

    def get_many(self, lookups: Mapping[str, Collection[str] | None]) -> Mapping[str, Answer]:
        """Return for each path of *lookups*, with its keys, what :meth:`get` returns or raises.

        By default they are asked for one by one.
        """
        answers: dict[str, Answer] = {}
        for path, keys in lookups.items():
            try:
                answers[path] = self.get(path, keys)
            except ConfigException as error:
                answers[path] = error
            except Exception as error:  # noqa: BLE001  The border around a plugin.
                answers[path] = plugin_failure(self, error)
        return answers

    def refresh(self, lookups: Mapping[str, Collection[str] | None]) -> Mapping[str, Answer]:
        """Return what :meth:`get_many` returns, from the backend even if something is remembered.

        A watcher asks by this. What is remembered is replaced by it, not dropped.
        """
        return self.get_many(lookups)

    def refresh_batches(self, paths: Collection[str]) -> Iterable[Collection[str]]:
        """Return *paths* as :meth:`batches`, for :meth:`refresh`; by default they are the same."""
        return self.batches(paths)

    def invalidate(self, path: str | None = None) -> None:
        """Forget what is kept of *path*, or of all: a value of it was refused where it was used."""

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return the least policy, in the backend's own language, that allows *lookups*.

        What the settings do not say is a placeholder in angle brackets; with *online* the backend
        may be asked. Raises :class:`UnsupportedOperation` if the backend has no policies.
        """
        raise UnsupportedOperation(f"{type(self).__name__} needs no policy of a backend")

    def files(self, path: str) -> Collection[str]:
        """Return the files whose change may change what is at *path*; by default there are none.

        A directory stands for all that is directly in it. A watcher looks again at once when one
        of them changes, appears, or goes; without any it polls alone. Pure but for links.
        """
        return ()

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        """Have *changed* called when the backend says that something changed; return what ends it.

        *changed* takes a function that tells whether a path, as :meth:`get` takes it, is
        concerned; it returns at once, and may be called from any thread. It only makes a watcher
        look earlier, so what is lost meanwhile comes with the next poll. By default, and without
        the settings that it takes, there are no such events and ``None`` is returned.
        """
        return None

    def subscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        """Call *callback* when a value of *keys* at *path* changes; no keys means all of them.

        What is there when this returns is where the changes begin. Data without any value says
        that the values are gone. By default a :class:`~configproviders.watch.Watcher` of the
        process sees to it, which notices file events and polls.
        """
        _shared_watcher().subscribe(self, path, keys, callback)

    def unsubscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        """Undo a :meth:`subscribe` with the same arguments; nothing happens if there was none."""
        _shared_watcher().unsubscribe(self, path, keys, callback)

    def unsubscribe_all(self) -> None:
        """Undo every :meth:`subscribe`."""
        if _WATCH in sys.modules:  # Else nobody ever subscribed.
            _shared_watcher().unsubscribe_all(self)

    def close(self) -> None:
        """Let go of connections, files and subscriptions; who overrides it calls this too."""
        self.unsubscribe_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _shared_watcher() -> Shared:
    # By its name, since it stands on a floor above; and only when somebody subscribes.
    shared: Shared = import_module(_WATCH).shared
    return shared
