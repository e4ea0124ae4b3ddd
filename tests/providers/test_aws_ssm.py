from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar

import pytest
from cache_backend import with_cache
from servers.aws import ABROAD, HOME, Aws, ask, look_up, ssm, values

from configproviders import ConfigException, ConfigProvider, ConfigTransformer
from configproviders.errors import KeyNotFound, PathNotFound
from configproviders.providers.aws import SsmConfigProvider
from configproviders.testing import ConfigProviderContract, Serve

pytestmark = pytest.mark.aws

DB = '{"user":"orders","password":"s3cret","primary":{"password":"deep"}}'
ARN = "arn:aws:ssm:eu-west-1:123456789012:parameter/app/db"


class TestSsmConfigProvider(ConfigProviderContract):
    registry_name = "ssm"
    LARGEST: ClassVar[int] = 3_900

    @pytest.fixture
    def serve(self, aws: Aws) -> Serve:
        name = f"/{aws.name()}"

        def serve(values: Mapping[str, str]) -> tuple[ConfigProvider, str]:
            return ssm(), aws.parameter(json.dumps(values), name)

        return serve


class TestCacheAroundSsm(TestSsmConfigProvider):
    @pytest.fixture(name="serve")
    def with_a_cache(self, serve: Serve) -> Serve:
        return with_cache(serve)


def test_both_spellings_of_a_parameter_are_all_of_it(aws: Aws) -> None:
    name = aws.parameter(DB)
    config = {"a": f"${{ssm::{name}}}", "b": f"${{ssm:{name}}}", "c": f"$<ssm:{name}:password>"}

    result = ConfigTransformer({"ssm": ssm()}).transform(config, strict=True)

    assert result.data == {"a": DB, "b": DB, "c": "s3cret"}
    assert aws.actions == ["GetParameters"]


def test_fields_and_what_stands_deeper_are_found(aws: Aws) -> None:
    name = aws.parameter(DB)

    assert look_up(ssm(), f"{name}:user") == "orders"
    assert look_up(ssm(), f"{name}:/primary/password") == "deep"


def test_a_parameter_arrives_decrypted_and_a_list_with_commas(aws: Aws) -> None:
    encrypted, listed = aws.parameter("plain"), aws.parameter("a,b", kind="StringList")

    assert look_up(ssm(), f":{encrypted}") == "plain"
    assert look_up(ssm(), f":{listed}") == "a,b"


def test_versions_and_labels_are_chosen_by_selector_and_by_option(aws: Aws) -> None:
    name = aws.parameter('{"v":"one"}')
    aws.parameter('{"v":"two"}', name)
    aws.label(name, 1, "stable")

    assert look_up(ssm(), f":{name}:1") == '{"v":"one"}'
    assert look_up(ssm(), f":{name}:stable") == '{"v":"one"}'
    assert look_up(ssm(), f"{name}?version=1:v") == "one"
    assert look_up(ssm(), f"{name}?label=stable:v") == "one"
    assert look_up(ssm(), f"{name}:v") == "two"
    assert ssm().get(name).version == "2"


@pytest.mark.parametrize(
    ("path", "key", "located"),
    [
        ("", "/app/db", ("/app/db", "")),
        ("/app/db", "password", ("/app/db", "password")),
        ("", "/app/db:3", ("/app/db?version=3", "")),
        ("", "/app/db:stable", ("/app/db?label=stable", "")),
        ("", "/app/db:3?ttl=5", ("/app/db?ttl=5&version=3", "")),
        ("/app/db", "3", ("/app/db", "3")),
        ("/app/db", "a?label=b", ("/app/db?label=b", "a")),
        ("arn", f"{ARN[4:]}:password", (ARN, "password")),
        ("arn", ARN[4:], (ARN, "")),
        ("", ARN, (ARN, "")),
        ("", f"{ARN}:3", (f"{ARN}?version=3", "")),
        ("arn", f"{ARN[4:]}?version=3:a:b", (f"{ARN}?version=3", "a:b")),
    ],
)
def test_a_reference_is_located_where_its_parameter_is(
    path: str, key: str, located: tuple[str, str]
) -> None:
    assert SsmConfigProvider().locate(path, key) == located


