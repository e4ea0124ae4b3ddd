"""For authors of providers: the suite that every provider passes, and a provider to test against.

Write a subclass of :class:`ConfigProviderContract` in a test file and say in its ``serve`` fixture
how values get to where the provider finds them; pytest runs the cases::

    class TestMyConfigProvider(ConfigProviderContract):
        registry_name = "my"

        @pytest.fixture
        def serve(self, my_server):
            def serve(values):
                my_server.put("some/path", values)
                return MyConfigProvider(my_server), "some/path"

            return serve
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from queue import Empty, Queue
from typing import ClassVar

import pytest

from .data import ConfigData
from .errors import ConfigException, LookupDenied, LookupFailed, PathNotFound
from .provider import ConfigProvider
from .registry import find_class
from .transformer import ConfigTransformer

CANARY = "canary-7f3d90c1"
"""Part of every secret of the suite; it must show up nowhere but in the data."""

_PATIENCE = 60

Serve = Callable[[Mapping[str, str]], tuple[ConfigProvider, str]]


class FakeClock:
    """A clock that stands still until it is advanced: call it for the seconds. Thread-safe."""

    def __init__(self, seconds: float = 0.0) -> None:
        """Start at *seconds*."""
        self._lock = threading.Lock()
        self._seconds = seconds

    def __call__(self) -> float:
        """Return the seconds, as ``time.monotonic`` does."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass."""
        with self._lock:
            self._seconds += seconds


