from __future__ import annotations

import pytest

from configproviders import ConfigException, ConfigProvider, ConfigTransformer, EnvVarConfigProvider
from configproviders.errors import LookupDenied, PathNotFound
from configproviders.testing import ConfigProviderContract, Serve

KAFKA = {
    "test_var1": "value1",
    "secret_var2": "value2",
    "new_var3": "value3",
    "not_so_secret_var4": "value4",
}


def configured(pattern: str | None) -> EnvVarConfigProvider:
    provider = EnvVarConfigProvider(KAFKA)
    provider.configure({"allowlist.pattern": pattern})
    return provider


class TestEnvVarConfigProvider(ConfigProviderContract):
    registry_name = "env"
    CHANGES = False

    @pytest.fixture
    def serve(self) -> Serve:
        return lambda values: (EnvVarConfigProvider(values), "")

    @pytest.fixture
    def refused(self) -> tuple[ConfigProvider, str, str]:
        return configured("secret_.*"), "", "test_var1"


def test_all_variables_are_returned_without_keys() -> None:
    assert EnvVarConfigProvider(KAFKA).get("").data == KAFKA


def test_the_environment_is_copied_when_the_provider_is_made() -> None:
    environ = {"NAME": "before"}
    provider = EnvVarConfigProvider(environ)

    environ["NAME"] = "after"

    assert provider.get("", {"NAME"}).data == {"NAME": "before"}


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIGPROVIDERS_TEST", "here")

    assert EnvVarConfigProvider().get("", {"CONFIGPROVIDERS_TEST"}).data == {
        "CONFIGPROVIDERS_TEST": "here"
    }


def test_a_path_is_an_error_that_shows_the_right_form() -> None:
    with pytest.raises(PathNotFound, match=r"write \$\{env:NAME\}"):
        EnvVarConfigProvider(KAFKA).get("test-path")


def test_the_allowlist_must_match_the_whole_name() -> None:
    assert configured("secret_.*").get("").data == {"secret_var2": "value2"}
    assert configured("secret_").get("").data == {}


def test_an_unset_allowlist_allows_all_and_an_empty_one_nothing() -> None:
    assert configured(None).get("").data == KAFKA
    assert configured("").get("").data == {}


@pytest.mark.parametrize("name", ["test_var1", "not_there"])
def test_a_refused_name_is_refused_whether_or_not_it_is_set(name: str) -> None:
    data = configured("secret_.*").get("", {name, "secret_var2"})

    assert data.data == {"secret_var2": "value2"}
    assert isinstance(data.errors[name], LookupDenied)


def test_a_refused_name_does_not_stop_its_neighbours_from_being_named_apart() -> None:
    transformer = ConfigTransformer({"env": configured("secret_.*")})

    with pytest.raises(ConfigException) as caught:
        transformer.transform({"a": "${env:secret_var2}", "b": "${env:test_var1}"})

    assert "b: ${env:test_var1}: 'test_var1' is refused" in str(caught.value)
    assert "secret_var2" not in str(caught.value)


def test_a_bad_pattern_is_an_error_of_the_setting() -> None:
    with pytest.raises(ConfigException, match=r"'allowlist.pattern' is not a regular expression"):
        configured("[")


def test_an_unknown_setting_is_refused_and_the_right_one_named() -> None:
    with pytest.raises(ConfigException, match=r"did you mean 'allowlist.pattern'"):
        EnvVarConfigProvider().configure({"allowlist.patern": "x"})
