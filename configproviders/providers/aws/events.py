"""What a message says has changed: an event of EventBridge, as it comes out of a queue.

::

    Secrets Manager   itself ("Secret Label Updated", since 2025), or through CloudTrail: a call
                      ("AWS API Call via CloudTrail"), what it does on its own ("AWS Service Event
                      via CloudTrail": RotationSucceeded)
    Parameter Store   itself ("Parameter Store Change", "Parameter Store Policy Action"), or a call
                      through CloudTrail

A topic of SNS between rule and queue wraps the event once more. A secret is named by what the
caller wrote, a name or a full or partial ARN, and by its ARN, as ``arn`` or ``aRN``, in whichever
part of the event. Calls that read are no changes: our own lookups come back as such.

https://docs.aws.amazon.com/secretsmanager/latest/userguide/cloudtrail_log_entries.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .answers import entries, text

SECRETS, PARAMETERS = "aws.secretsmanager", "aws.ssm"
"""Who sends events of secrets, and of parameters and much else."""

EVERYTHING = frozenset({"*"})
"""The names of what has changed, if an event does not say; no name has a star in it."""

_PARTS = ("requestParameters", "responseElements", "additionalEventData", "serviceEventDetails")
_NAMES = {"arn", "name", "names", "parameter-name", "secretarn", "secretid"}  # In lower case.
_READS = ("BatchGet", "Describe", "Get", "List", "Validate")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: who sent it, of which kind, and the names and ARNs in it."""

    source: str
    kind: str
    call: str
    """The call of an API or the name of a service event, if CloudTrail sent it."""
    ids: frozenset[str]
    is_change: bool
    """Whether it is neither a call that reads nor one that failed."""

    @classmethod
    def of(cls, body: str) -> Event | None:
        """Return the event in the *body* of a message, ``None`` if there is none to be seen."""
        event = _parsed(body)
        if text(event, "Type") == "Notification":
            event = _parsed(text(event, "Message") or "")
        source, kind = text(event, "source"), text(event, "detail-type")
        detail = event.get("detail")
        if source is None or kind is None or not isinstance(detail, dict):
            return None
        call = text(detail, "eventName") or ""
        reads = detail.get("readOnly") is True or call.startswith(_READS)
        is_change = not reads and not detail.get("errorCode")
        return cls(source, kind, call, frozenset(_ids(event, detail)), is_change)


def _parsed(body: str) -> Mapping[str, Any]:
    import json

    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _ids(event: Mapping[str, Any], detail: Mapping[str, Any]) -> Iterator[str]:
    yield from _texts(event.get("resources"))
    parts = [detail, *(detail.get(name) for name in _PARTS), *entries(detail, "resources")]
    for part in parts:
        for name, value in part.items() if isinstance(part, dict) else ():
            if name.lower() in _NAMES:
                yield from _texts(value)


def _texts(value: object) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    yield from (each for each in values if isinstance(each, str) and each)
