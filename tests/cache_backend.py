"""What the tests of the cache have behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any

from configproviders import ConfigData, ConfigException, ConfigProvider
from configproviders.cache import CachingConfigProvider
from configproviders.config_def import STRING, ConfigDef, ConfigKey
from configproviders.errors import LookupDenied, PathNotFound, ProviderUnavailable
from configproviders.testing import FakeClock, Serve

UNREACHABLE = ProviderUnavailable("the backend cannot be reached")
MINUTE = timedelta(minutes=1)


class Backend(ConfigProvider):
    """Answers with the number of the call as version and value, until it is told to fail."""

    config_def = ConfigDef((ConfigKey("address", STRING, None, "high", "Where it is."),))

    def __init__(self, *paths: str, keys: str = "a b c", ttl: timedelta | None = None) -> None:
        self.paths = set(paths or ("x",))
        self.keys = set(keys.split())
        self.refused: set[str] = set()
        self.ttl = ttl
        self.error: Exception | None = None
        self.during: Callable[[], object] = lambda: None
        self.calls: list[dict[str, Collection[str] | None]] = []
        self.seen: list[object] = []

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        answer = self.get_many({path: keys})[path]
        if isinstance(answer, ConfigException):
            raise answer
        return answer

    def get_many(
        self, lookups: Mapping[str, Collection[str] | None]
    ) -> dict[str, ConfigData | ConfigException]:
        self.calls.append({path: keys and set(keys) for path, keys in lookups.items()})
        version = str(len(self.calls))
        self.during()
        if self.error:
            raise self.error
        return {path: self._answer(path, keys, version) for path, keys in lookups.items()}

    def _answer(
        self, path: str, keys: Collection[str] | None, version: str
    ) -> ConfigData | ConfigException:
        if path not in self.paths:
            return PathNotFound(f"nothing at {path!r}")
        wanted = self.keys if keys is None else self.keys & set(keys)
        if keys and self.refused & set(keys):
            return LookupDenied(f"{sorted(self.refused & set(keys))} is refused")
        values = dict.fromkeys(wanted, version)
        return ConfigData(values, self.ttl, version=version, lease="l", available=self.keys)

    def batches(self, paths: Collection[str]) -> list[list[str]]:
        listed = list(paths)
        return [listed[at : at + 2] for at in range(0, len(listed), 2)]

    def configure(self, configs: Mapping[str, object]) -> None:
        self.config_def.validate(configs)
        self.seen.append(dict(configs))

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        return f"{sorted(lookups)} {online}"

    def files(self, path: str) -> list[str]:
        return [f"/run/{path}"]

    def close(self) -> None:
        self.seen.append("close")


class Spelling(Backend):
    """One location has several spellings, as with Vault; knows an option of its own."""

    def locate(self, path: str, key: str) -> tuple[str, str]:
        return path.lower(), key


def cached(
    backend: ConfigProvider, clock: FakeClock | None = None, **terms: Any
) -> CachingConfigProvider:
    terms = {"default_ttl": MINUTE, "jitter": lambda: 0.5, **terms}  # Early is from 54 s on.
    return CachingConfigProvider(backend, clock=clock or FakeClock(), **terms)


def code(call: Callable[[], object]) -> type[Exception] | None:
    try:
        call()
    except ConfigException as error:
        return type(error)
    return None


def with_cache(serve: Serve) -> Serve:
    """Put a cache around the providers of *serve*, for their contract."""

    def serve_with_cache(values: Mapping[str, str]) -> tuple[ConfigProvider, str]:
        provider, path = serve(values)
        return CachingConfigProvider(provider, default_ttl=MINUTE), path

    return serve_with_cache
