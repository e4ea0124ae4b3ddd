from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

import pytest

from configproviders import (
    ConfigData,
    ConfigException,
    ConfigProvider,
    DirectoryConfigProvider,
    EnvVarConfigProvider,
    FileConfigProvider,
    SecretsManagerConfigProvider,
    SsmConfigProvider,
    VaultConfigProvider,
    load_providers,
)
from configproviders.config_def import ConfigDef
from configproviders.registry import (
    JAVA_CLASSES,
    POLL_INTERVAL,
    SHORT_NAMES,
    find_class,
    open_providers,
    split_settings,
)

CLASSES = {
    "file": FileConfigProvider,
    "directory": DirectoryConfigProvider,
    "env": EnvVarConfigProvider,
    "vault": VaultConfigProvider,
    "secretsmanager": SecretsManagerConfigProvider,
    "ssm": SsmConfigProvider,
}
HERE = f"{__name__}:"


class Recording(ConfigProvider):
    """Keeps its settings, and counts how often it was closed."""

    closed = 0

    def configure(self, configs: Mapping[str, object]) -> None:
        self.settings = dict(configs)

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        return ConfigData({})

    def close(self) -> None:
        type(self).closed += 1


class Polled(Recording):
    """Has a setting of its own for what others leave to the registry."""

    config_def = ConfigDef((POLL_INTERVAL,))
    poll_interval = timedelta(days=1)


class Failing(Recording):
    def configure(self, configs: Mapping[str, object]) -> None:
        raise RuntimeError(f"the token {configs['token']} is wrong")


def declare(**classes: str) -> dict[str, str]:
    settings = {f"config.providers.{name}.class": value for name, value in classes.items()}
    return {"config.providers": " , ".join(classes), **settings}


def load(name: str, **settings: str) -> ConfigProvider:
    params = {f"config.providers.p.param.{key}": value for key, value in settings.items()}
    return load_providers(declare(p=name) | params)["p"]


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_short_names_lead_to_their_classes(name: str) -> None:
    assert find_class(name) is find_class(SHORT_NAMES[name]) is CLASSES[name]


@pytest.mark.parametrize("java", sorted(JAVA_CLASSES))
def test_the_java_names_of_others_lead_to_ours(java: str) -> None:
    assert find_class(java) is CLASSES[JAVA_CLASSES[java]]


def test_names_are_trimmed_and_params_arrive_without_their_prefix() -> None:
    settings = declare(a=f" {HERE}Recording ", b="env") | {
        "config.providers.a.param.token": "t",
        "config.providers.a.param.nested.name": "n",
        "unrelated": "entry",
    }

    providers = load_providers(settings)

    assert list(providers) == ["a", "b"]
    assert isinstance(providers["a"], Recording)
    assert providers["a"].settings == {"token": "t", "nested.name": "n"}


def test_nothing_declared_is_nothing_loaded() -> None:
    assert load_providers({"a": "b"}) == {}
    assert load_providers({"config.providers": " "}) == {}


def test_a_name_without_class_is_an_error_that_lists_what_there_is() -> None:
    with pytest.raises(ConfigException) as caught:
        load_providers({"config.providers": "vault"})

    assert "config.providers.vault.class is missing: write a short name" in str(caught.value)
    assert all(name in str(caught.value) for name in SHORT_NAMES)


@pytest.mark.parametrize(
    "stray",
    [
        "config.provider",
        "config.provider.f.class",
        "config.providersx",
        "config.providers.0",
        "config.providers.g.class",
        "config.providers.f.params.allowed.paths",
        "config.providers.f.allowed.paths",
        "config.providers.f.classes",
    ],
)
def test_a_setting_that_belongs_to_no_provider_is_an_error_and_not_passed_over(stray: str) -> None:
    with pytest.raises(ConfigException, match=f"{stray!r} sets up no provider") as caught:
        load_providers(declare(f="file") | {stray: "/run"})

    assert "config.providers lists f, and each has" in str(caught.value)


