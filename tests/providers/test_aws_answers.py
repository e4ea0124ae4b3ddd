"""Answers that AWS would not give: what they concern has no value, and nothing else suffers."""

from __future__ import annotations

from typing import Any

import pytest
from servers.aws import HOME, Aws, answering, ask, secrets_manager, ssm, stubbed, values

from configproviders.errors import LookupDenied, ProviderUnavailable

pytestmark = pytest.mark.aws

OURS, THEIRS = "123456789012", "210987654321"
SINGLE: dict[str, Any] = {"ARN": "arn", "SecretString": 7}


def arn(name: str, account: str = OURS) -> str:
    return f"arn:aws:secretsmanager:{HOME}:{account}:secret:{name}-AbCdEf"


def entry(name: str, account: str = OURS, **more: Any) -> dict[str, Any]:
    return {
        "Name": name,
        "ARN": arn(name, account),
        "SecretString": f"{name} of {account}",
        "VersionId": "0" * 32,
        "VersionStages": ["AWSCURRENT"],
        **more,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"SecretValues": [entry("a"), entry("b", ARN=5)]},
        {"SecretValues": [entry("a"), entry("b", Name=[1])]},
        {"SecretValues": [entry("a"), None]},
        {"SecretValues": [entry("a")], "Errors": [None]},
        {"SecretValues": [entry("a")], "Errors": [{"SecretId": "b", "Message": 7}]},
        {"SecretValues": [entry("a")], "Errors": [{"SecretId": "b", "ErrorCode": 7}]},
        {"SecretValues": [entry("a"), entry("b", SecretString=5)]},
        {"SecretValues": [entry("a"), entry("b", SecretString=None, SecretBinary="!!!")]},
    ],
)
def test_a_wrong_entry_of_a_batch_concerns_one_secret(aws: Aws, wrong: dict[str, Any]) -> None:
    with answering({"BatchGetSecretValue": wrong, "GetSecretValue": SINGLE}) as url:
        answers = ask(secrets_manager(endpoint=url), "a", "b")

    assert values(answers) == {"a": f"a of {OURS}"}
    assert isinstance(answers["b"], ProviderUnavailable)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Parameters": [{"Name": "/a", "Value": "text"}, {"Name": "/b", "Value": 5}]},
        {"Parameters": [{"Name": "/a", "Value": "text"}, {"Name": "/b", "Value": [1]}]},
        {"Parameters": [{"Name": "/a", "Value": "text"}, {"Name": 5, "Value": "b"}]},
        {"Parameters": [{"Name": "/a", "Value": "text"}, None]},
        {"Parameters": [{"Name": "/a", "Value": "text"}], "InvalidParameters": [5]},
        {"Parameters": [{"Name": "/a", "Value": "text"}], "InvalidParameters": [None]},
    ],
)
def test_a_wrong_entry_among_parameters_concerns_one(aws: Aws, wrong: dict[str, Any]) -> None:
    with answering({"GetParameters": wrong, "GetParameter": {"Parameter": {"Value": 5}}}) as url:
        answers = ask(ssm(endpoint=url), "/a", "/b")

    assert values(answers) == {"/a": "text"}
    assert isinstance(answers["/b"], ProviderUnavailable)


@pytest.mark.parametrize("encoded", ["!!!", "!!!QUJD", 5, None])
def test_what_is_no_base64_is_no_value(aws: Aws, encoded: object) -> None:
    with (
        answering({"GetSecretValue": {"SecretBinary": encoded}}) as url,
        pytest.raises(ProviderUnavailable, match="lacks what was asked for"),
    ):
        secrets_manager(endpoint=url).get("a")


def test_the_secret_of_an_arn_does_not_answer_a_name(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    fault = {"SecretId": "a", "ErrorCode": "AccessDeniedException", "Message": "no"}
    theirs = entry("a", THEIRS)
    stub.add_response("batch_get_secret_value", {"SecretValues": [theirs], "Errors": [fault]})

    answers = ask(provider, "a", theirs["ARN"])

    assert values(answers) == {theirs["ARN"]: f"a of {THEIRS}"}
    assert isinstance(answers["a"], LookupDenied)


def test_a_name_without_an_entry_of_its_own_is_read_alone(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    theirs = entry("a", THEIRS)
    stub.add_response("batch_get_secret_value", {"SecretValues": [theirs]})
    stub.add_response("get_secret_value", entry("a"))

    assert values(ask(provider, "a", theirs["ARN"][:-7])) == {
        "a": f"a of {OURS}",
        theirs["ARN"][:-7]: f"a of {THEIRS}",
    }


def test_an_entry_does_not_undo_the_error_of_the_same_secret(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    fault = {"SecretId": "a", "ErrorCode": "AccessDeniedException", "Message": "no"}
    there = [entry("a"), entry("b")]
    stub.add_response("batch_get_secret_value", {"SecretValues": there, "Errors": [fault]})

    answers = ask(provider, "a", "b")

    assert values(answers) == {"b": f"b of {OURS}"}
    assert isinstance(answers["a"], LookupDenied)


def test_a_full_arn_is_not_taken_for_the_start_of_another(aws: Aws) -> None:
    provider = secrets_manager()
    stub = stubbed(provider)
    short = arn("db")[:-6] + "secret"
    there = [entry("db", ARN=short), entry("db-secret")]
    stub.add_response("batch_get_secret_value", {"SecretValues": there})

    answers = values(ask(provider, short, arn("db-secret")))

    assert answers == {short: f"db of {OURS}", arn("db-secret"): f"db-secret of {OURS}"}
