"""Secrets of AWS Secrets Manager: ``${sm:name:key}``.

::

    ${sm:db:password}                        a field of a JSON object
    ${sm:db:/primary/password}               what stands deeper (JSON pointer)
    ${sm:db}                                 the whole text, or the bytes in base64
    ${sm:db:value}                           the same, of a text that has no fields
    ${sm:arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf:password}
    ${sm:db?stage=AWSPREVIOUS:password}      a staging label; ?version= a version id
    ${sm:db:password?ttl=300000}             ask again after 300 s
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...config_def import ConfigDef
from ...errors import LookupFailed, PathNotFound, shorten
from ...path_options import TTL, split_options
from . import arn
from .answers import entries, text
from .contents import AUTO, BINARY, JSON, STRING, Content
from .events import SECRETS, Event
from .failures import ABSENT, DENIED, KMS, NO_ANSWER, ServiceError, failure
from .policy import secret_statements
from .provider import AwsConfigProvider
from .references import canonical
from .settings import KEYS, secret_type_key

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_secretsmanager.type_defs import (
        BatchGetSecretValueResponseTypeDef,
    )

_BATCH = 20
_CURRENT = "AWSCURRENT"
_OPTIONS = {
    "version": "version",
    "version_id": "version",
    "stage": "stage",
    "version_stage": "stage",
    TTL: TTL,
}
_NAME = re.compile(rf"{arn.NAME_CHARACTER}{{1,512}}", re.ASCII)
_SUFFIX = re.compile(r"-[A-Za-z0-9]{6}", re.ASCII)


class _Secret(NamedTuple):
    """One version of one secret: what AWS is asked for."""

    id: str
    region: str | None
    version: str | None
    stage: str | None

    @property
    def is_pinned(self) -> bool:
        """Whether not the current version is meant: those do not go into batches."""
        return self.version is not None or self.stage is not None

    @property
    def shown(self) -> str:
        pinned = f" version {self.version!r}" if self.version else ""
        pinned += f" stage {self.stage!r}" if self.stage else ""
        return f"secret {shorten(self.id)!r}{pinned}{f' in {self.region}' if self.region else ''}"


_Entry = Mapping[str, Any]
_Found = dict[_Secret, "Content | ServiceError"]


class SecretsManagerConfigProvider(AwsConfigProvider[_Secret, "SecretsManagerClient"]):
    """The secrets of AWS Secrets Manager, in as few calls as it allows.

    Threads may share it. Current versions are read twenty in a call, others one by one; a policy
    without ``secretsmanager:BatchGetSecretValue`` makes it one by one for all. An ARN is asked for
    in its own region. A missing key is left out; a key of a text without fields is an error that
    says so.
    """

    service = "secretsmanager"
    batch_action = "BatchGetSecretValue"
    one_is_wrong = (
        *DENIED,
        *ABSENT,
        *KMS,
        "InvalidParameterException",
        "InvalidRequestException",
        "ValidationException",
    )
    secret_type = secret_type_key(AUTO, JSON, STRING, BINARY)
    config_def = ConfigDef((*KEYS, secret_type))

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Put an ARN back together, and all options behind the name; no key is the whole text."""
        joined = arn.joined(path, key)
        if arn.is_arn(joined):
            name, field = arn.split(joined, self.service)
        else:
            name, field = (path, key) if path else (key, None)
        path, key = canonical(name, field, _OPTIONS)
        self._parsed(path)
        return path, key

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return an IAM policy in JSON; *online* asks STS for the account.

        A key of KMS that belongs to the customer needs ``kms:Decrypt`` besides, which only its
        owner can tell; the key that AWS keeps for Secrets Manager needs nothing.
        """
        account, region = self._account(online=online)
        secrets = dict.fromkeys(map(self._asked, lookups))
        in_batches = any(len(group) > 1 for group in self._groups(secrets))
        ids = {secret.id for secret in secrets}
        return self._policy(secret_statements(ids, region, account, in_batches=in_batches))

    def _client(
        self, session: boto3.Session, region: str, endpoint: str | None, config: Config
    ) -> SecretsManagerClient:
        return session.client(
            "secretsmanager", region_name=region, endpoint_url=endpoint, config=config
        )

    def _parsed(self, path: str) -> tuple[str, dict[str, str]]:
        name, options = split_options(path, _OPTIONS)
        if arn.is_arn(name):
            arn.parse(name, self.service)
        elif not name:
            raise PathNotFound("no secret is named: write ${sm:name:key}")
        elif _NAME.fullmatch(f"{self._settings.prefix}{name}") is None:
            raise PathNotFound(f"no secret can have the name {shorten(name)!r}")
        return name, {_OPTIONS[option]: value for option, value in options.items()}

    def _asked(self, path: str) -> _Secret:
        name, options = self._parsed(path)
        version, stage = options.get("version"), options.get("stage")
        if stage == _CURRENT and version is None:
            stage = None
        if arn.is_arn(name):
            return _Secret(name, arn.parse(name, self.service).region, version, stage)
        return _Secret(f"{self._settings.prefix}{name}", self._clients.home, version, stage)

    def _groups(self, asked: Iterable[_Secret]) -> list[list[_Secret]]:
        """Return twenty current secrets of a region together, and all others alone."""
        alone: list[list[_Secret]] = []
        together: defaultdict[str | None, list[_Secret]] = defaultdict(list)
        for secret in asked:
            if secret.is_pinned or self._clients.batches_are_denied:
                alone.append([secret])
            else:
                together[secret.region].append(secret)
        parts = [
            group[start : start + _BATCH]
            for group in together.values()
            for start in range(0, len(group), _BATCH)
        ]
        return parts + alone

    def _fetch(self, group: list[_Secret]) -> _Found:
        if len(group) == 1:
            return self._one_by_one(group)
        try:
            there, failed = self._batch(group)
        except ServiceError as error:
            if not self._may_be_of_one(error):
                return dict.fromkeys(group, error)
            alone = self._one_by_one(group)
            if error.code in DENIED and any(isinstance(each, Content) for each in alone.values()):
                self._remember_denial()
            return alone
        answers = _assigned(group, there)
        found: _Found = {
            each: _content(entry) for each, entry in answers.items() if _is_current(entry)
        }
        found |= failed
        return found | self._one_by_one(secret for secret in group if secret not in found)

    def _batch(self, group: list[_Secret]) -> tuple[list[_Entry], _Found]:
        """Return all entries for *group*, and the errors of single ones."""
        there: list[_Entry] = []
        failed: _Found = {}
        page = ""
        while True:
            reply = self._page(group, page)
            there += entries(reply, "SecretValues")
            for fault in entries(reply, "Errors"):
                code, said = text(fault, "ErrorCode"), text(fault, "Message")
                error = ServiceError(code or NO_ANSWER, "GetSecretValue", said or "")
                failed |= {each: error for each in group if each.id == fault.get("SecretId")}
            page = reply.get("NextToken", "")
            if not page:
                return there, failed

    def _page(self, group: list[_Secret], page: str) -> BatchGetSecretValueResponseTypeDef:
        ids = [secret.id for secret in group]

        def ask(client: SecretsManagerClient) -> BatchGetSecretValueResponseTypeDef:
            if page:
                return client.batch_get_secret_value(SecretIdList=ids, NextToken=page)
            return client.batch_get_secret_value(SecretIdList=ids)

        return self._clients.call(group[0].region, ask)

    def _one_by_one(self, group: Iterable[_Secret]) -> _Found:
        found: _Found = {}
        for secret in group:
            try:
                found[secret] = self._single(secret)
            except ServiceError as error:
                found[secret] = error
        return found

    def _single(self, secret: _Secret) -> Content:
        # The stage is said even if it is the current one, so that no older version can answer.
        stage = secret.stage or (None if secret.version else _CURRENT)
        asked = {"VersionId": secret.version, "VersionStage": stage}
        given = {name: value for name, value in asked.items() if value}
        reply = self._clients.call(
            secret.region, lambda client: client.get_secret_value(SecretId=secret.id, **given)
        )
        return _content(reply)

    def _failure(
        self,
        error: ServiceError,
        asked: _Secret,
        path: str,  # noqa: ARG002  The other store says more with it.
        keys: Collection[str] | None,  # noqa: ARG002  As above.
    ) -> LookupFailed:
        if error.code == "InvalidRequestException" and asked.version and asked.stage:
            return PathNotFound(f"{asked.shown}: the version does not have that stage")
        hint = "" if arn.is_arn(asked.id) else "one of another account needs its full ARN"
        return failure(error, asked.shown, absent=hint)

    def _changed(self, event: Event) -> frozenset[str] | None:
        if event.source != SECRETS:
            return None
        return frozenset(name for each in event.ids for name in arn.secret_names(each))

    def _names(self, asked: _Secret) -> frozenset[str]:
        return arn.secret_names(asked.id)


def _assigned(group: Iterable[_Secret], there: Iterable[_Entry]) -> dict[_Secret, _Entry]:
    """Return what answers each of *group*, if it is one entry and answers no other.

    The secret of another account may have the same name, so that what was asked for by its ARN
    does not answer a name.
    """
    group, left = list(group), list(there)
    found: dict[_Secret, _Entry] = {}
    for is_answer in (_has_arn, _has_start_of_arn, _has_name):
        answers = {
            secret: [entry for entry in left if is_answer(secret, entry)] for secret in group
        }
        found |= {secret: mine[0] for secret, mine in answers.items() if len(mine) == 1}
        taken = [id(entry) for mine in answers.values() for entry in mine]
        left = [entry for entry in left if id(entry) not in taken]
    return found


def _has_arn(secret: _Secret, entry: _Entry) -> bool:
    return text(entry, "ARN") == secret.id


def _has_start_of_arn(secret: _Secret, entry: _Entry) -> bool:
    full = text(entry, "ARN") or ""
    is_start = arn.is_arn(secret.id) and full.startswith(secret.id)
    return is_start and _SUFFIX.fullmatch(full, len(secret.id)) is not None


def _has_name(secret: _Secret, entry: _Entry) -> bool:
    return text(entry, "Name") == secret.id and text(entry, "ARN") is not None


def _is_current(entry: _Entry) -> bool:
    return _value(entry) is not None and _CURRENT in (entry.get("VersionStages") or ())


def _content(entry: _Entry) -> Content:
    value = _value(entry)
    if value is None:
        raise ServiceError(NO_ANSWER, "GetSecretValue")
    return Content(value, text(entry, "VersionId"))


def _value(entry: _Entry) -> str | bytes | None:
    raw = entry.get("SecretString")
    raw = entry.get("SecretBinary") if raw is None else raw
    return raw if isinstance(raw, str | bytes) else None