def test_empty_settings_do_not_open_the_defaults() -> None:
    with open_providers({"config.providers": ""}) as declared, open_providers({}) as defaults:
        assert declared == {}
        assert set(defaults) == {"file", "directory", "env"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fiel", "no provider class named 'fiel'; did you mean 'file'"),
        ("com.example.Provider", "a class of your own is written package.module:Class"),
        ("no.such.module:X", "cannot import 'no.such.module:X': No module named 'no'"),
        ("json:Nothing", "cannot import 'json:Nothing': module 'json' has no attribute"),
        ("json:JSONDecoder", "'json:JSONDecoder' is not a ConfigProvider class"),
        ("json:loads", "'json:loads' is not a ConfigProvider class"),
        (":", "cannot import ':'"),
    ],
)
def test_a_class_that_cannot_be_used_is_an_error_that_names_it(name: str, reason: str) -> None:
    with pytest.raises(ConfigException) as caught:
        load_providers(declare(p=name))

    assert str(caught.value).startswith("provider 'p': ")
    assert reason in str(caught.value)


def test_those_already_made_are_closed_when_a_later_one_fails() -> None:
    before = Recording.closed

    with pytest.raises(ConfigException):
        load_providers(declare(a=f"{HERE}Recording", b="no.such:Class"))

    assert Recording.closed == before + 1


def test_one_that_fails_to_configure_is_closed_too() -> None:
    before = Recording.closed

    with pytest.raises(ConfigException):
        load_providers(declare(a=f"{HERE}Failing"))

    assert Recording.closed == before  # Counted on the class that failed.
    assert Failing.closed == before + 1


def test_an_exception_of_configure_is_ours_and_does_not_tell_the_setting() -> None:
    settings = declare(p=f"{HERE}Failing") | {"config.providers.p.param.token": "hunter2"}

    with pytest.raises(ConfigException) as caught:
        load_providers(settings)

    assert "cannot be set up: RuntimeError" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_bad_setting_names_provider_and_setting() -> None:
    settings = declare(f="file") | {"config.providers.f.param.alowed.paths": "/"}

    with pytest.raises(
        ConfigException, match=r"provider 'f': no setting named 'alowed.paths'; did"
    ):
        load_providers(settings)


@pytest.mark.parametrize(
    "setting", [{"poll.interval.ms": "300000"}, {"polling.interval.seconds": "300"}]
)
@pytest.mark.parametrize("name", ["file", "secretsmanager", f"{HERE}Recording"])
@pytest.mark.parametrize("cache", [{}, {"secret.default.ttl.ms": "5"}])
def test_any_provider_can_be_told_how_often_to_poll_it(
    name: str, setting: dict[str, str], cache: dict[str, str]
) -> None:
    provider = load(name, **setting, **cache)

    assert provider.poll_interval == timedelta(minutes=5)
    provider.close()


def test_how_often_to_poll_is_for_the_watcher_to_say_if_no_setting_does() -> None:
    assert load("file").poll_interval is None


def test_how_often_to_poll_is_no_setting_of_the_provider_unless_it_has_one() -> None:
    setting = {"poll.interval.ms": "5"}

    without, having = (load(f"{HERE}{name}", **setting) for name in ("Recording", "Polled"))

    assert isinstance(without, Recording)
    assert without.settings == {}
    assert isinstance(having, Recording)
    assert (having.settings, having.poll_interval) == (setting, timedelta(days=1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"poll.interval.ms": "0"}, "'poll.interval.ms' is not a number of milliseconds: write 1"),
        ({"poll.interval.ms": "-5"}, "'poll.interval.ms' is not a number of milliseconds: write"),
        ({"polling.interval.seconds": "0"}, "'polling.interval.seconds' is not a number of sec"),
        ({"poll.interval.ms": "5", "polling.interval.seconds": "5"}, "differ: keep one"),
    ],
)
def test_an_interval_that_is_none_is_an_error(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigException, match=f"provider 'p': setting.*{message}"):
        load("file", **settings)


def test_config_providers_must_be_text() -> None:
    with pytest.raises(ConfigException, match="is text, names separated by commas, not list"):
        load_providers({"config.providers": ["file"]})


def test_settings_of_providers_are_told_from_all_other_entries() -> None:
    settings = declare(f="file")
    others = {"configs": "1", "a": "b"}

    assert split_settings(settings | others) == (settings, others)
