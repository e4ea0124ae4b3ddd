"""The address of a queue of SQS, and what it says about the queue."""

from __future__ import annotations

import re
from typing import NamedTuple

_URL = re.compile(
    r"(https?://([A-Za-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)"
    r"/((?:[A-Za-z0-9_-]+/)*)([A-Za-z0-9_-]{1,80}(?:\.fifo)?)",
    re.ASCII,
)
_REGION = r"([a-z]{2,4}(?:-[a-z]+){1,3}-[0-9]{1,2})"
_OF_REGION = re.compile(rf"(?:.*\.)?sqs(?:-fips)?\.{_REGION}\..*|{_REGION}\.queue\..*")
_KNOWN = re.compile(rf"(?:sqs\.{_REGION}|{_REGION}\.queue|queue)\.amazonaws\.com(?:\.cn)?")
_ACCOUNT = re.compile(r"[0-9]{12}", re.ASCII)


class QueueUrl(NamedTuple):
    """The URL of a queue, as SQS gives it."""

    text: str
    name: str
    account: str | None
    region: str | None
    endpoint: str | None
    """Where the queue is asked: ``None`` where the SDK knows it from the region."""

    @classmethod
    def parse(cls, text: str) -> QueueUrl | None:
        """Take a URL apart, none if it is empty; raise ``ValueError`` if it is no URL."""
        if not text:
            return None
        match = _URL.fullmatch(text)
        if match is None:
            raise ValueError("write https://sqs.<region>.amazonaws.com/<account>/<name>")
        origin, host, directories, name = match.groups()
        account = directories.rstrip("/").rpartition("/")[2]
        return cls(
            text,
            name,
            account if _ACCOUNT.fullmatch(account) else None,
            _region(host),
            None if _KNOWN.fullmatch(host) else origin,
        )


def _region(host: str) -> str | None:
    if host == "queue.amazonaws.com":  # As it was written when there was one region.
        return "us-east-1"
    match = _OF_REGION.fullmatch(host)
    return (match[1] or match[2]) if match else None
