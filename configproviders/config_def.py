"""The settings a component takes: name, type, default, importance, doc (Kafka's ``ConfigDef``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from .errors import ConfigException, there_is

T_co = TypeVar("T_co", covariant=True)
D_co = TypeVar("D_co", covariant=True)
Importance = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class ConfigType(Generic[T_co]):
    """How the text of a setting becomes a value.

    ``parse`` raises ``ValueError`` that says what was expected.
    """

    name: str
    parse: Callable[[str], T_co]


@dataclass(frozen=True, slots=True)
class ConfigKey(Generic[T_co, D_co]):
    """One setting. Its default has a type of its own, so that ``None`` can mean *not set*.

    *parse* turns the text into a value and raises ``ValueError`` for text it refuses.
    """

    name: str
    type: ConfigType[T_co]
    default: D_co
    importance: Importance
    doc: str

    def read(self, configs: Mapping[str, object]) -> T_co | D_co:
        """Return the value in *configs*, or the default; raise :class:`ConfigException`."""
        value = configs.get(self.name)
        if value is None:
            return self.default
        try:
            return self.type.parse(str(value))
        except ValueError as error:
            raise ConfigException(
                f"setting {self.name!r} is not a {self.type.name}: {error}"
            ) from error


@dataclass(frozen=True, slots=True)
class ConfigDef:
    """All settings of one component, in the order in which its documentation lists them."""

    keys: tuple[ConfigKey[object, object], ...] = ()

    def __iter__(self) -> Iterator[ConfigKey[object, object]]:
        return iter(self.keys)

    def validate(self, configs: Mapping[str, object]) -> None:
        """Raise :class:`ConfigException` for a setting that does not exist or cannot be read.

        A misspelt ``allowed.paths`` that was passed over would allow everything.
        """
        known = [key.name for key in self.keys]
        for name in configs:
            if name not in known:
                raise ConfigException(f"no setting named {name!r}; {there_is(name, known)}")
        for key in self.keys:
            key.read(configs)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"true", "false"}:
        raise ValueError("write true or false")
    return word == "true"


STRING = ConfigType("string", str)
BOOLEAN = ConfigType("boolean", _boolean)
