"""What a type checker sees of the public names: checked by ``make types``, never run."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import assert_type

from configproviders import (
    ConfigData,
    ConfigProvider,
    ConfigTransformer,
    Location,
    load_providers,
)
from configproviders.spark import resolve_options


class Provider(ConfigProvider):
    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        return ConfigData(dict.fromkeys(keys or (), path), timedelta(seconds=1))


def on_change(path: str, data: ConfigData) -> None:
    assert_type(data.data, dict[str, str])


transformer = ConfigTransformer({"p": Provider()})
texts: dict[str, str] = {"a": "${p:x:k}"}
with_none: dict[str, str | None] = {"a": None}

assert_type(transformer.transform(texts).data, dict[str, str])
assert_type(transformer.transform(with_none, strict=True).data, dict[str, str | None])
assert_type(transformer.transform(texts).ttls, dict[Location, timedelta])
assert_type(load_providers({"config.providers": "p"}), dict[str, ConfigProvider])
assert_type(resolve_options({"fetchsize": 10}, "job.properties"), dict[str, str])
Provider().subscribe("x", {"k"}, on_change)
