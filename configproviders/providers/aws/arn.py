"""Amazon resource names, whose colons the grammar of references takes for its own.

``${sm:arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf:password}`` arrives as the
path ``arn`` and a key with all the rest. Nothing is lost: joined by the colon and split where an
ARN of that service ends, it is the ARN and ``password``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...errors import ConfigException, shorten

_START = re.compile(r"arn:aws[a-z-]*:")
NAME_CHARACTER = r"[A-Za-z0-9/_+=.@!-]"
"""What the names of both stores are made of; the ``!`` is in those that AWS itself gives."""

_ARN = re.compile(
    rf"arn:(aws[a-z-]*):([a-z-]+):([a-z0-9-]+):([0-9]{{12}}):([a-z]+[:/]{NAME_CHARACTER}{{1,1900}})",
    re.ASCII,
)
_SUFFIX = re.compile(r"-[A-Za-z0-9]{6}", re.ASCII)
_RESOURCES = {"secretsmanager": ("secret:", 7), "ssm": ("parameter/", 6)}


class Arn(NamedTuple):
    """The fields of an ARN; *resource* is all that follows the account."""

    partition: str
    service: str
    region: str
    account: str
    resource: str


def joined(path: str, key: str) -> str:
    """Return what stood between the provider and the closing bracket."""
    return f"{path}:{key}" if path else key


def is_arn(text: str) -> bool:
    """Whether *text* begins as an ARN does."""
    return _START.match(text) is not None


def parse(text: str, service: str) -> Arn:
    """Return the fields of an ARN of *service*; raise :class:`ConfigException` if it is none."""
    start, _ = _RESOURCES[service]
    match = _ARN.fullmatch(text)
    if match is None or match[2] != service or not match[5].startswith(start):
        raise ConfigException(
            f"{shorten(text)!r} is no ARN of {service}:"
            f" write arn:aws:{service}:<region>:<account>:{start}<name>"
        )
    return Arn(*match.groups())


def split(text: str, service: str) -> tuple[str, str | None]:
    """Return the ARN at the start of *text*, and what follows it after a colon."""
    _, count = _RESOURCES[service]
    fields = text.split(":", count)
    return ":".join(fields[:count]), fields[count] if len(fields) > count else None


def secret_names(text: str) -> frozenset[str]:
    """Return what may be the name of a secret in *text*, its name or its full or partial ARN.

    The six characters at the end of an ARN may be of the name, or what AWS has put behind it.
    """
    name = name_in(text, "secretsmanager")
    if not name:
        return frozenset()
    may_be_full = is_arn(text) and _SUFFIX.fullmatch(name[-7:])
    return frozenset({name, name[:-7]} if may_be_full else {name})


def name_in(text: str, service: str) -> str | None:
    """Return what stands behind the account in an ARN of *service*; any text that is no ARN.

    There is nothing in the ARN of something else.
    """
    if not is_arn(text):
        return text
    start, _ = _RESOURCES[service]
    fields = text.split(":", 5)
    if fields[2] != service or not fields[-1].startswith(start):
        return None
    return fields[-1].removeprefix(start)


def partition_of(region: str) -> str:
    """Return the partition in which *region* lies."""
    for start, partition in (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov")):
        if region.startswith(start):
            return partition
    return "aws"
