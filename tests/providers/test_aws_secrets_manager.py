from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar

import pytest
from cache_backend import cached, with_cache
from servers.aws import ABROAD, HOME, Aws, look_up, secrets_manager

from configproviders import ConfigException, ConfigProvider, ConfigTransformer
from configproviders.errors import KeyNotFound, MalformedText, PathNotFound
from configproviders.providers.aws import SecretsManagerConfigProvider
from configproviders.testing import ConfigProviderContract, FakeClock, Serve

pytestmark = pytest.mark.aws

DB = {"user": "orders", "password": "s3cret", "port": 5432, "primary": {"password": "deep"}}


class TestSecretsManagerConfigProvider(ConfigProviderContract):
    registry_name = "secretsmanager"
    LARGEST: ClassVar[int] = 60_000

    @pytest.fixture
    def serve(self, aws: Aws) -> Serve:
        stored: list[str] = []

        def serve(values: Mapping[str, str]) -> tuple[ConfigProvider, str]:
            if stored:
                aws.put_secret(stored[0], json.dumps(dict(values)))
            else:
                stored.append(aws.secret(values)[0])
            return secrets_manager(), stored[0]

        return serve


class TestCacheAroundSecretsManager(TestSecretsManagerConfigProvider):
    @pytest.fixture(name="serve")
    def with_a_cache(self, serve: Serve) -> Serve:
        return with_cache(serve)


def test_a_field_a_number_and_what_stands_deeper_are_found(aws: Aws) -> None:
    name, _ = aws.secret(DB)
    provider = secrets_manager()

    assert look_up(provider, f"{name}:password") == "s3cret"
    assert look_up(provider, f"{name}:port") == "5432"
    assert look_up(provider, f"{name}:/primary/password") == "deep"


def test_a_name_alone_is_the_whole_text(aws: Aws) -> None:
    name, _ = aws.secret({"value": "a field", "other": 1})
    provider = secrets_manager()

    assert look_up(provider, name) == '{"value": "a field", "other": 1}'
    assert look_up(provider, f"{name}:value") == "a field"


def test_a_text_without_fields_has_the_key_value(aws: Aws) -> None:
    name, _ = aws.secret("just text")
    provider = secrets_manager()

    assert look_up(provider, name) == "just text"
    assert look_up(provider, f"{name}:value") == "just text"
    assert provider.get(name).data == {"value": "just text"}


def test_a_field_of_a_text_without_fields_is_an_error_that_says_so(aws: Aws) -> None:
    name, _ = aws.secret("just text")

    error = secrets_manager().get(name, {"password"}).errors["password"]

    assert isinstance(error, KeyNotFound)
    assert "is not a JSON object, its whole text has the key 'value'" in str(error)


@pytest.mark.parametrize("bracket", ["${%s}", "$<%s>"])
@pytest.mark.parametrize("cut", [None, -7], ids=["full", "without suffix"])
def test_an_arn_stands_in_a_reference_as_it_is(aws: Aws, bracket: str, cut: int | None) -> None:
    _, full = aws.secret(DB, region=ABROAD)
    reference = bracket % f"sm:{full[:cut]}:password"

    result = ConfigTransformer({"sm": secrets_manager()}).transform({"p": reference}, strict=True)

    assert result.data == {"p": "s3cret"}
    assert [request.region for request in aws.requests] == [ABROAD]


def test_an_arn_without_a_key_is_the_whole_text(aws: Aws) -> None:
    _, arn = aws.secret("just text")

    assert look_up(secrets_manager(), arn) == "just text"


