"""The contract every source of values fulfils: :class:`ConfigProvider` (KIP-297)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, ClassVar

from .config_def import ConfigDef
from .errors import UnsupportedOperation

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from .data import ConfigChangeCallback, ConfigData


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

    def subscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        """Call *callback* when a value of *keys* at *path* changes; no keys means all of them.

        Raises :class:`UnsupportedOperation` if the provider cannot notice changes.
        """
        raise UnsupportedOperation(f"{type(self).__name__} cannot notice changes: poll it instead")

    def unsubscribe(self, path: str, keys: Collection[str], callback: ConfigChangeCallback) -> None:
        """Undo a :meth:`subscribe` with the same arguments; nothing happens if there was none."""

    def unsubscribe_all(self) -> None:
        """Undo every :meth:`subscribe`."""

    def close(self) -> None:
        """Let go of connections, files and subscriptions."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