class StaticConfigProvider(ConfigProvider):
    """Values from a mapping of paths to keys to values; ``calls`` lists what was asked for."""

    waits = False

    def __init__(
        self, paths: Mapping[str, Mapping[str, str]], *, ttl: timedelta | None = None
    ) -> None:
        """Serve *paths*, each answer with *ttl*."""
        self._paths = {path: dict(values) for path, values in paths.items()}
        self._ttl = ttl
        self.calls: list[tuple[str, frozenset[str] | None]] = []

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the values of *keys* at *path*; raise :class:`PathNotFound`."""
        self.calls.append((path, None if keys is None else frozenset(keys)))
        if path not in self._paths:
            raise PathNotFound(f"nothing at {path!r}")
        values = self._paths[path]
        wanted = values if keys is None else {key: values[key] for key in keys if key in values}
        return ConfigData(wanted, self._ttl, available=values.keys())


class ConfigProviderContract:
    """What every provider owes, as test cases.

    A subclass names the provider as the registry knows it, and gives the fixture ``serve``: a
    function that stores the values it is given and returns a provider and the path of the values
    there. Values have the keys of ``SECRETS`` at most. If the provider can refuse, the fixture
    ``refused`` gives a provider with a path and a key that a policy does not allow.
    """

    registry_name: ClassVar[str]
    """The name under which the registry finds the class."""

    LARGEST: ClassVar[int] = 1_000_000
    """How many characters a value may have; less, where the backend takes no megabyte."""

    CHANGES: ClassVar[bool] = True
    """Whether a provider that was made sees what ``serve`` stores later at the same path."""

    SECRETS: ClassVar[Mapping[str, str]] = {
        "USER": f"user-{CANARY}",
        "PASSWORD": f"pass-{CANARY}",
        "MULTI_LINE": f"-----BEGIN KEY-----\n{CANARY}\n  indented\n-----END KEY-----\n",
        "EMPTY": "",
        "UNICODE": f"pässwörd-密码-🔑-{CANARY}",
        "DOLLARS": f"${{env:HOME}} $<file:a:b> $1 \\1 %s {{}} $$ {CANARY}",
        "BLANKS": f"  leading, inner and trailing {CANARY}\t ",
        "SIGNS": f"=:#!\\\"'`;&|<>[]()*?~^@,\u00a0\u2028{CANARY}",
    }

    @pytest.fixture
    def serve(self) -> Serve:
        """Return the function that stores values; a subclass must give it."""
        raise NotImplementedError

    @pytest.fixture
    def refused(self) -> tuple[ConfigProvider, str, str]:
        """Return a provider, a path and a key there that its policy refuses."""
        pytest.skip("this provider has no policy of its own")

    def test_only_the_keys_asked_for_are_returned(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        data = provider.get(path, {"USER", "PASSWORD"}).data

        assert data == {key: self.SECRETS[key] for key in ("USER", "PASSWORD")}

    def test_absent_keys_are_left_out(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        assert provider.get(path, {"USER", "ABSENT"}).data == {"USER": self.SECRETS["USER"]}

    def test_no_keys_mean_all_of_them(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        assert provider.get(path).data == dict(self.SECRETS)

    def test_an_empty_collection_of_keys_means_none_of_them(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        assert provider.get(path, ()).data == {}

    @pytest.mark.parametrize("key", sorted(SECRETS))
    def test_every_value_arrives_unharmed(self, serve: Serve, key: str) -> None:
        provider, path = serve(self.SECRETS)

        assert provider.get(path, [key]).data == {key: self.SECRETS[key]}

    def test_a_large_value_arrives_unharmed(self, serve: Serve) -> None:
        value = CANARY.ljust(self.LARGEST, "x")
        provider, path = serve({"USER": value})

        assert provider.get(path).data["USER"] == value

    def test_the_caller_may_change_what_it_was_given(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        provider.get(path).data.clear()

        assert provider.get(path).data == dict(self.SECRETS)

    def test_an_empty_path_gives_data_or_one_of_our_errors(self, serve: Serve) -> None:
        provider, _ = serve(self.SECRETS)

        try:
            data = provider.get("", {"ABSENT"}).data
        except LookupFailed as error:
            assert str(error)
        else:
            assert data == {}

    @pytest.mark.parametrize("path", ["no/such/path", "/no/such/path", "nul\0", "x" * 5000])
    def test_an_unknown_path_is_an_error_that_names_it(self, serve: Serve, path: str) -> None:
        provider, _ = serve(self.SECRETS)

        with pytest.raises(LookupFailed) as caught:
            provider.get(path, {"USER"})

        assert path.strip("/\0")[:9] in str(caught.value)
        assert CANARY not in str(caught.value)

    def test_a_refusal_says_refused(self, refused: tuple[ConfigProvider, str, str]) -> None:
        provider, path, key = refused

        try:
            error: object = provider.get(path, {key}).errors.get(key)
        except ConfigException as raised:
            error = raised

        assert isinstance(error, LookupDenied)
        assert "refused" in str(error)

    def test_no_repr_and_no_log_shows_a_value(
        self, serve: Serve, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG):
            provider, path = serve(self.SECRETS)
            shown = [repr(provider), repr(provider.get(path)), str(provider.get(path, {"USER"}))]

        assert CANARY not in "".join(shown) + caplog.text

    def test_a_transformer_resolves_a_reference_to_it(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)
        separator = ":" if path else ""

        result = ConfigTransformer({"it": provider}).transform(
            {"user": f"<${{it:{path}{separator}USER}}>"}, strict=True
        )

        assert result.data == {"user": f"<{self.SECRETS['USER']}>"}

    def test_a_change_is_told_once_to_who_subscribed(self, serve: Serve) -> None:
        provider, path = serve({"USER": "before"})
        provider.poll_interval = timedelta(milliseconds=50)
        told: Queue[dict[str, str]] = Queue()
        with provider:
            provider.subscribe(path, {"USER"}, lambda _path, data: told.put(data.data))
            _, changed = serve({"USER": CANARY})
            if not self.CHANGES or changed != path:
                pytest.skip("values do not change here, or `serve` takes a new path each time")

            assert told.get(timeout=_PATIENCE) == {"USER": CANARY}
            with pytest.raises(Empty):
                told.get(timeout=0.3)

    def test_eight_threads_may_ask_at_once(self, serve: Serve) -> None:
        provider, path = serve(self.SECRETS)

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda _: provider.get(path).data, range(64)))

        assert answers == [dict(self.SECRETS)] * 64

    def test_closing_twice_is_allowed(self, serve: Serve) -> None:
        provider, _ = serve(self.SECRETS)

        with provider as entered:
            assert entered is provider
        provider.close()

    def test_the_registry_finds_the_class(self, serve: Serve) -> None:
        provider, _ = serve(self.SECRETS)

        # A provider around another, as a cache, is found under the other's name.
        assert find_class(self.registry_name) is type(getattr(provider, "wrapped", provider))

    def test_every_setting_is_documented(self, serve: Serve) -> None:
        provider, _ = serve(self.SECRETS)

        assert all(key.doc and key.importance for key in provider.config_def)
