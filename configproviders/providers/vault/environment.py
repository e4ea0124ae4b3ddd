"""The variables that the command lines of Vault and OpenBao read, as they read them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ...config_def import ConfigKey
from ...errors import ConfigException
from . import settings as s

_VARIABLES: tuple[tuple[ConfigKey[object, object], tuple[str, ...]], ...] = (
    (s.ADDR, ("AGENT_ADDR", "ADDR")),
    (s.NAMESPACE, ("NAMESPACE",)),
    (s.TOKEN, ("TOKEN",)),
    (s.CA_FILE, ("CACERT",)),
    (s.CA_TEXT, ("CACERT_BYTES",)),
    (s.CA_DIRECTORY, ("CAPATH",)),
    (s.CLIENT_CERT, ("CLIENT_CERT",)),
    (s.CLIENT_KEY, ("CLIENT_KEY",)),
    (s.SERVER_NAME, ("TLS_SERVER_NAME",)),
    (s.PROXY, ("PROXY_ADDR", "HTTP_PROXY")),
    (s.RETRIES, ("MAX_RETRIES",)),
)
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)", re.ASCII)
_DURATION = re.compile(f"(?:{_PART.pattern})+", re.ASCII)
_TRUE, _FALSE = {"1", "t", "true"}, {"0", "f", "false"}


def complete(configs: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
    """Return *configs* with what *environ* says of settings that they lack, as Vault's CLI does.

    ``BAO_…`` wins over ``VAULT_…``. Raises :class:`ConfigException` for what cannot be read.
    """
    settings = {name: value for name, value in configs.items() if value is not None}
    for key, names in _VARIABLES:
        _add(
            settings, key, next((text for name in names if (text := _variable(environ, name))), "")
        )
    _add(settings, s.VERIFY, _verify(_variable(environ, "SKIP_VERIFY")))
    _add(settings, s.TIMEOUT, _milliseconds(_variable(environ, "CLIENT_TIMEOUT")))
    s.VAULT_DEF.validate(settings)
    return settings


def token_file(settings: Mapping[str, object], environ: Mapping[str, str]) -> str:
    """Return the path of the file with the token: by setting, by variable, or the CLI's own."""
    named = s.TOKEN_FILE.read(settings) or environ.get("BAO_TOKEN_PATH")
    named = named or environ.get("BAO_TOKEN_FILE") or environ.get("VAULT_TOKEN_FILE")
    home = environ.get("HOME")
    return named or (os.path.join(home, ".vault-token") if home else "")


def _add(settings: dict[str, object], key: ConfigKey[object, object], text: str) -> None:
    names = {key.name, *(alias.name for alias in key.aliases)}
    if text and not names & settings.keys():
        settings[key.name] = text


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(f"BAO_{name}") or environ.get(f"VAULT_{name}") or ""


def _verify(skip: str) -> str:
    if skip.lower() not in _TRUE | _FALSE | {""}:
        raise ConfigException("VAULT_SKIP_VERIFY is not a boolean: write true or false")
    return "" if not skip else str(skip.lower() in _FALSE).lower()


def _milliseconds(text: str) -> str:
    """Read a duration as Go writes it: ``30`` (seconds), ``1m30s``, ``0.5s``."""
    found = _DURATION.fullmatch(f"{text}s" if text.isdigit() else text)
    if text and not (found and text.isascii()):
        raise ConfigException("VAULT_CLIENT_TIMEOUT is not a duration: write 30, 30s or 1m30s")
    parts = _PART.findall(f"{text}s" if text.isdigit() else text)
    return str(round(sum(float(number) * _UNITS[unit] for number, unit in parts))) if text else ""
