"""The settings that the providers of AWS share, and the names others have for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from ...config_def import (
    BOOLEAN,
    MILLISECONDS,
    SECONDS,
    STRING,
    WHOLE_NUMBER,
    Alias,
    ConfigKey,
    ConfigType,
    one_of,
    without_effect,
)
from ...errors import ConfigException
from .arn import NAME_CHARACTER
from .queue_url import QueueUrl

_REGION = ConfigKey(
    "aws.region",
    STRING,
    None,
    "high",
    "The region of what is named without an ARN; else AWS_REGION, AWS_DEFAULT_REGION or that of"
    " the profile. An ARN is asked for in its own region.",
    (Alias("region", "MSK"), Alias("region_name", "Airflow")),
)
_AUTH_METHOD = ConfigKey(
    "aws.auth.method",
    one_of("default", "credentials"),
    "default",
    "medium",
    "default: the keys below if there are any, else the profile, else the chain that boto3 knows"
    " (environment, files, SSO, web identity, container, instance). credentials: only the keys.",
)
_ACCESS_KEY = ConfigKey("aws.access.key", STRING, None, "medium", "The id of the access key.")
_SECRET_KEY = ConfigKey("aws.secret.key", STRING, None, "medium", "The secret access key.")
_SESSION_TOKEN = ConfigKey(
    "aws.session.token", STRING, None, "medium", "The session token of temporary keys."
)
_PROFILE = ConfigKey(
    "aws.profile",
    STRING,
    None,
    "medium",
    "The profile of the AWS configuration files to take; else AWS_PROFILE.",
    (Alias("profile_name", "Airflow"),),
)
_ROLE_ARN = ConfigKey(
    "aws.sts.role.arn",
    STRING,
    None,
    "medium",
    "The role to assume with the credentials found; it is assumed again before its session ends.",
    (Alias("role_arn", "Airflow"),),
)
_SESSION_NAME = ConfigKey(
    "aws.sts.session.name",
    STRING,
    "configproviders",
    "low",
    "The name of the assumed role's session, as CloudTrail shows it.",
)
_EXTERNAL_ID = ConfigKey(
    "aws.sts.external.id", STRING, None, "low", "The external id that the role's trust asks for."
)


def _url(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise ValueError("write http:// or https:// and a host")
    if "@" in text:
        raise ValueError("write neither user nor password into it: AWS takes none")
    return text


def _start_of_name(text: str) -> str:
    if re.fullmatch(NAME_CHARACTER + "*", text, re.ASCII) is None:
        raise ValueError("write letters, digits and /_+=.@!-")
    return text


_ENDPOINT = ConfigKey(
    "aws.endpoint.override",
    ConfigType("URL", _url),
    None,
    "low",
    "The URL of another endpoint for the service, for example of a VPC; that of STS is"
    " AWS_ENDPOINT_URL_STS.",
    (
        Alias("endpoint.override", "csid"),
        Alias("endpoint", "MSK"),
        Alias("endpoint_url", "Airflow"),
    ),
)
_PREFIX = ConfigKey(
    "secret.prefix",
    ConfigType("start of a name", _start_of_name),
    "",
    "medium",
    "Put before every name, without a separator; not before an ARN.",
)
_NOT_FOUND = ConfigKey(
    "not.found",
    one_of("fail", "ignore"),
    "fail",
    "medium",
    "What does not exist: fail, or ignore, which leaves the reference as typed.",
    (Alias("NotFoundStrategy", "MSK"),),
)
_RETRIES = ConfigKey(
    "retry.max",
    WHOLE_NUMBER,
    3,
    "low",
    "How often a call is tried again, in botocore's standard mode.",
    (Alias("retry.count", "csid"),),
)
_TIMEOUT = ConfigKey(
    "timeout.ms",
    MILLISECONDS,
    timedelta(seconds=30),
    "low",
    "No attempt starts after that time; each attempt waits for an equal share of it.",
    (Alias("timeout.seconds", "csid", SECONDS),),
)
_QUEUE = ConfigKey(
    "aws.events.queue.url",
    ConfigType("URL of a queue", QueueUrl.parse),
    None,
    "low",
    "URL of an SQS queue of this provider's own, in this process alone, that receives EventBridge"
    " events of changed secrets or parameters; they are deleted from it. A watcher looks again when"
    " one comes, and does not wait for the next poll.",
)

_FILES = "no secret is written to a file here"

KEYS: tuple[ConfigKey[object, object], ...] = (
    _REGION,
    _AUTH_METHOD,
    _ACCESS_KEY,
    _SECRET_KEY,
    _SESSION_TOKEN,
    _PROFILE,
    _ROLE_ARN,
    _SESSION_NAME,
    _EXTERNAL_ID,
    _ENDPOINT,
    _PREFIX,
    _NOT_FOUND,
    _RETRIES,
    _TIMEOUT,
    _QUEUE,
    without_effect("file.dir", "Lenses", _FILES),
    without_effect("file.write", "Lenses", _FILES, only_false=True),
    without_effect("polling.enabled", "csid", "what is subscribed to is polled, and no more"),
    without_effect("thread.count", "csid", "lookup.concurrency says it for all"),
    without_effect("retry.interval.seconds", "csid", "botocore waits longer each time"),
)


def _json_or_string(text: str) -> str:
    return {"true": "json", "false": "string"}[str(BOOLEAN.parse(text)).lower()]


_TYPES = {
    "auto": "an object with fields if it is one, else as text or as bytes, as it was stored",
    "json": "an object with fields",
    "string": "text, all of it under the key value",
    "binary": "bytes, in base64 under the key value",
}


def secret_type_key(*words: str) -> ConfigKey[str, str]:
    """Return the setting that says what a secret holds, one of *words*; the first is default."""
    return ConfigKey(
        "secret.type",
        one_of(*words),
        words[0],
        "medium",
        f"What a secret holds. {'; '.join(f'{word}: {_TYPES[word]}' for word in words)}.",
        (Alias("use.json", "csid", ConfigType("boolean", _json_or_string)),),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """The shared settings as values; ``repr`` shows none of them."""

    region: str | None
    access_key: str | None
    secret_key: str | None
    session_token: str | None
    profile: str | None
    role_arn: str | None
    session_name: str
    external_id: str | None
    endpoint: str | None
    prefix: str
    ignores_not_found: bool
    retries: int
    timeout: timedelta
    queue: QueueUrl | None

    @property
    def attempt(self) -> timedelta:
        """How long one attempt may take."""
        return self.timeout / (self.retries + 1)

    def for_one_attempt(self, timeout: timedelta) -> Settings:
        """Return these for calls that are tried once, and take *timeout* at most."""
        return replace(self, retries=0, timeout=timeout)

    @classmethod
    def read(cls, configs: Mapping[str, object]) -> Settings:
        """Take the values from *configs*; raise :class:`ConfigException` for a wrong one."""
        settings = cls(
            region=_REGION.read(configs) or None,
            access_key=_ACCESS_KEY.read(configs) or None,
            secret_key=_SECRET_KEY.read(configs) or None,
            session_token=_SESSION_TOKEN.read(configs) or None,
            profile=_PROFILE.read(configs) or None,
            role_arn=_ROLE_ARN.read(configs) or None,
            session_name=_SESSION_NAME.read(configs),
            external_id=_EXTERNAL_ID.read(configs) or None,
            endpoint=_ENDPOINT.read(configs) or None,
            prefix=_PREFIX.read(configs),
            ignores_not_found=_NOT_FOUND.read(configs) == "ignore",
            retries=_RETRIES.read(configs),
            timeout=_TIMEOUT.read(configs),
            queue=_QUEUE.read(configs),
        )
        needs_keys = _AUTH_METHOD.read(configs) == "credentials"
        settings._check(needs_keys=needs_keys)
        return settings

    def _check(self, *, needs_keys: bool) -> None:
        keys = self.access_key, self.secret_key
        if needs_keys and None in keys:
            raise ConfigException(
                "aws.auth.method=credentials needs aws.access.key and aws.secret.key"
            )
        if any(keys) and None in keys:
            raise ConfigException("aws.access.key and aws.secret.key go together: set both")
        if self.session_token and None in keys:
            raise ConfigException("aws.session.token goes with aws.access.key and aws.secret.key")
        if not self.timeout:
            raise ConfigException("timeout.ms is 0: write 1 or more")
