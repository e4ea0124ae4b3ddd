"""IAM policies: the least that a set of lookups needs, as JSON in a stable order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .arn import is_arn, partition_of

_FULL = re.compile(r".*-[A-Za-z0-9]{6}", re.ASCII)
_SUFFIX = "-??????"
_REFERENCE = "parameter/aws/reference/secretsmanager/"
_REGION = re.compile(r"[a-z0-9-]+", re.ASCII)

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
            # Six characters at its end may be of the name or what AWS has put behind it.
            arns.update({each, each + _SUFFIX} if _FULL.fullmatch(each) else {each + _SUFFIX})
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
    """Return what reads the parameters *names*, those that stand for secrets too."""
    arns = {
        name if is_arn(name) else _arn("ssm", region, account, f"parameter/{name.lstrip('/')}")
        for name in names
    }
    statements = [_statement("ReadParameters", "ssm:GetParameters", sorted(arns))]
    secrets = {
        arn.replace(":ssm:", ":secretsmanager:").replace(_REFERENCE, "secret:") + _SUFFIX
        for arn in arns
        if _REFERENCE in arn
    }
    if secrets:
        # SSM reads them on behalf of who asks.
        statements.append(
            _statement("ReadSecrets", "secretsmanager:GetSecretValue", sorted(secrets))
        )
    return statements


def queue_statement(region: str | None, account: str | None, name: str) -> Statement:
    """Return what receives events from the queue *name*, and deletes them."""
    actions = ["sqs:DeleteMessage", "sqs:ReceiveMessage"]
    return _statement("ReceiveEvents", actions, _arn("sqs", region, account, name))


def _arn(service: str, region: str | None, account: str | None, resource: str) -> str:
    region = region if region and _REGION.fullmatch(region) else "<REGION>"
    partition = partition_of(region)
    return f"arn:{partition}:{service}:{region}:{account or '<ACCOUNT>'}:{resource}"


def _statement(sid: str, action: str | list[str], resource: str | list[str]) -> Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": resource}
