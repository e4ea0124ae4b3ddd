"""The settings a component takes: name, type, default, importance, doc (Kafka's ``ConfigDef``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Any, Generic, Literal, TypeVar, overload

from .data import Password
from .errors import ConfigException, printable, shorten, there_is

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
D_co = TypeVar("D_co", covariant=True)
_DIGITS = 12  # Seconds of more are beyond what a timedelta holds.
_MEMBER = "<name>"
Importance = Literal["high", "medium", "low"]
Kind = Literal["BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"]
Width = Literal["NONE", "SHORT", "MEDIUM", "LONG"]


class NoDefault(Enum):
    """The type of :data:`NO_DEFAULT`."""

    NO_DEFAULT = "no default"


NO_DEFAULT = NoDefault.NO_DEFAULT
"""The default of a setting that must be given; ``None`` is that of one that may be left out."""


@dataclass(frozen=True, slots=True)
class ConfigType(Generic[T_co]):
    """How the text of a setting becomes a value.

    ``parse`` raises ``ValueError`` that says what was expected, without the text. ``kind`` is what
    Kafka calls the type, ``words`` are all that can be written, if that can be said.
    """

    name: str
    parse: Callable[[str], T_co]
    kind: Kind = "STRING"
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alias(Generic[T_co]):
    """The name that another provider has for a setting; *type*, if its unit or spelling differs."""

    name: str
    origin: str
    type: ConfigType[T_co] | None = None


class _InvalidValue(ConfigException):
    """A setting cannot be read; *reason* says what was expected."""

    def __init__(self, message: str, name: str, reason: str) -> None:
        super().__init__(message)
        self.name, self.reason = name, reason


@dataclass(frozen=True, slots=True)
class ConfigKey(Generic[T_co, D_co]):
    """One setting. Its default has a type of its own, so that ``None`` can mean *not set*.

    A name that ends in ``<name>``, as ``source.options.<name>``, stands for all settings that
    begin as it does; :meth:`members` reads them. *validator* raises ``ValueError`` that says what
    was expected. What follows is for forms: settings of one *group* stand together, *dependents*
    are the settings that mean something else when this one changes, *recommended* values are
    offered.
    """

    name: str
    type: ConfigType[T_co]
    default: D_co
    importance: Importance
    doc: str
    aliases: tuple[Alias[T_co], ...] = ()
    validator: Callable[[Any], object] | None = None
    group: str | None = None
    width: Width = "NONE"
    display_name: str = ""
    dependents: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        """Whether the setting must be given."""
        return self.default is NO_DEFAULT

    @property
    def prefix(self) -> str | None:
        """How the settings begin that this one stands for; ``None`` if it is one by itself."""
        return self.name.removesuffix(_MEMBER) if self.name.endswith(_MEMBER) else None

    @property
    def names(self) -> list[str]:
        """The name, and those of the aliases."""
        return [self.name, *(alias.name for alias in self.aliases)]

    @overload
    def read(self: ConfigKey[T, NoDefault], configs: Mapping[str, object]) -> T: ...

    @overload
    def read(self, configs: Mapping[str, object]) -> T_co | D_co: ...

    def read(self, configs: Mapping[str, object]) -> object:
        """Return the value in *configs*, or the default; raise :class:`ConfigException`.

        An alias counts like the name itself; two of them must mean the same.
        """
        types = {self.name: self.type}
        types.update((alias.name, alias.type or self.type) for alias in self.aliases)
        given = [name for name in types if configs.get(name) is not None]
        if not given:
            if self.is_required:
                raise ConfigException(
                    f'Missing required configuration "{self.name}" which has no default value'
                )
            return self.default
        value, *others = (self._parsed(name, types[name], configs[name]) for name in given)
        for name, other in zip(given[1:], others, strict=True):
            if other != value:
                raise ConfigException(f"settings {given[0]!r} and {name!r} differ: keep one")
        return value

    def members(self, configs: Mapping[str, object]) -> dict[str, T_co]:
        """Return the settings in *configs* that this one stands for, without what they begin with.

        Raises :class:`ConfigException`.
        """
        prefix = self.prefix or self.name
        given = {name: value for name, value in configs.items() if name.startswith(prefix)}
        return {
            name.removeprefix(prefix): self._parsed(name, self.type, value)
            for name, value in given.items()
            if value is not None and name != prefix
        }

    def error(self, configs: Mapping[str, object], hidden: Collection[str] = ()) -> str | None:
        """Return what is wrong with the value in *configs*, in Kafka's words.

        The value is in the message unless the setting is among *hidden*, or a password.
        """
        try:
            self.read(configs)
        except _InvalidValue as error:
            value, reason = str(configs[error.name]), error.reason
            if self.type.kind == "PASSWORD" or error.name in hidden:
                reason = "it cannot be read" if value in reason else reason
                value = Password.HIDDEN
            value = printable(shorten(value))
            return f"Invalid value {value} for configuration {error.name}: {reason}"
        except ConfigException as error:
            return str(error)
        return None

    def _parsed(self, name: str, config_type: ConfigType[T_co], value: object) -> T_co:
        try:
            parsed = config_type.parse(str(value))
        except ValueError as error:
            message = f"setting {name!r} is not a {config_type.name}: {error}"
            raise _InvalidValue(message, name, str(error)) from error
        try:
            if self.validator:
                self.validator(parsed)
        except ValueError as error:
            message = f"setting {name!r} cannot be that: {error}"
            raise _InvalidValue(message, name, str(error)) from error
        return parsed


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
        keys = self.expanded(configs)
        known = {name for key in keys for name in key.names}
        for name in configs:
            if name not in known:
                names = [key.name for key in self.keys]
                raise ConfigException(f"no setting named {name!r}; {there_is(name, names)}")
        for key in keys:
            key.read(configs)

    def errors(
        self, configs: Mapping[str, object], hidden: Collection[str] = ()
    ) -> dict[str, list[str]]:
        """Return all that is wrong with *configs*, messages by the name of the setting.

        A setting that does not exist is no error here, as it is none for Kafka's connectors. See
        :meth:`ConfigKey.error` for *hidden*.
        """
        found = {key.name: key.error(configs, hidden) for key in self.expanded(configs)}
        return {name: [message] for name, message in found.items() if message}

    def expanded(self, configs: Mapping[str, object]) -> list[ConfigKey[object, object]]:
        """Return the keys, with those that *configs* has in the place of a ``<name>``."""
        known = {name for key in self.keys for name in key.names}
        expanded: dict[str, ConfigKey[object, object]] = {}
        for key in self.keys:
            if (prefix := key.prefix) is None:
                expanded[key.name] = key
            else:
                members = [name for name in configs if name.startswith(prefix) and name != prefix]
                expanded.update(
                    (name, replace(key, name=name)) for name in members if name not in known
                )
        return list(expanded.values())


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


def _integer(kind: Kind, bits: int) -> ConfigType[int]:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def parse(text: str) -> int:
        digits = text.strip()
        if re.fullmatch("[+-]?[0-9]{1,19}", digits) and least <= int(digits) <= most:
            return int(digits)
        raise ValueError(f"write a whole number from {least} to {most}")

    return ConfigType("whole number", parse, kind)


def _number(text: str) -> float:
    with suppress(ValueError):  # Its text has the text in it.
        return float(text)
    raise ValueError("write a number")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",")) if text.strip() else ()


def one_of(*words: str, **synonyms: str) -> ConfigType[str]:
    """Return the type of a setting that is one of *words*, in any case; *synonyms* mean one."""
    meanings = {word: word for word in words} | synonyms

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in meanings:
            raise ValueError(f"write one of {', '.join(words)}")
        return meanings[word]

    return ConfigType("known word", parse, words=words)


def at_least(least: float) -> Callable[[float], None]:
    """Return the validator of a number that is *least* or more."""

    def check(number: float) -> None:
        if not number >= least:
            raise ValueError(f"value must be at least {least}")

    return check


def between(least: float, most: float) -> Callable[[float], None]:
    """Return the validator of a number from *least* to *most*."""

    def check(number: float) -> None:
        if not least <= number <= most:
            raise ValueError(f"value must be from {least} to {most}")

    return check


def not_empty(value: Sized) -> None:
    """Be the validator of a text or list that has something in it."""
    if not value:
        raise ValueError("it must not be empty")


STRING = ConfigType("string", str)
BOOLEAN = ConfigType("boolean", _boolean, "BOOLEAN")
SHORT = _integer("SHORT", 16)
INT = _integer("INT", 32)
LONG = _integer("LONG", 64)
DOUBLE = ConfigType("number", _number, "DOUBLE")
LIST = ConfigType("list", _words, "LIST")
CLASS = ConfigType("class", str.strip, "CLASS")
PASSWORD = ConfigType("password", Password, "PASSWORD")
WHOLE_NUMBER = ConfigType("whole number", _whole_number, "LONG")
MILLISECONDS = ConfigType(
    "number of milliseconds", lambda text: timedelta(milliseconds=_whole_number(text)), "LONG"
)
SECONDS = ConfigType(
    "number of seconds", lambda text: timedelta(seconds=_whole_number(text)), "LONG"
)


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
