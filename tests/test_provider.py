from __future__ import annotations

from configproviders import ConfigData
from configproviders.testing import StaticConfigProvider


def test_all_that_is_optional_has_a_default() -> None:
    provider = StaticConfigProvider({"x": {"k": "v"}})

    def callback(path: str, data: ConfigData) -> None:
        raise AssertionError

    provider.configure({"anything": "goes"})
    provider.unsubscribe("x", set(), callback)
    provider.unsubscribe_all()
    assert provider.locate("x", "k") == ("x", "k")
