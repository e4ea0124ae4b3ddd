from __future__ import annotations

import pytest

from configproviders import ConfigData
from configproviders.errors import UnsupportedOperation
from configproviders.testing import StaticConfigProvider


def test_subscribing_is_unsupported_until_something_watches() -> None:
    with pytest.raises(UnsupportedOperation, match="StaticConfigProvider cannot notice changes"):
        StaticConfigProvider({}).subscribe("", set(), lambda _path, _data: None)


def test_all_that_is_optional_has_a_default() -> None:
    provider = StaticConfigProvider({"x": {"k": "v"}})

    def callback(path: str, data: ConfigData) -> None:
        raise AssertionError

    provider.configure({"anything": "goes"})
    provider.unsubscribe("x", set(), callback)
    provider.unsubscribe_all()
    assert provider.locate("x", "k") == ("x", "k")