@pytest.mark.parametrize(
    ("path", "key", "message"),
    [
        ("", "", "no parameter is named"),
        ("/app/db?stage=x", "a", "no option 'stage'"),
        ("", "/app/db:1?version=2", "stands twice"),
        ("", "/app/db:", "option 'label' has no value"),
        ("/app/db?version=", "a", "option 'version' has no value"),
        ("/app/db?version=1&label=a", "a", "either version or label"),
        ("arn", "aws:secretsmanager:eu-west-1:123456789012:secret:x", "is no ARN of ssm"),
        ("", "/app:1:2", "no parameter can have the name"),
    ],
)
def test_what_can_mean_nothing_is_an_error(path: str, key: str, message: str) -> None:
    with pytest.raises(ConfigException, match=message):
        SsmConfigProvider().locate(path, key)


def test_an_arn_is_asked_for_in_its_own_region(aws: Aws) -> None:
    name = aws.parameter(DB, region=ABROAD)
    arn = f"arn:aws:ssm:{ABROAD}:123456789012:parameter{name}"

    assert look_up(ssm(), f"{arn}:password") == "s3cret"
    assert [request.region for request in aws.requests] == [ABROAD]


def test_a_ttl_comes_with_the_data(aws: Aws) -> None:
    assert ssm().get(f"{aws.parameter('x')}?ttl=2500").ttl == timedelta(milliseconds=2500)


def test_a_field_of_a_text_without_fields_is_an_error_that_says_so(aws: Aws) -> None:
    error = ssm().get(aws.parameter("text"), {"password"}).errors["password"]

    assert isinstance(error, KeyNotFound)
    assert "is not a JSON object" in str(error)


def test_a_parameter_that_is_not_there_is_named_with_the_spelling_that_may_be_meant(
    aws: Aws,
) -> None:
    with pytest.raises(PathNotFound) as caught:
        ssm().get("/app/db", {"password"})

    assert f"parameter '/app/db' in {HOME}: there is none" in str(caught.value)
    assert "a parameter of its own is written ${ssm::/app/db/password}" in str(caught.value)


def test_a_prefix_stands_before_names(aws: Aws) -> None:
    name = aws.parameter("text")

    assert look_up(ssm(secret_prefix=name[:-1]), name[-1]) == "text"


def test_what_does_not_exist_can_stay_as_typed(aws: Aws) -> None:
    transformer = ConfigTransformer({"ssm": ssm(NotFoundStrategy="ignore")})

    assert transformer.transform({"p": "${ssm::/not/there}"}).data == {"p": "${ssm::/not/there}"}


def test_twenty_five_parameters_are_three_calls(aws: Aws) -> None:
    parameters = {aws.parameter(f"text {number}"): f"text {number}" for number in range(25)}

    assert values(ask(ssm(), *parameters)) == parameters
    assert aws.actions == ["GetParameters"] * 3


def test_two_versions_of_one_parameter_do_not_share_a_call(aws: Aws) -> None:
    name = aws.parameter("one")
    aws.parameter("two", name)
    others = [aws.parameter("other") for _ in range(9)]
    arn = f"arn:aws:ssm:{HOME}:123456789012:parameter{name}"

    answers = values(ask(ssm(), name, f"{name}?version=1", arn, f"{name}?ttl=5", *others))

    assert [answers[path] for path in (name, f"{name}?version=1", arn)] == ["two", "one", "two"]
    assert aws.actions == ["GetParameters"] * 3


def test_one_that_is_missing_does_not_harm_its_neighbours(aws: Aws) -> None:
    name = aws.parameter("text")

    answers = ask(ssm(), name, "/not/there", "no name", f"{name}?version=9")

    assert values(answers) == {name: "text"}
    assert [type(answers[path]) for path in answers if path != name] == [PathNotFound] * 3


def test_a_secret_of_secrets_manager_can_be_read_through_ssm(aws: Aws) -> None:
    name, _ = aws.secret("text")

    assert look_up(ssm(), f":/aws/reference/secretsmanager/{name}") == "text"
