"""Configs that refer to secrets instead of holding them, for Spark jobs and connectors.

A config says ``${file:/run/secrets/db.properties:password}``; :class:`ConfigTransformer` puts the
value there, from a :class:`ConfigProvider`. The names and the rules are those of Kafka's KIP-297.
Spark is in :mod:`configproviders.spark`, the command line in :mod:`configproviders.cli`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import properties as properties
    from .data import ConfigChangeCallback as ConfigChangeCallback
    from .data import ConfigData as ConfigData
    from .errors import ConfigException as ConfigException
    from .errors import UnresolvedError as UnresolvedError
    from .plan import Location as Location
    from .provider import ConfigProvider as ConfigProvider
    from .providers.aws import SecretsManagerConfigProvider as SecretsManagerConfigProvider
    from .providers.aws import SsmConfigProvider as SsmConfigProvider
    from .providers.directory import DirectoryConfigProvider as DirectoryConfigProvider
    from .providers.env import EnvVarConfigProvider as EnvVarConfigProvider
    from .providers.file import FileConfigProvider as FileConfigProvider
    from .providers.vault import VaultConfigProvider as VaultConfigProvider
    from .registry import load_providers as load_providers
    from .transformer import ConfigTransformer as ConfigTransformer
    from .transformer import ConfigTransformerResult as ConfigTransformerResult
    from .watch import Watcher as Watcher

__version__ = "0.1.0"

_MODULES = {
    "ConfigChangeCallback": "data",
    "ConfigData": "data",
    "ConfigException": "errors",
    "ConfigProvider": "provider",
    "ConfigTransformer": "transformer",
    "ConfigTransformerResult": "transformer",
    "DirectoryConfigProvider": "providers.directory",
    "EnvVarConfigProvider": "providers.env",
    "FileConfigProvider": "providers.file",
    "Location": "plan",
    "SecretsManagerConfigProvider": "providers.aws",
    "SsmConfigProvider": "providers.aws",
    "UnresolvedError": "errors",
    "VaultConfigProvider": "providers.vault",
    "Watcher": "watch",
    "load_providers": "registry",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name, or the module ``properties``, when it is first used (PEP 562)."""
    if name == "properties":
        return import_module(".properties", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*_MODULES, "__version__"])
