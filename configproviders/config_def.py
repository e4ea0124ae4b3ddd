"""The settings a component takes: name, type, default, importance, doc (Kafka's ``ConfigDef``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Literal, TypeVar

from .errors import ConfigException, there_is

T_co = TypeVar("T_co", covariant=True)
D_co = TypeVar("D_co", covariant=True)
_DIGITS = 12  # Seconds of more are beyond what a timedelta holds.
Importance = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class ConfigType(Generic[T_co]):
    """How the text of a setting becomes a value.

    ``parse`` raises ``ValueError`` that says what was expected.
    """

    name: str
    parse: Callable[[str], T_co]


@dataclass(frozen=True, slots=True)
class Alias(Generic[T_co]):
    """The name that another provider has for a setting; *type*, if its unit or spelling differs."""

    name: str
    origin: str
    type: ConfigType[T_co] | None = None


@dataclass(frozen=True, slots=True)
class ConfigKey(Generic[T_co, D_co]):
    """One setting. Its default has a type of its own, so that ``None`` can mean *not set*."""

    name: str
    type: ConfigType[T_co]
    default: D_co
    importance: Importance
    doc: str
    aliases: tuple[Alias[T_co], ...] = ()

    def read(self, configs: Mapping[str, object]) -> T_co | D_co:
        """Return the value in *configs*, or the default; raise :class:`ConfigException`.

        An alias counts like the name itself; two of them must mean the same.
        """
        types = {self.name: self.type}
        types.update((alias.name, alias.type or self.type) for alias in self.aliases)
        given = [name for name in types if configs.get(name) is not None]
        if not given:
            return self.default
        value, *others = (_parsed(name, types[name], configs[name]) for name in given)
        for name, other in zip(given[1:], others, strict=True):
            if other != value:
                raise ConfigException(f"settings {given[0]!r} and {name!r} differ: keep one")
        return value


def _parsed(name: str, config_type: ConfigType[T_co], value: object) -> T_co:
    try:
        return config_type.parse(str(value))
    except ValueError as error:
        raise ConfigException(f"setting {name!r} is not a {config_type.name}: {error}") from error


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
        aliases = {alias.name for key in self.keys for alias in key.aliases}
        known = [key.name for key in self.keys]
        for name in configs:
            if name not in known and name not in aliases:
                raise ConfigException(f"no setting named {name!r}; {there_is(name, known)}")
        for key in self.keys:
            key.read(configs)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"true", "false"}:
        raise ValueError("write true or false")
    return word == "true"


def _whole_number(text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS:
        raise ValueError(f"write digits, {_DIGITS} at most")
    return int(digits)


def one_of(*words: str, **synonyms: str) -> ConfigType[str]:
    """Return the type of a setting that is one of *words*, in any case; *synonyms* mean one."""
    meanings = {word: word for word in words} | synonyms

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in meanings:
            raise ValueError(f"write one of {', '.join(words)}")
        return meanings[word]

    return ConfigType("known word", parse)


STRING = ConfigType("string", str)
BOOLEAN = ConfigType("boolean", _boolean)
WHOLE_NUMBER = ConfigType("whole number", _whole_number)
MILLISECONDS = ConfigType(
    "number of milliseconds", lambda text: timedelta(milliseconds=_whole_number(text))
)
SECONDS = ConfigType("number of seconds", lambda text: timedelta(seconds=_whole_number(text)))


def without_effect(
    name: str, origin: str, instead: str, *, only_false: bool = False
) -> ConfigKey[str, None]:
    """Return a setting that is taken since *origin* has it; *instead* says why it does nothing.

    With *only_false* it must be false, as true would ask for what is not done here.
    """

    def refuse(text: str) -> str:
        if text.strip().lower() != "false":
            raise ValueError(f"{instead}; leave it out")
        return text

    config_type = ConfigType("setting that can be on", refuse) if only_false else STRING
    doc = f"Accepted from {origin}; no effect: {instead}."
    return ConfigKey(name, config_type, None, "low", doc)
