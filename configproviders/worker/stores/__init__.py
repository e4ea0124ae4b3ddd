"""Where connectors are kept: the contract of a :class:`Store`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from ..errors import BadRequest
from ..status import TargetState


@dataclass(frozen=True, slots=True)
class StoredConnector:
    """What is kept of a connector: its config as it was given, with references, and the target."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    target: TargetState

    def __post_init__(self) -> None:
        """Refuse text that cannot be written, with :class:`BadRequest`: half of a character."""
        for text in (self.name, *self.config.keys()):
            if not _is_whole(text):
                raise BadRequest(f"{text!a} holds a lone surrogate, which is no character")
        for key, value in self.config.items():
            if not _is_whole(value):
                raise BadRequest(f"the value of {key!r} holds a lone surrogate, no character")


class Store(ABC):
    """Keeps connectors by name. What a method has returned from survives the end of the process.

    A change is whole or not there. One herder uses a store at a time; a second process that opens
    it gets an error. Errors are :class:`~configproviders.worker.errors.ConnectException`, and leave
    what is kept as it was. Methods are called by one thread at a time, not always the same.
    """

    @abstractmethod
    def connectors(self) -> list[StoredConnector]:
        """Return all, in the order in which they were first put."""

    @abstractmethod
    def put(self, connector: StoredConnector) -> None:
        """Keep *connector*, in the place of the one of its name if there is one."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Keep the connector *name* no more; nothing happens if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
