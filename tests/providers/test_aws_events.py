"""What comes out of a queue: which paths it concerns, and what becomes of the messages."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from servers.aws import ABROAD, HOME, Aws, secrets_manager, ssm
from servers.aws_events import (
    ACCOUNT,
    CALL,
    event,
    heard,
    label_update,
    parameter_change,
    rotation,
    secret_arn,
    secret_call,
    through_sns,
    wait_until,
)
from servers.moto import Request

from configproviders import ConfigException, ConfigProvider
from configproviders.providers.aws import SecretsManagerConfigProvider
from configproviders.testing import CANARY

pytestmark = pytest.mark.aws

ARN = secret_arn("app/db")
OTHERS = ["app/d", "app/db2", "db", secret_arn("app/other"), "app/db-secret"]
THIS = ["app/db", "app/db?stage=AWSPREVIOUS&ttl=5", ARN, ARN[:-7], f"{ARN}?version={'0' * 32}"]


def concerned_by(provider: ConfigProvider, aws: Aws, body: str, *paths: str) -> list[str]:
    """Send *body*; return those of *paths* that are concerned."""
    with heard(provider) as events:
        aws.send(url_of(provider), body)
        concerned = events.get(timeout=30)
    return [path for path in paths if concerned(path)]


def url_of(provider: Any) -> str:
    return str(provider._settings.queue.text)


@pytest.mark.parametrize(
    "body",
    [
        secret_call("PutSecretValue", {"secretId": "app/db", "clientRequestToken": "0" * 32}),
        secret_call("PutSecretValue", {"secretId": ARN}),
        secret_call("UpdateSecretVersionStage", {"secretId": ARN[:-7]}),
        secret_call("UpdateSecret", {"secretId": "app/db"}, {"arn": ARN, "name": "app/db"}),
        secret_call("RotateSecret", None, {"aRN": ARN}),
        secret_call("DeleteSecret", None, {"arn": ARN}),
        secret_call("RestoreSecret", {"aRN": ARN}),
        secret_call("ReplicateSecretVersion", None, additionalEventData={"aRN": ARN}),
        secret_call("PutSecretValue", None, resources=[{"ARN": ARN, "accountId": ACCOUNT}]),
        secret_call("CreateSecret", {"name": "app/db"}),
        rotation("RotationSucceeded", ARN),
        label_update("app/db"),
        through_sns(secret_call("PutSecretValue", {"secretId": "app/db"})),
    ],
)
def test_an_event_concerns_its_secret_however_either_is_written(aws: Aws, body: str) -> None:
    provider = secrets_manager(aws_events_queue_url=aws.queue())

    assert concerned_by(provider, aws, body, *THIS, *OTHERS) == THIS


@pytest.mark.parametrize(
    "body",
    [
        parameter_change("/app/db"),
        parameter_change("app/db", "LabelParameterVersion"),
        event("aws.ssm", "Parameter Store Policy Action", {"parameter-name": "/app/db"}),
        event(
            "aws.ssm",
            CALL,
            {"eventName": "DeleteParameters", "requestParameters": {"names": ["/app/db"]}},
        ),
        through_sns(parameter_change("/app/db")),
    ],
)
def test_an_event_concerns_its_parameter_however_either_is_written(aws: Aws, body: str) -> None:
    arn = f"arn:aws:ssm:{HOME}:{ACCOUNT}:parameter/app/db"
    this = ["/app/db", "app/db?version=3", "/app/db?label=prod&ttl=5", arn, f"{arn}?version=3"]
    provider = ssm(aws_events_queue_url=aws.queue())

    found = concerned_by(provider, aws, body, *this, "/app", "/app/db2", "/db", f"{arn}/x", "?")

    assert found == this


def test_an_event_of_a_secret_concerns_the_parameter_that_stands_for_it(aws: Aws) -> None:
    provider = ssm(aws_events_queue_url=aws.queue())
    this = "/aws/reference/secretsmanager/app/db"

    assert concerned_by(provider, aws, label_update("app/db"), this, "/app/db") == [this]


def test_a_name_stands_behind_its_prefix(aws: Aws) -> None:
    secrets = secrets_manager(secret_prefix="app/", aws_events_queue_url=aws.queue())
    parameters = ssm(secret_prefix="/app/", aws_events_queue_url=aws.queue())

    assert concerned_by(secrets, aws, label_update("app/db"), "db", "app/db", ARN) == ["db", ARN]
    assert concerned_by(parameters, aws, parameter_change("/app/db"), "db", "app/db") == ["db"]


def test_an_arn_may_end_in_the_name_or_in_what_aws_puts_behind_it(aws: Aws) -> None:
    provider = secrets_manager(aws_events_queue_url=aws.queue())
    body = secret_call("PutSecretValue", {"secretId": secret_arn("db-secret")[:-7]})

    paths = [secret_arn("db-secret"), "db-secret", secret_arn("db")[:-7], secret_arn("database")]

    assert concerned_by(provider, aws, body, *paths) == paths[:3]


def test_a_replica_is_concerned_with_its_primary(aws: Aws) -> None:
    replica = secret_arn("app/db", region=ABROAD)
    provider = secrets_manager(aws_events_queue_url=aws.queue())

    assert concerned_by(provider, aws, label_update("app/db"), replica) == [replica]


@pytest.mark.parametrize(
    "body",
    [
        secret_call("PutSecretValue", {}),
        secret_call("PutSecretValue", None, {"arn": f"arn:aws:iam::{ACCOUNT}:role/x"}),
        secret_call("PutSecretValue", {"secretId": 7, "name": None, "names": [{}]}),
    ],
)
def test_an_event_that_names_no_secret_concerns_all(aws: Aws, body: str) -> None:
    provider = secrets_manager(aws_events_queue_url=aws.queue())

    assert concerned_by(provider, aws, body, *THIS, *OTHERS) == THIS + OTHERS


@pytest.mark.parametrize(
    "nothing",
    [
        secret_call("GetSecretValue", {"secretId": "app/db"}, readOnly=True),
        secret_call("BatchGetSecretValue", {"secretIdList": ["app/db"]}, readOnly=None),
        secret_call("PutSecretValue", {"secretId": "app/db"}, errorCode="AccessDenied"),
    ],
)
def test_a_call_that_reads_or_fails_is_deleted_and_nobody_is_told(
    aws: Aws, caplog: pytest.LogCaptureFixture, nothing: str
) -> None:
    url = aws.queue()
    aws.send(url, nothing, label_update("app/other"))

    with heard(secrets_manager(aws_events_queue_url=url)) as events:
        concerned = events.get(timeout=30)
        wait_until_empty(aws, url)

    assert not concerned("app/db")
    assert caplog.messages == []


@pytest.mark.parametrize(
    "other",
    [
        f"no JSON, but {CANARY}",
        "[" * 100_000,
        json.dumps([CANARY]),
        json.dumps({"Type": "Notification", "Message": CANARY}),
        json.dumps({"Type": "SubscriptionConfirmation", "Token": CANARY}),
        event("aws.secretsmanager", CALL, {}).replace("{}", '"text"'),
        event("aws.s3", "Object Created", {"object": {"key": CANARY}}),
        event("aws.ssm", "EC2 Command Status-change Notification", {"status": CANARY}),
    ],
)
def test_what_is_not_for_us_is_deleted_with_one_line_in_the_log_that_does_not_show_it(
    aws: Aws, caplog: pytest.LogCaptureFixture, other: str
) -> None:
    url = aws.queue()
    aws.send(url, other, other)

    with caplog.at_level(logging.DEBUG), heard(ssm(aws_events_queue_url=url)) as events:
        wait_until_empty(aws, url)
        aws.send(url, other, parameter_change("/app/db"))
        concerned = events.get(timeout=30)

    assert concerned("/app/db")
    assert not concerned("/app/other")
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        f"what is no event for this provider is deleted unread: queue {url!r} for ssm"
    ]
    assert CANARY not in caplog.text


def test_what_comes_together_is_told_together(aws: Aws) -> None:
    url = aws.queue()
    names = [f"/app/{number}" for number in range(12)]
    aws.send(url, *map(parameter_change, names))

    with heard(ssm(aws_events_queue_url=url)) as events:
        first, second = events.get(timeout=30), events.get(timeout=30)
        wait_until_empty(aws, url)

    assert [sum(map(concerned, names)) for concerned in (first, second)] == [10, 2]
    assert all(first(name) or second(name) for name in names)
    assert events.empty()


def test_without_a_queue_there_is_nothing_to_listen_to(aws: Aws) -> None:
    assert secrets_manager().listen(print) is None
    assert secrets_manager(aws_events_queue_url="").listen(print) is None
    assert ssm().listen(print) is None


@pytest.mark.parametrize(
    "url", ["queue", "https://sqs.eu-west-1.amazonaws.com", "http://u:p@h/1/q", "http://h/1/q?x=y"]
)
def test_what_is_no_url_of_a_queue_is_an_error(url: str) -> None:
    with pytest.raises(ConfigException, match=r"is not a URL of a queue: write https://sqs\.<reg"):
        secrets_manager(aws_events_queue_url=url)


@pytest.mark.parametrize(
    ("url", "region", "endpoint"),
    [
        ("https://sqs.cn-north-1.amazonaws.com.cn/123456789012/q", "cn-north-1", None),
        ("https://us-gov-west-1.queue.amazonaws.com/123456789012/q.fifo", "us-gov-west-1", None),
        ("https://queue.amazonaws.com/123456789012/q", "us-east-1", None),
        (
            "https://vpce-0a-1b.sqs.eu-west-1.vpce.amazonaws.com/123456789012/q",
            "eu-west-1",
            "https://vpce-0a-1b.sqs.eu-west-1.vpce.amazonaws.com",
        ),
        ("http://[::1]:4566/queue/eu-west-1/123456789012/q", None, "http://[::1]:4566"),
    ],
)
def test_the_url_says_region_and_host_of_the_queue(
    url: str, region: str | None, endpoint: str | None
) -> None:
    found = secrets_manager(aws_events_queue_url=url)._settings.queue

    assert found is not None
    assert (found.region, found.endpoint, found.account) == (region, endpoint, ACCOUNT)


def test_the_queue_is_asked_in_its_region_and_not_where_the_store_is(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = aws.queue(region=ABROAD).rpartition("/")[2]
    # Its host is never asked: the environment says another.
    url = f"https://sqs.{ABROAD}.amazonaws.com/{ACCOUNT}/{name}"
    provider = secrets_manager(endpoint="http://127.0.0.1:9", aws_events_queue_url=url)

    with heard(provider) as events:
        aws.moto.sqs(ABROAD).send_message(QueueUrl=url, MessageBody=label_update("app/db"))
        assert events.get(timeout=30)("app/db")

    assert {(each.service, each.region) for each in requests(aws)} == {("sqs", ABROAD)}


def test_the_queue_is_read_in_the_role_of_the_provider(aws: Aws) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/reader"
    provider = ssm(aws_sts_role_arn=role, aws_events_queue_url=aws.queue())

    concerned_by(provider, aws, parameter_change("/app/db"))

    first, *others = requests(aws)
    assert (first.action, first.access_key) == ("AssumeRole", aws.key)
    assert others[0].action == "ReceiveMessage"
    assert all(each.access_key.startswith("ASIA") for each in others)


def test_a_call_brings_ten_messages_and_waits_twenty_seconds(aws: Aws) -> None:
    concerned_by(ssm(aws_events_queue_url=aws.queue()), aws, parameter_change("/app/db"))

    # Of this test's own key: the last request of the role in the one before may come late.
    asked = next(json.loads(each.body) for each in aws.requests if each.access_key == aws.key)
    assert (asked["MaxNumberOfMessages"], asked["WaitTimeSeconds"]) == (10, 20)


def test_the_policy_allows_to_read_the_queue(aws: Aws) -> None:
    url = "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/secrets-of-orders"
    elsewhere = "http://localhost:4566/queue/q"
    lookups = {"a": {""}}

    there = json.loads(secrets_manager(aws_events_queue_url=url).policy(lookups))["Statement"]
    here = json.loads(ssm(aws_events_queue_url=elsewhere).policy(lookups))["Statement"]

    assert there[1:] == [
        {
            "Sid": "ReceiveEvents",
            "Effect": "Allow",
            "Action": ["sqs:DeleteMessage", "sqs:ReceiveMessage"],
            "Resource": "arn:aws-cn:sqs:cn-north-1:123456789012:secrets-of-orders",
        }
    ]
    assert here[1]["Resource"] == f"arn:aws:sqs:{HOME}:<ACCOUNT>:q"


def test_the_calls_of_a_queue_are_not_counted_as_calls_of_the_store(aws: Aws) -> None:
    provider: SecretsManagerConfigProvider = secrets_manager(aws_events_queue_url=aws.queue())

    concerned_by(provider, aws, label_update("app/db"))

    assert provider.calls_made == 0


def requests(aws: Aws) -> list[Request]:
    """Return what was asked with the keys of this test, or in a role: others may come late."""
    return [
        each for each in aws.requests if each.access_key == aws.key or "ASIA" in each.access_key
    ]


def wait_until_empty(aws: Aws, url: str) -> None:
    wait_until(lambda: aws.left_in(url) == 0)
