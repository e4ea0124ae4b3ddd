"""A provider that notes on disk each time it is asked, in any process; executors import it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from configproviders import ConfigData, ConfigProvider
from configproviders.config_def import STRING, ConfigDef, ConfigKey
from configproviders.errors import PathNotFound


class CountedConfigProvider(ConfigProvider):
    """Reads ``<directory>/<path>.json``, and writes a line to ``<directory>/fetches`` for it."""

    config_def = ConfigDef((ConfigKey("directory", STRING, None, "high", "Where the files are."),))

    def configure(self, configs: Mapping[str, object]) -> None:
        self.directory = Path(str(configs["directory"]))

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        with (self.directory / "fetches").open("a") as fetches:  # One short write is atomic.
            fetches.write(f"{os.getpid()} {path} {','.join(sorted(keys or ()))}\n")
        time.sleep(0.02)  # As a backend takes, so that many ask while one is answered.
        try:
            values = json.loads((self.directory / f"{path}.json").read_text())
        except FileNotFoundError:
            raise PathNotFound(f"nothing at {path!r}") from None
        return ConfigData({key: values[key] for key in keys or values if key in values})


class Backend:
    """The directory that such a provider reads, from a test's side."""

    def __init__(self, directory: Path, module: str = __name__) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.settings = {
            "config.providers": "counted",
            "config.providers.counted.class": f"{module}:CountedConfigProvider",
            "config.providers.counted.param.directory": str(directory),
        }

    def provider(self) -> CountedConfigProvider:
        provider = CountedConfigProvider()
        provider.configure({"directory": str(self.directory)})
        return provider

    def put(self, path: str, **values: str) -> None:
        fresh = self.directory / f"{path}.new"
        fresh.write_text(json.dumps(values))
        fresh.replace(self.directory / f"{path}.json")

    def fetches(self) -> list[str]:
        """Return each fetch since the last time, without who made it."""
        file = self.directory / "fetches"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [line.partition(" ")[2] for line in lines]