@pytest.mark.parametrize(
    ("partition", "region"), [("aws", "eu-west-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "x")]
)
def test_an_arn_is_put_together_in_every_partition(partition: str, region: str) -> None:
    arn = f"arn:{partition}:secretsmanager:{region}:123456789012:secret:db-AbCdEf"
    provider = SecretsManagerConfigProvider()

    assert provider.locate("arn", f"{arn[4:]}:a:b") == (arn, "a:b")
    assert provider.locate("arn", f"{arn[4:]}?stage=S:a") == (f"{arn}?stage=S", "a")


@pytest.mark.parametrize(
    ("path", "key", "located"),
    [
        ("db", "a", ("db", "a")),
        ("", "db", ("db", "")),
        ("db?version_id=7", "a", ("db?version=7", "a")),
        ("db?version_stage=S", "a?ttl=5", ("db?stage=S&ttl=5", "a")),
        ("db", "a?ttl=5", ("db?ttl=5", "a")),
        ("", "db?stage=S", ("db?stage=S", "")),
        ("db", "a?b=c", ("db", "a?b=c")),
        ("db", "a:b", ("db", "a:b")),
        ("arn", "a", ("arn", "a")),
    ],
)
def test_options_come_to_stand_behind_the_name(
    path: str, key: str, located: tuple[str, str]
) -> None:
    provider = SecretsManagerConfigProvider()

    assert provider.locate(path, key) == located
    assert provider.locate(*located) == (located if located[1] else (located[0], ""))


@pytest.mark.parametrize(
    ("path", "key", "message"),
    [
        ("", "", "no secret is named"),
        ("db?colour=red", "a", "no option 'colour'"),
        ("db?ttl=1", "a?ttl=2", "stands twice"),
        ("db?ttl=soon", "a", "write milliseconds"),
        ("arn", "aws:s3:::bucket", "is no ARN of secretsmanager"),
        ("a name", "a", "no secret can have the name"),
        ("db?stage=", "a", "option 'stage' has no value"),
        ("db", "a?version_id=", "option 'version_id' has no value"),
    ],
)
def test_what_can_mean_nothing_is_an_error(path: str, key: str, message: str) -> None:
    with pytest.raises(ConfigException, match=message):
        SecretsManagerConfigProvider().locate(path, key)


def test_a_version_and_a_stage_can_be_pinned(aws: Aws) -> None:
    name, _ = aws.secret("first")
    second = aws.put_secret(name, "second")
    aws.put_secret(name, "third", ("AWSPENDING",))
    provider = secrets_manager()

    assert look_up(provider, name) == "second"
    assert look_up(provider, f"{name}?stage=AWSPREVIOUS:value") == "first"
    assert look_up(provider, f"{name}?stage=AWSPENDING:value") == "third"
    assert look_up(provider, f"{name}?version={second}&stage=AWSCURRENT:value") == "second"
    assert provider.get(f"{name}?version={second}").version == second


def test_a_version_without_the_stage_that_is_asked_for_is_named(aws: Aws) -> None:
    name, _ = aws.secret("first")
    version = secrets_manager().get(name).version
    aws.put_secret(name, "second")

    with pytest.raises(PathNotFound, match="the version does not have that stage"):
        secrets_manager().get(f"{name}?version={version}&stage=AWSCURRENT")


def test_a_version_that_can_be_none_is_not_there(aws: Aws) -> None:
    with pytest.raises(PathNotFound, match="there can be none; check name, version"):
        secrets_manager().get("db?version=x")


def test_the_names_that_aws_gives_itself_are_read(aws: Aws) -> None:
    name, arn = aws.secret("text", aws.name("/rds!cluster-0"))

    assert look_up(secrets_manager(), name) == "text"
    assert look_up(secrets_manager(), arn) == "text"


def test_a_stage_that_is_not_there_is_named(aws: Aws) -> None:
    name, _ = aws.secret("first")

    with pytest.raises(PathNotFound, match=f"secret '{name}' stage 'NEXT' in {HOME}: there is no"):
        secrets_manager().get(f"{name}?stage=NEXT")


def test_a_ttl_comes_with_the_data(aws: Aws) -> None:
    name, _ = aws.secret("text")

    assert secrets_manager().get(f"{name}?ttl=2500").ttl == timedelta(milliseconds=2500)
    assert secrets_manager().get(name).ttl is None


def test_bytes_arrive_in_base64(aws: Aws) -> None:
    name, _ = aws.secret(b"\x00\xff\xfe")

    assert look_up(secrets_manager(), name) == b64encode(b"\x00\xff\xfe").decode()
    assert look_up(secrets_manager(), f"{name}:value") == "AP/+"


def test_bytes_that_hold_json_have_fields_only_if_the_settings_say_so(aws: Aws) -> None:
    name, _ = aws.secret(json.dumps(DB).encode())

    assert look_up(secrets_manager(secret_type="json"), f"{name}:password") == "s3cret"
    assert "password" not in secrets_manager().get(name).available


@pytest.mark.parametrize(
    ("read_as", "stored", "value"),
    [
        ("string", '{"a":1}', '{"a":1}'),
        ("string", b"text", "text"),
        ("binary", "text", "dGV4dA=="),
        ("binary", b"text", "dGV4dA=="),
        ("auto", '["a"]', '["a"]'),
    ],
)
def test_the_settings_say_what_a_secret_holds(
    aws: Aws, read_as: str, stored: str | bytes, value: str
) -> None:
    name, _ = aws.secret(stored)

    assert secrets_manager(secret_type=read_as).get(name).data == {"value": value}


@pytest.mark.parametrize(
    ("read_as", "stored", "message"),
    [
        ("json", "canary", "is not a JSON object: line 1"),
        ("json", '["canary"]', "is not a JSON object"),
        ("string", b"\xffcanary", "is binary and not UTF-8"),
    ],
)
def test_a_secret_of_another_kind_is_malformed(
    aws: Aws, read_as: str, stored: str | bytes, message: str
) -> None:
    name, _ = aws.secret(stored)

    with pytest.raises(MalformedText, match=message) as caught:
        secrets_manager(secret_type=read_as).get(name, {"a"})

    assert name in str(caught.value)
    assert "canary" not in repr((caught.value, caught.value.__cause__, caught.value.__context__))


def test_a_prefix_stands_before_names_and_not_before_arns(aws: Aws) -> None:
    name, arn = aws.secret("text", aws.name("-db"))
    provider = secrets_manager(secret_prefix=name[:-2])

    assert look_up(provider, "db") == "text"
    assert look_up(provider, arn) == "text"


def test_what_does_not_exist_can_stay_as_typed(aws: Aws) -> None:
    config = {"p": "${sm:not/there:password}"}
    transformer = ConfigTransformer({"sm": secrets_manager(not_found="ignore")})

    result = transformer.transform(config)

    assert result.data == config
    assert [type(each.error) for each in result.unresolved] == [KeyNotFound]


def test_a_rotation_is_seen_after_the_ttl_of_a_cache(aws: Aws) -> None:
    name, _ = aws.secret({"password": "old"})
    clock = FakeClock()
    provider = cached(secrets_manager(), clock)
    before = provider.get(name).data

    aws.put_secret(name, '{"password": "new"}')
    within = provider.get(name).data
    clock.advance(61)
    after = provider.get(name).data

    assert (before, within, after) == ({"password": "old"},) * 2 + ({"password": "new"},)
    assert aws.actions == ["GetSecretValue"] * 2


def test_a_rotation_is_seen_at_the_next_look(aws: Aws) -> None:
    name, _ = aws.secret("old")
    provider = secrets_manager()
    before = provider.get(name)

    aws.put_secret(name, "new")

    after = provider.get(name)
    assert (before.data, after.data) == ({"value": "old"}, {"value": "new"})
    assert before.version != after.version
