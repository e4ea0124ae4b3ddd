"""Parameters of the AWS Systems Manager Parameter Store: ``${ssm::/app/db/password}``.

::

    ${ssm::/app/db/password}             a parameter, decrypted; also ${ssm:/app/db/password}
    ${ssm:/app/db:password}              a field of the parameter /app/db, a JSON object
    ${ssm::/app/db:3}                    version 3 of the parameter; also /app/db:label
    ${ssm:/app/db?version=3:password}    the same for a field; also ?label=
    ${ssm:arn:aws:ssm:eu-west-1:123456789012:parameter/app/db:password}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...config_def import ConfigDef
from ...errors import ConfigException, LookupFailed, PathNotFound, shorten
from ...path_options import TTL, split_options, with_options
from . import arn
from .answers import entries, text
from .contents import AUTO, JSON, STRING, Content
from .events import PARAMETERS, SECRETS, Event
from .failures import ABSENT, DENIED, KMS, NO_ANSWER, ServiceError, failure
from .policy import parameter_statements
from .provider import AwsConfigProvider
from .references import WHOLE, canonical
from .settings import KEYS, secret_type_key

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import GetParametersResultTypeDef

_BATCH = 10
_OPTIONS = {"version": "version", "label": "label", TTL: TTL}
_REFERENCE = "aws/reference/secretsmanager/"  # What stands before the name of a secret.
_NAME = re.compile(rf"{arn.NAME_CHARACTER}{{1,2048}}", re.ASCII)


class _Parameter(NamedTuple):
    """One version of one parameter: what AWS is asked for."""

    name: str
    region: str | None
    selector: str | None

    @property
    def asked(self) -> str:
        """The name with its version or label, as AWS takes it."""
        return f"{self.name}:{self.selector}" if self.selector else self.name

    @property
    def base(self) -> str:
        """What is the same in the name and in the ARN: answers may come with either."""
        return _base(self.name)

    @property
    def shown(self) -> str:
        where = f" in {self.region}" if self.region else ""
        return f"parameter {shorten(self.asked)!r}{where}"


_Found = dict[_Parameter, "Content | ServiceError"]


class SsmConfigProvider(AwsConfigProvider[_Parameter, "SSMClient"]):
    """The parameters of the AWS Systems Manager Parameter Store, ten in a call.

    Threads may share it. Encrypted parameters arrive decrypted, a list as text with commas. A
    parameter that is refused does not take its neighbours along; a policy that allows
    ``ssm:GetParameter`` alone makes it one by one for all. A missing key is left out; a key of a
    text without fields is an error that says so.
    """

    service = "ssm"
    batch_action = "GetParameters"
    one_is_wrong = (*DENIED, *ABSENT, *KMS, "ValidationException")
    secret_type = secret_type_key(AUTO, JSON, STRING)
    config_def = ConfigDef((*KEYS, secret_type))

    def locate(self, path: str, key: str) -> tuple[str, str]:
        """Put an ARN back together, and selector and options behind the name.

        Without a path the key is the name of a parameter, all of which is meant.
        """
        joined = arn.joined(path, key)
        field: str | None = None
        if not path:
            name = _with_selector_as_option(key)
        elif arn.is_arn(joined):
            name, field = arn.split(joined, self.service)
        else:
            name, field = path, key
        path, key = canonical(name, field, _OPTIONS)
        self._parsed(path)
        return path, key

    def policy(self, lookups: Mapping[str, Collection[str]], *, online: bool = False) -> str:
        """Return an IAM policy in JSON; *online* asks STS for the account.

        A key of KMS that belongs to the customer needs ``kms:Decrypt`` besides, which only its
        owner can tell; the key that AWS keeps for SSM needs nothing.
        """
        account, region = self._account(online=online)
        names = {self._asked(path).name for path in lookups}
        return self._policy(parameter_statements(names, region, account))

    def _client(
        self, session: boto3.Session, region: str, endpoint: str | None, config: Config
    ) -> SSMClient:
        return session.client("ssm", region_name=region, endpoint_url=endpoint, config=config)

    def _parsed(self, path: str) -> tuple[str, dict[str, str]]:
        name, options = split_options(path, _OPTIONS)
        if arn.is_arn(name):
            arn.parse(name, self.service)
        elif not name:
            raise PathNotFound("no parameter is named: write ${ssm::/name/of/the/parameter}")
        elif _NAME.fullmatch(f"{self._settings.prefix}{name}") is None:
            raise PathNotFound(f"no parameter can have the name {shorten(name)!r}")
        if "version" in options and "label" in options:
            raise ConfigException(f"write either version or label for {shorten(name)!r}")
        return name, options

    def _asked(self, path: str) -> _Parameter:
        name, options = self._parsed(path)
        selector = options.get("version") or options.get("label")
        if arn.is_arn(name):
            return _Parameter(name, arn.parse(name, self.service).region, selector)
        return _Parameter(f"{self._settings.prefix}{name}", self._clients.home, selector)

    def _groups(self, asked: Iterable[_Parameter]) -> list[list[_Parameter]]:
        """Return what goes into a call together: ten of a region, no two of one name.

        An answer does not always say which version it is the answer to.
        """
        size = 1 if self._clients.batches_are_denied else _BATCH
        open_groups: list[dict[str, _Parameter]] = []
        full: list[dict[str, _Parameter]] = []
        for each in asked:
            for group in open_groups:
                if each.base not in group and each.region == next(iter(group.values())).region:
                    break
            else:
                group = {}
                open_groups.append(group)
            group[each.base] = each
            if len(group) == size:
                open_groups.remove(group)
                full.append(group)
        return [list(group.values()) for group in [*full, *open_groups]]

    def _fetch(self, group: list[_Parameter]) -> _Found:
        """Return the answers to *group*: one call, and more only if AWS denies it as a whole."""
        if self._clients.batches_are_denied:
            return {each: self._alone(each) for each in group}
        try:
            reply = self._batch(group)
        except ServiceError as error:
            if not self._may_be_of_one(error):
                return dict.fromkeys(group, error)
            if len(group) == 1:
                return {group[0]: self._after_denial(group[0], error)}
            return {one: said for each in group for one, said in self._fetch([each]).items()}
        there = {
            _base(text(each, "Name") or ""): each
            for each in entries(reply, "Parameters")
            if text(each, "Value") is not None
        }
        missing = {
            _base(name) for name in reply.get("InvalidParameters", []) if isinstance(name, str)
        }
        absent = ServiceError("ParameterNotFound", self.batch_action)
        found: _Found = {each: absent for each in group if each.base in missing}
        found |= {each: _content(there[each.base]) for each in group if each.base in there}
        return found | {each: self._alone(each) for each in group if each not in found}

    def _batch(self, group: list[_Parameter]) -> GetParametersResultTypeDef:
        names = [each.asked for each in group]
        return self._clients.call(
            group[0].region,
            lambda client: client.get_parameters(Names=names, WithDecryption=True),
        )

    def _after_denial(self, parameter: _Parameter, error: ServiceError) -> Content | ServiceError:
        """Ask with the other action, which the policy may allow instead of the one for many."""
        if error.code not in DENIED:
            return error
        found = self._alone(parameter)
        if isinstance(found, ServiceError):
            return error if found.code in DENIED else found
        self._remember_denial()
        return found

    def _alone(self, parameter: _Parameter) -> Content | ServiceError:
        try:
            reply = self._clients.call(
                parameter.region,
                lambda client: client.get_parameter(Name=parameter.asked, WithDecryption=True),
            )
            return _content(reply.get("Parameter", {}))
        except ServiceError as error:
            return error

    def _failure(
        self, error: ServiceError, asked: _Parameter, path: str, keys: Collection[str] | None
    ) -> LookupFailed:
        hint = "" if asked.selector else _hint(self._parsed(path)[0], keys)
        return failure(error, asked.shown, absent=hint)

    def _changed(self, event: Event) -> frozenset[str] | None:
        if event.source == SECRETS:
            names = (name for each in event.ids for name in arn.secret_names(each))
            return frozenset(_REFERENCE + name for name in names)
        is_of_parameters = event.kind.startswith("Parameter Store") or "Parameter" in event.call
        if event.source != PARAMETERS or not is_of_parameters:
            return None
        return frozenset(_base(each) for each in event.ids if arn.name_in(each, self.service))

    def _names(self, asked: _Parameter) -> frozenset[str]:
        return frozenset({asked.base})


def _with_selector_as_option(text: str) -> str:
    """Return ``name:3`` as ``name?version=3``, and ``name:label`` as ``name?label=label``."""
    name, options = split_options(text, _OPTIONS)
    count = 6 if arn.is_arn(name) else 1
    start, *selectors = name.rsplit(":", 1) if name.count(":") == count else [name]
    for selector in selectors:
        option = "version" if selector.isdigit() else "label"
        if options.setdefault(option, selector) != selector:
            raise ConfigException(f"option {option!r} stands twice for {shorten(start)!r}")
    return with_options(start, options)


def _base(name: str) -> str:
    # Before the colon of a selector; an ARN has five colons of its own.
    fields = name.split(":", 6)
    resource = fields[5].removeprefix("parameter") if arn.is_arn(name) else fields[0]
    return resource.lstrip("/")


def _content(parameter: Mapping[str, object]) -> Content:
    value, version = text(parameter, "Value"), parameter.get("Version")
    if value is None:
        raise ServiceError(NO_ANSWER, "GetParameter")
    return Content(value, None if version is None else str(version))


def _hint(name: str, keys: Collection[str] | None) -> str:
    """Say how a parameter of its own is written, to who asked for a field of one."""
    fields = sorted(key for key in keys or () if key != WHOLE)
    if not fields or arn.is_arn(name):
        return ""
    own = f"{name.rstrip('/')}/{fields[0].lstrip('/')}"
    return f"a parameter of its own is written ${{ssm::{shorten(own)}}}"
