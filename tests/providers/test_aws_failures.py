"""What moto does not do: refusals, throttling, broken keys, pages. The SDK's stub answers here."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from servers.aws import HOME, Aws, ask, secrets_manager, ssm, stubbed, values

from configproviders import ConfigException
from configproviders.errors import (
    LookupDenied,
    LookupFailed,
    PathNotFound,
    ProviderUnavailable,
)
from configproviders.testing import CANARY

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from mypy_boto3_secretsmanager import SecretsManagerClient

pytestmark = pytest.mark.aws

DENIED = f"User: someone is not authorized, {CANARY}"


def arn(name: str) -> str:
    return f"arn:aws:secretsmanager:{HOME}:123456789012:secret:{name}-AbCdEf"


def entry(name: str, stages: tuple[str, ...] = ("AWSCURRENT",)) -> dict[str, Any]:
    return {
        "Name": name,
        "ARN": arn(name),
        "SecretString": f"text of {name}",
        "VersionId": "0" * 32,
        "VersionStages": list(stages),
    }


def fault(name: str, code: str, message: str = DENIED) -> dict[str, str]:
    return {"SecretId": name, "ErrorCode": code, "Message": message}


@pytest.mark.parametrize(
    ("code", "message", "kind", "said"),
    [
        ("ResourceNotFoundException", "x", PathNotFound, "there is none"),
        ("AccessDeniedException", DENIED, LookupDenied, "refused by AWS"),
        ("AccessDeniedException", "Access to KMS is not allowed", LookupDenied, "kms:Decrypt"),
        ("DecryptionFailure", "x", LookupDenied, "refused: the key of KMS"),
        ("InvalidRequestException", "marked for deletion", PathNotFound, "for deletion"),
        ("InvalidRequestException", "x", LookupFailed, "does not accept the call"),
        ("ThrottlingException", "x", ProviderUnavailable, "takes no more calls"),
        ("InternalServiceError", "x", ProviderUnavailable, "cannot answer for now"),
        ("503", "x", ProviderUnavailable, "cannot answer for now"),
        ("SomethingNew", DENIED, LookupFailed, r"\(SomethingNew in GetSecretValue\)"),
        ("New\x1b[31m\nfake", "x", LookupFailed, r"\(New\\x1b\[31m\\nfake in GetSecretValue\)"),
    ],
)
def test_the_code_says_whose_fault_it_is(
    aws: Aws, code: str, message: str, kind: type[LookupFailed], said: str
) -> None:
    provider = secrets_manager()
    stubbed(provider).add_client_error("get_secret_value", code, message)

    with pytest.raises(LookupFailed, match=said) as caught:
        provider.get("db")

    assert type(caught.value) is kind
    assert "secret 'db' in eu-west-1" in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_the_errors_of_a_batch_belong_to_single_secrets(aws: Aws) -> None:
    provider = secrets_manager()
    faults = [
        fault("b", "AccessDeniedException"),
        fault("c", "ResourceNotFoundException"),
        fault("d", "DecryptionFailure"),
        fault("e", "ThrottlingException"),
        fault("f", "InvalidRequestException", "it is scheduled for deletion"),
    ]
    stubbed(provider).add_response(
        "batch_get_secret_value", {"SecretValues": [entry("a")], "Errors": faults}
    )

    answers = ask(provider, *"abcdef")

    assert values(answers) == {"a": "text of a"}
    kinds = [LookupDenied, PathNotFound, LookupDenied, ProviderUnavailable, PathNotFound]
    assert [type(answers[name]) for name in "bcdef"] == kinds
    assert "refused: the key of KMS" in str(answers["d"])
    assert CANARY not in repr(answers)


def test_all_pages_of_a_batch_are_read(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    ids = {"SecretIdList": ["a", "b"]}
    first = {"SecretValues": [entry("a")], "NextToken": "more"}
    stub.add_response("batch_get_secret_value", first, ids)
    stub.add_response("batch_get_secret_value", {"NextToken": "yet"}, {**ids, "NextToken": "more"})
    stub.add_response(
        "batch_get_secret_value", {"SecretValues": [entry("b")]}, {**ids, "NextToken": "yet"}
    )

    assert values(ask(provider, "a", "b")) == {"a": "text of a", "b": "text of b"}
    stub.assert_no_pending_responses()


def test_an_old_version_in_a_batch_is_read_again_by_its_stage(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    old = {**entry("b", ("AWSPREVIOUS",)), "SecretString": "old"}
    stub.add_response("batch_get_secret_value", {"SecretValues": [entry("a"), old]})
    stub.add_response(
        "get_secret_value", entry("b"), {"SecretId": "b", "VersionStage": "AWSCURRENT"}
    )

    assert values(ask(provider, "a", "b")) == {"a": "text of a", "b": "text of b"}


def test_secrets_of_one_name_in_two_accounts_are_not_mixed_up(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    theirs = arn("a").replace("123456789012", "210987654321")
    stub.add_response(
        "batch_get_secret_value",
        {"SecretValues": [entry("a"), {**entry("a"), "ARN": theirs, "SecretString": "theirs"}]},
    )
    stub.add_response("get_secret_value", entry("a"))

    assert values(ask(provider, "a", theirs)) == {"a": "text of a", theirs: "theirs"}


def test_without_the_batch_permission_each_is_asked_for_alone_from_then_on(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    stub.add_client_error("batch_get_secret_value", "AccessDeniedException", DENIED)
    for name in "ababc":
        stub.add_response("get_secret_value", entry(name))

    with caplog.at_level(logging.INFO):
        answers = [values(ask(provider, *names)) for names in ("ab", "abc")]

    assert answers[1] == {name: f"text of {name}" for name in "abc"}
    assert provider.batches(["a", "b"]) == [["a"], ["b"]]
    assert caplog.text.count("secretsmanager:BatchGetSecretValue is not allowed") == 1


def test_a_batch_is_asked_for_again_if_nothing_is_allowed_at_all(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    stub.add_client_error("batch_get_secret_value", "AccessDeniedException", DENIED)
    for _ in "ab":
        stub.add_client_error("get_secret_value", "AccessDeniedException", DENIED)

    answers = ask(provider, "a", "b")

    assert {type(answer) for answer in answers.values()} == {LookupDenied}
    assert provider.batches(["a", "b"]) == [["a", "b"]]


def test_a_batch_is_asked_for_again_with_other_credentials(aws: Aws) -> None:
    (name, other), provider = aws.secrets(2), secrets_manager()
    stub = stubbed(provider)
    stub.add_client_error("batch_get_secret_value", "AccessDeniedException", DENIED)
    stub.add_response("get_secret_value", entry(name))
    stub.add_response("get_secret_value", entry(other))
    ask(provider, name, other)
    stub.add_client_error("get_secret_value", "ExpiredTokenException")

    provider.get(name)

    assert provider.batches([name, other]) == [[name, other]]


def test_a_role_that_is_refused_is_not_taken_for_a_missing_batch_permission(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = secrets_manager(aws_sts_role_arn="arn:aws:iam::123456789012:role/none")
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": DENIED}}, "AssumeRole")

    def refuse(self: object) -> None:
        raise denied

    monkeypatch.setattr("botocore.credentials.AssumeRoleCredentialFetcher._get_credentials", refuse)

    answers = ask(provider, "a", "b")

    assert {type(answer) for answer in answers.values()} == {LookupDenied}
    assert "the role of aws.sts.role.arn: refused" in str(answers["a"])
    assert provider.batches(["a", "b"]) == [["a", "b"]]


def test_a_failing_batch_is_the_failure_of_each(aws: Aws) -> None:
    provider = secrets_manager()
    stubbed(provider).add_client_error("batch_get_secret_value", "ThrottlingException")

    answers = ask(provider, "a", "b")

    assert [type(answer) for answer in answers.values()] == [ProviderUnavailable] * 2
    assert ["'a'" in str(answers["a"]), "'b'" in str(answers["b"])] == [True, True]


def test_a_region_that_is_none_is_an_error_for_what_was_asked_for(aws: Aws) -> None:
    with pytest.raises(ProviderUnavailable, match=r"the SDK of AWS fails \(InvalidRegionError\)"):
        secrets_manager(aws_region="not a region").get("db")


def test_a_policy_says_why_the_account_is_not_known(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")

    with pytest.raises(ProviderUnavailable, match="the account of the credentials: no AWS cred"):
        secrets_manager().policy({"db": {"password"}}, online=True)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("ExpiredTokenException", "refused: the credentials have expired"),
        ("UnrecognizedClientException", "refused: AWS does not know the credentials"),
    ],
)
def test_credentials_that_aws_no_longer_takes_are_looked_for_anew_once(
    aws: Aws, code: str, said: str
) -> None:
    made: list[object] = []
    provider = secrets_manager()
    make = provider._clients._make

    def make_refused(
        session: boto3.Session, region: str, endpoint: str | None, config: Config
    ) -> SecretsManagerClient:
        client = make(session, region, endpoint, config)
        stub = Stubber(client)
        stub.add_client_error("get_secret_value", code)
        stub.activate()
        made.append(session)
        return client

    provider._clients._make = make_refused

    with pytest.raises(LookupDenied, match=said):
        provider.get("db")

    assert len(set(made)) == 2


def parameter(name: str) -> dict[str, Any]:
    return {"Name": name, "Value": f"text of {name}", "Version": 1}


def get_parameters(*names: str) -> dict[str, Any]:
    return {"Names": list(names), "WithDecryption": True}


def test_one_denied_parameter_does_not_take_its_neighbours_along(aws: Aws) -> None:
    provider = ssm()
    stub = stubbed(provider)
    stub.add_client_error("get_parameters", "AccessDeniedException", DENIED)
    stub.add_response("get_parameters", {"Parameters": [parameter("/a")]}, get_parameters("/a"))
    stub.add_client_error("get_parameters", "AccessDeniedException", DENIED)
    stub.add_client_error("get_parameter", "AccessDeniedException", DENIED)

    answers = ask(provider, "/a", "/b")

    assert values(answers) == {"/a": "text of /a"}
    assert isinstance(answers["/b"], LookupDenied)
    assert "parameter '/b' in eu-west-1: refused by AWS" in str(answers["/b"])
    assert provider.batches(["/a", "/b"]) == [["/a", "/b"]]


def test_without_the_permission_for_many_each_parameter_is_asked_for_alone_from_then_on(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    provider = ssm()
    stub = stubbed(provider)
    stub.add_client_error("get_parameters", "AccessDeniedException", DENIED)
    stub.add_client_error("get_parameters", "AccessDeniedException", DENIED)
    for name in ("/a", "/b", "/a", "/b"):
        stub.add_response("get_parameter", {"Parameter": parameter(name)})

    with caplog.at_level(logging.INFO):
        answers = [values(ask(provider, "/a", "/b")) for _ in range(2)]

    assert answers == [{"/a": "text of /a", "/b": "text of /b"}] * 2
    assert provider.batches(["/a", "/b"]) == [["/a"], ["/b"]]
    assert caplog.text.count("ssm:GetParameters is not allowed") == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [("ThrottlingException", ProviderUnavailable), ("InternalServerError", ProviderUnavailable)],
)
def test_a_failing_call_for_parameters_is_the_failure_of_each(
    aws: Aws, code: str, kind: type[ConfigException]
) -> None:
    provider = ssm()
    stubbed(provider).add_client_error("get_parameters", code)

    assert [type(answer) for answer in ask(provider, "/a", "/b").values()] == [kind, kind]
