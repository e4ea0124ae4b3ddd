"""Executors ask the backend: :class:`BackendSecrets`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

from ...cache_settings import CACHE_DEF
from ...config_def import STRING
from ...errors import ConfigException, UnresolvedError
from ...plan import LookupPlan
from ...provider import ConfigProvider
from ...reference import find_all
from ...registry import SETTING, open_providers
from ...transformer import unresolved_among
from .._resolution import Configs, as_text, read_entries
from .secret import Secret
from .texts import TTL, CachedTexts, check_ttl

# Names of settings that hold a secret, after Spark's own pattern; some say only where there is one.
_SECRET = re.compile(
    r"(?i)secret|passw|passphrase|pwd|token|credential|jwt|dsn|\bsas\b"
    r"|(access|account|api|encryption|private)[._-]?key|connection[._-]?string|auth[._-]?header"
)
_NO_SECRET = re.compile(r"(?i)(file|path|mount|role|provider|ms)$")


@dataclass(frozen=True, slots=True)
class Backend:
    """Which providers to open, as ``config.providers…`` entries, and how long values are kept."""

    settings: tuple[tuple[str, str], ...] = field(repr=False)
    ttl: timedelta

    def open(self) -> CachedTexts:
        """Return the providers of this process, each with a cache around it."""
        return CachedTexts(dict(self.settings), ttl=self.ttl)


class BackendSecrets:
    """Makes handles whose values each executor gets from the backend, with its own identity.

    The handles carry the settings of the providers. Each Python process of an executor opens these
    once, at its first value, and asks once per location and TTL; with
    ``spark.python.worker.reuse`` off a process is a task. Thread-safe; there is nothing to close.
    """

    def __init__(self, configs: Configs | None = None, *, ttl: timedelta = TTL) -> None:
        """Take the ``config.providers…`` entries of *configs*, a mapping or the path of a file.

        Without any, references go to ``file``, ``directory`` and ``env`` of the executors. *ttl*
        is how long values are kept for which neither reference nor backend says so.

        Raises :class:`ConfigException` for settings that providers refuse, and for those that hold
        a secret or a reference themselves: they would travel with every task.
        """
        check_ttl(ttl)
        self._settings = read_entries(configs)[0]
        _refuse(find_all(self._settings))
        with open_providers(self._settings) as providers:
            _refuse(_secret_settings(self._settings, providers))
        self._backend = Backend(tuple(sorted(self._settings.items())), ttl)

    def secret(self, text: str) -> Secret:
        """Return a handle for *text*, which has references; nobody is asked for them yet.

        Raises :class:`UnresolvedError` for those that no provider can be asked for.
        """
        return self.secrets({"secret": text})["secret"]

    def secrets(self, configs: Mapping[str, object]) -> dict[str, Secret]:
        """Return a handle for each value of *configs*; what is at one place is fetched together.

        Raises as :meth:`secret`, for all of them at once.
        """
        entries = as_text(configs)
        with open_providers(self._settings) as providers:
            uses = list(LookupPlan.of(entries, providers).uses())
        if unresolved := unresolved_among((use, use.error) for use in uses):
            raise UnresolvedError(unresolved)
        together = tuple(dict.fromkeys(entries.values()))
        return {key: Secret(text, self._backend, together) for key, text in entries.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._backend!r})"


def _refuse(settings: Iterable[str]) -> None:
    if holding := sorted(settings):
        raise ConfigException(
            f"{', '.join(holding)}: would travel with every task; let the provider read it on the"
            " executor, from a file or from the environment, or have the driver asked with"
            " DriverSecrets"
        )


def _secret_settings(
    settings: Mapping[str, str], providers: Mapping[str, ConfigProvider]
) -> Iterator[str]:
    for name, provider in providers.items():
        prefix = f"{SETTING}.{name}.param."
        keys = [*provider.config_def, *CACHE_DEF]
        # What has another type is a number, a switch, or a word out of a few.
        harmless = {
            spelling
            for key in keys
            if key.type is not STRING
            for spelling in (key.name, *(alias.name for alias in key.aliases))
        }
        for key in (each for each in settings if each.startswith(prefix)):
            setting = key.removeprefix(prefix)
            sounds = _SECRET.search(setting) and not _NO_SECRET.search(setting)
            if (sounds and setting not in harmless) or _has_credentials(settings[key]):
                yield key


def _has_credentials(text: str) -> bool:
    """Tell whether *text* is a URL with a user or a password in it."""
    try:
        return "@" in urlsplit(text).netloc
    except ValueError:
        return False
