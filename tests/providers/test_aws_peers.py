"""What other providers of AWS secrets get wrong, and goes right here."""

from __future__ import annotations

import boto3
import pytest
from servers.aws import Aws, ask, look_up, secrets_manager, ssm, stubbed, values

from configproviders import ConfigTransformer
from configproviders.errors import LookupDenied, LookupFailed, PathNotFound, ProviderUnavailable
from configproviders.plan import Location

pytestmark = pytest.mark.aws


def test_credentials_are_not_frozen_when_the_provider_is_configured(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LATER")

    provider.get(name)

    assert [request.access_key for request in aws.requests] == ["LATER"]


def test_credentials_that_were_renewed_outside_are_picked_up(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager()
    stubbed(provider).add_client_error("get_secret_value", "ExpiredTokenException")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "RENEWED")

    provider.get(name)

    assert [request.access_key for request in aws.requests] == ["RENEWED"]


def test_a_secret_is_read_without_being_described(aws: Aws) -> None:
    name, _ = aws.secret("text")

    secrets_manager().get(name)

    assert aws.actions == ["GetSecretValue"]


def test_bytes_survive_although_they_are_no_text(aws: Aws) -> None:
    every_byte = bytes(range(256))
    name, _ = aws.secret(every_byte)

    import base64

    assert base64.b64decode(look_up(secrets_manager(), name)) == every_byte


def test_text_in_base64_stays_the_text_it_is(aws: Aws) -> None:
    name, _ = aws.secret({"base64_cert": "cMOkc3M="})

    assert look_up(secrets_manager(), f"{name}:base64_cert") == "cMOkc3M="


def test_no_ttl_means_that_there_is_none_and_not_that_it_is_over(aws: Aws) -> None:
    name, _ = aws.secret("text")

    assert secrets_manager().get(name).ttl is None


def test_one_client_serves_all_calls_and_is_closed(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    client = boto3.Session.client

    def counted(*args: object, **named: object) -> object:
        made.append(client(*args, **named))  # type: ignore[call-overload]  # Whatever it is.
        return made[-1]

    monkeypatch.setattr(boto3.Session, "client", counted)
    name = aws.parameter("text")
    with ssm() as provider:
        for _ in range(3):
            provider.get(name)

        clients = list(provider._clients._clients.values())

    assert len(clients) == 1
    assert clients == [each for each in made if each in clients]
    assert provider._clients._clients == {}


def test_a_reference_with_a_ttl_finds_its_value_with_ignore_too(aws: Aws) -> None:
    name, _ = aws.secret({"password": "s3cret"})
    transformer = ConfigTransformer({"sm": secrets_manager(NotFoundStrategy="ignore")})

    result = transformer.transform({"p": f"${{sm:{name}:password?ttl=30000}}"}, strict=True)

    assert result.data == {"p": "s3cret"}
    assert result.ttls[Location("sm", f"{name}?ttl=30000")].total_seconds() == 30


def test_a_missing_secret_fails_unless_the_settings_say_otherwise(aws: Aws) -> None:
    with pytest.raises(PathNotFound):
        secrets_manager().get("not/there")

    assert secrets_manager(NotFoundStrategy="ignore").get("not/there").data == {}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("DecryptionFailure", LookupDenied),
        ("InternalServiceError", ProviderUnavailable),
        ("InvalidRequestException", LookupFailed),
    ],
)
def test_an_error_is_not_mistaken_for_a_secret_that_is_not_there(
    aws: Aws, code: str, kind: type[LookupFailed]
) -> None:
    provider = secrets_manager(not_found="ignore")
    stubbed(provider).add_client_error("get_secret_value", code)

    with pytest.raises(kind) as caught:
        provider.get("db")

    assert not isinstance(caught.value, PathNotFound)


def test_one_provider_reads_many_secrets_of_all_kinds_and_stages(aws: Aws) -> None:
    text, _ = aws.secret("text")
    binary, _ = aws.secret(b"\xff")
    rotated, _ = aws.secret("old")
    aws.put_secret(rotated, "new")
    previous = f"{rotated}?stage=AWSPREVIOUS"

    answers = ask(secrets_manager(), text, binary, rotated, previous)

    assert values(answers) == {text: "text", binary: "/w==", rotated: "new", previous: "old"}
    assert aws.actions == ["BatchGetSecretValue", "GetSecretValue"]


def test_an_arn_needs_no_other_character_in_the_place_of_its_colons(aws: Aws) -> None:
    _, arn = aws.secret({"password": "s3cret"})
    transformer = ConfigTransformer({"sm": secrets_manager()})

    result = transformer.transform({"p": f"${{sm:{arn}:password}}"}, strict=True)

    assert result.data == {"p": "s3cret"}
