"""What the policies allow, and that it is never more than what was asked for."""

from __future__ import annotations

import json

import pytest
from servers.aws import ABROAD, HOME, Aws, answering, secrets_manager, ssm

from configproviders import ConfigException
from configproviders.errors import ProviderUnavailable

pytestmark = pytest.mark.aws

ARN = f"arn:aws:secretsmanager:{ABROAD}:123456789012:secret:db-AbCdEf"
PARAMETER = f"arn:aws:ssm:{HOME}:123456789012:parameter/app/db"


def test_the_policy_names_each_secret_and_marks_what_is_unknown(aws: Aws) -> None:
    lookups = {"app/db?ttl=5": {"a"}, ARN: {"b"}, f"{ARN[:-7]}?stage=S": {""}}

    policy = json.loads(secrets_manager(aws_region="cn-north-1").policy(lookups))

    assert policy == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "ReadSecrets",
                "Effect": "Allow",
                "Action": "secretsmanager:GetSecretValue",
                "Resource": [
                    "arn:aws-cn:secretsmanager:cn-north-1:<ACCOUNT>:secret:app/db-??????",
                    ARN[:-7] + "-??????",
                    ARN,
                    ARN + "-??????",
                ],
            }
        ],
    }


def test_the_policy_allows_batches_if_there_will_be_any(aws: Aws) -> None:
    policy = json.loads(secrets_manager().policy({"a": {"x"}, "b": {"y"}}, online=True))

    assert policy["Statement"][0]["Resource"] == [
        f"arn:aws:secretsmanager:{HOME}:123456789012:secret:{name}-??????" for name in "ab"
    ]
    assert policy["Statement"][1] == {
        "Sid": "ReadInBatches",
        "Effect": "Allow",
        "Action": "secretsmanager:BatchGetSecretValue",
        "Resource": "*",
    }
    assert aws.actions == ["GetCallerIdentity"]


def test_the_policy_marks_the_region_if_nothing_says_it(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")

    assert "secretsmanager:<REGION>:<ACCOUNT>:secret:a-" in secrets_manager().policy({"a": {"x"}})


def test_the_policy_names_each_parameter(aws: Aws) -> None:
    lookups = {"/app/db?version=3": {"a"}, "plain": {""}, PARAMETER: {""}}

    assert json.loads(ssm(aws_region="us-gov-west-1").policy(lookups))["Statement"] == [
        {
            "Sid": "ReadParameters",
            "Effect": "Allow",
            "Action": "ssm:GetParameters",
            "Resource": [
                "arn:aws-us-gov:ssm:us-gov-west-1:<ACCOUNT>:parameter/app/db",
                "arn:aws-us-gov:ssm:us-gov-west-1:<ACCOUNT>:parameter/plain",
                PARAMETER,
            ],
        }
    ]


def test_an_arn_that_seems_to_be_full_is_allowed_with_the_suffix_too(aws: Aws) -> None:
    arn = f"arn:aws:secretsmanager:{HOME}:123456789012:secret:db-secret"

    policy = json.loads(secrets_manager().policy({arn: {"a"}}))

    assert policy["Statement"][0]["Resource"] == [arn, f"{arn}-??????"]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("/aws/reference/secretsmanager/app/db", f"{HOME}:<ACCOUNT>"),
        (
            f"arn:aws:ssm:{ABROAD}:123456789012:parameter/aws/reference/secretsmanager/app/db",
            f"{ABROAD}:123456789012",
        ),
    ],
)
def test_a_parameter_that_stands_for_a_secret_needs_the_secret_too(
    aws: Aws, name: str, where: str
) -> None:
    parameters, secrets = json.loads(ssm().policy({name: {""}}))["Statement"]

    assert parameters["Resource"] == [
        f"arn:aws:ssm:{where}:parameter/aws/reference/secretsmanager/app/db"
    ]
    assert secrets["Action"] == "secretsmanager:GetSecretValue"
    assert secrets["Resource"] == [f"arn:aws:secretsmanager:{where}:secret:app/db-??????"]


@pytest.mark.parametrize("star", ["*", "?", "db*", "db?", "db${aws:x}"])
def test_no_pattern_is_taken_for_a_name(aws: Aws, star: str) -> None:
    with pytest.raises(ConfigException):
        secrets_manager().policy({f"{ARN[:-9]}{star}": {"a"}})
    with pytest.raises(ConfigException):
        ssm().policy({f"{PARAMETER}/{star}": {"a"}})
    with pytest.raises(ConfigException, match=r"'secret.prefix' is not a start of a name"):
        ssm(secret_prefix=star)


def test_no_policy_allows_more_than_one_resource_whatever_the_region_says(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "*")
    names = {"a": {""}, "b": {""}}

    printed = [secrets_manager().policy(names), ssm().policy(names)]

    statements = [each for text in printed for each in json.loads(text)["Statement"]]
    assert {each["Action"] for each in statements if "*" in json.dumps(each["Resource"])} == {
        "secretsmanager:BatchGetSecretValue"
    }


def test_an_account_that_is_none_is_not_printed(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    said = b"<R><GetCallerIdentityResult><Account>*</Account></GetCallerIdentityResult></R>"

    with answering({"GetCallerIdentity": said}) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        with pytest.raises(ProviderUnavailable, match="lacks what was asked for"):
            ssm().policy({"a": {""}}, online=True)
