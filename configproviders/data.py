"""What a provider answers, the callback for a change of it, and text that does not show itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, final

from .errors import ConfigException, LookupFailed


@dataclass(frozen=True)
class ConfigData:
    """The values at one path, and how long they may be used (KIP-297).

    *data* maps keys to values and is copied. *ttl* says when to ask again; none means that the
    provider does not know, and a negative one counts as none. *version* is the backend's own name
    for this state of the data, *lease* the id of the lease it hangs on; *stale* marks data kept
    from an earlier answer because the backend failed.

    *available* names all keys at the path, asked for or not, where the provider knows them
    without asking again: a message about a missing key can then say what is there instead.
    *errors* holds, for a key that is there but cannot be given, the reason.

    ``repr`` shows no value.
    """

    data: dict[str, str] = field(repr=False)
    ttl: timedelta | None = None
    version: str | None = field(default=None, kw_only=True)
    stale: bool = field(default=False, kw_only=True)
    lease: str | None = field(default=None, kw_only=True, repr=False)
    available: Collection[str] = field(default=(), kw_only=True, repr=False, compare=False)
    errors: Mapping[str, ConfigException] = field(default_factory=dict, kw_only=True, repr=False)

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913  The fields, with a Mapping accepted for *data*.
            self,
            data: Mapping[str, str],
            ttl: timedelta | None = None,
            *,
            version: str | None = None,
            stale: bool = False,
            lease: str | None = None,
            available: Collection[str] = (),
            errors: Mapping[str, ConfigException] = ...,
        ) -> None:
            """Take the fields; *data* may be any mapping and is copied."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", dict(self.data))
        if self.ttl is not None and not isinstance(self.ttl, timedelta):
            raise TypeError(f"ttl is a timedelta or None, not {type(self.ttl).__name__}")
        if self.ttl is not None and self.ttl < timedelta(0):
            object.__setattr__(self, "ttl", None)


Answer = ConfigData | ConfigException
"""What there is at one path, or why that cannot be said."""


def checked(answer: object) -> Answer:
    """Return what a provider answered, or the failure to answer with what can be used."""
    if isinstance(answer, ConfigException):
        return answer
    if not isinstance(answer, ConfigData):
        return LookupFailed(f"the provider returned {type(answer).__name__}, not ConfigData")
    if not set(map(type, answer.data.values())) <= {str}:
        return LookupFailed("the provider returned values that are not str")
    errors: object = answer.errors
    if not isinstance(errors, Mapping):
        return LookupFailed(f"the provider returned errors as {type(errors).__name__}, no mapping")
    if not all(isinstance(error, ConfigException) for error in errors.values()):
        return LookupFailed("the provider returned errors that are not ConfigException")
    return answer


class ConfigChangeCallback(Protocol):
    """Called with a path and its new data when the content there changed (KIP-297)."""

    def __call__(self, path: str, data: ConfigData, /) -> None:
        """Take the path that was subscribed to and what is there now."""


_NOT_PICKLED = (
    "a secret is not pickled, since its text would be written out; hand on the reference"
    " (on executors: configproviders.spark.executors)"
)


@final
class Password:
    """Text that does not show itself, after Kafka's class of that name.

    ``str``, ``repr`` and ``format`` give ``[hidden]``, a traceback with locals and a debugger's
    ``vars`` nothing; to pickle it is refused. :meth:`value` is the one way to the text.
    """

    __slots__ = ("__value",)
    HIDDEN = "[hidden]"

    def __init__(self, value: str) -> None:
        """Hide *value*."""
        self.__value: Callable[[], str] = lambda: value

    def value(self) -> str:
        """Return the text itself."""
        return self.__value()

    def __repr__(self) -> str:
        return self.HIDDEN

    def __format__(self, format_spec: str) -> str:
        return format(self.HIDDEN, format_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.value() == self.value()

    def __hash__(self) -> int:
        return hash((Password, self.value()))

    def __copy__(self) -> Password:
        return self

    def __deepcopy__(self, memo: Any) -> Password:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(_NOT_PICKLED)


@final
class SecretText(str):
    """A text like any other, only that its ``repr`` is ``[hidden]``, and that it is not pickled.

    For who takes nothing but ``str``: a traceback with locals, and a log of a ``dict``, show none.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return Password.HIDDEN

    def __copy__(self) -> SecretText:
        return self

    def __deepcopy__(self, memo: Any) -> SecretText:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(_NOT_PICKLED)
