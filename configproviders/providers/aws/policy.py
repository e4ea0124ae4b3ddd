"""IAM policies: the least that a set of lookups needs, as JSON in a stable order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .arn import is_arn, partition_of

_FULL = re.compile(r".*-[A-Za-z0-9]{6}", re.ASCII)
_SUFFIX = "-??????"

Statement = Mapping[str, object]


def document(statements: Sequence[Statement]) -> str:
    """Return the policy with *statements*."""
    import json

    return json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=2) + "\n"


def secret_statements(
    ids: Iterable[str], region: str | None, account: str | None, *, in_batches: bool
) -> list[Statement]:
    """Return what reads the secrets *ids*; ``<REGION>`` and ``<ACCOUNT>`` stand for the unknown.

    A secret's ARN ends in six characters that its name does not say, so that a pattern of six
    question marks takes their place.
    """
    arns = set()
    for each in ids:
        if is_arn(each):
            arns.add(each if _FULL.fullmatch(each) else each + _SUFFIX)
        else:
            arns.add(_arn("secretsmanager", region, account, f"secret:{each}{_SUFFIX}"))
    statements = [_statement("ReadSecrets", "secretsmanager:GetSecretValue", sorted(arns))]
    if in_batches:
        # The action knows no resource; what may be read is decided by the other statement.
        statements.append(_statement("ReadInBatches", "secretsmanager:BatchGetSecretValue", "*"))
    return statements


def parameter_statements(
    names: Iterable[str], region: str | None, account: str | None
) -> list[Statement]:
    """Return what reads the parameters *names*."""
    arns = {
        name if is_arn(name) else _arn("ssm", region, account, f"parameter/{name.lstrip('/')}")
        for name in names
    }
    return [_statement("ReadParameters", "ssm:GetParameters", sorted(arns))]


def _arn(service: str, region: str | None, account: str | None, resource: str) -> str:
    partition = partition_of(region or "")
    return f"arn:{partition}:{service}:{region or '<REGION>'}:{account or '<ACCOUNT>'}:{resource}"


def _statement(sid: str, action: str, resource: str | list[str]) -> Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": resource}
