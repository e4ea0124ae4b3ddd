"""Values from the environment: ``${env:NAME}``."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from ..config_def import ConfigDef, ConfigKey, ConfigType
from ..data import ConfigData
from ..errors import LookupDenied, PathNotFound, shorten
from ..provider import ConfigProvider


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(str(error)) from error


_ALLOWLIST = ConfigKey(
    "allowlist.pattern",
    ConfigType("regular expression", _pattern),
    None,
    "medium",
    "The whole name of a variable must match it; unset allows all, empty allows none.",
)


class EnvVarConfigProvider(ConfigProvider):
    """Environment variables, as they were when the provider was made.

    There is no path: a reference is ``${env:NAME}``. A name that ``allowlist.pattern`` does not
    match is refused if it is asked for, whether or not there is such a variable, and left out
    otherwise. Settings and snapshot as Kafka's provider of that name (KIP-887).
    """

    config_def = ConfigDef((_ALLOWLIST,))
    waits = False

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Copy *environ*, by default that of the process."""
        self._environ = dict(os.environ if environ is None else environ)
        self._allowlist: re.Pattern[str] | None = None

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        self.config_def.validate(configs)
        self._allowlist = _ALLOWLIST.read(configs)

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the variables named *keys*; raise :class:`PathNotFound` for any path."""
        if path:
            raise PathNotFound(
                f"environment variables have no path {shorten(path)!r}: write ${{env:NAME}}"
            )
        allowed = {name: value for name, value in self._environ.items() if self._allows(name)}
        if keys is None:
            return ConfigData(allowed)
        return ConfigData(
            {name: allowed[name] for name in keys if name in allowed},
            available=allowed.keys(),
            errors={name: _refusal(name) for name in keys if not self._allows(name)},
        )

    def _allows(self, name: str) -> bool:
        return self._allowlist is None or self._allowlist.fullmatch(name) is not None


def _refusal(name: str) -> LookupDenied:
    return LookupDenied(f"{shorten(name)!r} is refused: allowlist.pattern does not match it")
