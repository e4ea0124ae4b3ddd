"""Events as EventBridge writes them into a queue, in the shapes that AWS documents."""

from __future__ import annotations

import json
import logging
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from servers.aws import HOME

from configproviders import ConfigProvider

if TYPE_CHECKING:
    import pytest

Concerned = Callable[[str], bool]

ACCOUNT = "123456789012"
CALL, SERVICE_EVENT = "AWS API Call via CloudTrail", "AWS Service Event via CloudTrail"


@contextmanager
def heard(provider: ConfigProvider) -> Iterator[queue.Queue[Concerned]]:
    """Listen to *provider*; give what is heard."""
    events: queue.Queue[Concerned] = queue.Queue()
    end = provider.listen(events.put)
    assert end is not None
    try:
        yield events
    finally:
        end()


def wait_until(holds: Callable[[], bool]) -> None:
    """Ask *holds* until it is true, for half a minute at most."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def reports(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what our own code has logged, but for debugging."""
    return [
        record.message
        for record in caplog.records
        if record.levelno >= logging.INFO and record.name.startswith("configproviders")
    ]


def secret_arn(name: str, *, region: str = HOME) -> str:
    """Return the full ARN of a secret."""
    return f"arn:aws:secretsmanager:{region}:{ACCOUNT}:secret:{name}-AbCdEf"


def secret_call(
    call: str,
    request: dict[str, Any] | None,
    response: dict[str, Any] | None = None,
    **more: Any,
) -> str:
    """Return the event of a call of Secrets Manager."""
    detail = {
        "eventVersion": "1.09",
        "userIdentity": {
            "type": "AssumedRole",
            "principalId": "AROAEXAMPLE:rotator",
            "arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/rotator/rotator",
            "accountId": ACCOUNT,
        },
        "eventTime": "2025-06-01T12:00:00Z",
        "eventSource": "secretsmanager.amazonaws.com",
        "eventName": call,
        "awsRegion": HOME,
        "requestParameters": request,
        "responseElements": response,
        "readOnly": False,
        "eventType": "AwsApiCall",
        "recipientAccountId": ACCOUNT,
        **more,
    }
    return event("aws.secretsmanager", CALL, detail)


def rotation(name: str, secret_id: str) -> str:
    """Return the event *name* of a rotation that Secrets Manager makes by itself."""
    detail = {
        "eventVersion": "1.08",
        "userIdentity": {"accountId": ACCOUNT, "invokedBy": "secretsmanager.amazonaws.com"},
        "eventSource": "secretsmanager.amazonaws.com",
        "eventName": name,
        "awsRegion": HOME,
        "requestParameters": None,
        "responseElements": None,
        "additionalEventData": {"SecretId": secret_id},
        "readOnly": False,
        "eventType": "AwsServiceEvent",
        "recipientAccountId": ACCOUNT,
    }
    return event("aws.secretsmanager", SERVICE_EVENT, detail)


def label_update(name: str) -> str:
    """Return the event that Secrets Manager sends without CloudTrail."""
    detail = {"name": name, "labelUpdated": "AWSCURRENT", "versionId": "0" * 32}
    return event("aws.secretsmanager", "Secret Label Updated", detail, secret_arn(name))


def parameter_change(name: str, operation: str = "Update") -> str:
    """Return the event of a change of a parameter."""
    detail = {"operation": operation, "name": name, "type": "SecureString", "description": "of db"}
    arn = f"arn:aws:ssm:{HOME}:{ACCOUNT}:parameter/{name.lstrip('/')}"
    return event("aws.ssm", "Parameter Store Change", detail, arn)


def event(source: str, kind: str, detail: dict[str, Any], *resources: str) -> str:
    """Return an event of any kind."""
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": kind,
            "source": source,
            "account": ACCOUNT,
            "time": "2025-06-01T12:00:03Z",
            "region": HOME,
            "resources": list(resources),
            "detail": detail,
        }
    )


def through_sns(body: str) -> str:
    """Return *body* as a topic of SNS passes it on, unless it is told to leave it as it is."""
    return json.dumps(
        {
            "Type": "Notification",
            "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
            "TopicArn": f"arn:aws:sns:{HOME}:{ACCOUNT}:secrets",
            "Message": body,
            "Timestamp": "2025-06-01T12:00:04.000Z",
        }
    )
