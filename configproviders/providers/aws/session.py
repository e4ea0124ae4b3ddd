"""The way to AWS: credentials, one client per region, and a deadline for each lookup.

Nothing is looked for before the first call. A client, which threads may share, is made under a
lock, once per region. When AWS no longer takes the credentials they are looked for anew, once: a
file or a variable may hold newer ones by then. While a thread is in a call, what botocore logs for
debugging there is dropped: its requests are signed and its answers hold the secrets.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .failures import EXPIRED, NO_REGION, NO_SDK, TIMED_OUT, UNKNOWN_KEYS, ServiceError

if TYPE_CHECKING:
    import logging

    import boto3
    import botocore.session
    from botocore.client import BaseClient
    from botocore.config import Config

    from .settings import Settings

C = TypeVar("C", bound="BaseClient")
T = TypeVar("T")

_CONNECTIONS = 32
_PAUSE = 0.1
# What the SDK raises over an answer, or a file of credentials, that is not what it expects.
_STUMBLES = (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_TALKATIVE = ("auth", "credentials", "endpoint", "httpsession", "parsers", "utils")

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class Clients(Generic[C]):
    """The clients of one service, by region. Thread-safe.

    *make* is called with a session, a region, an endpoint and a botocore config.
    """

    def __init__(
        self,
        make: Callable[[boto3.Session, str, str | None, Config], C],
        settings: Settings,
        clock: Callable[[], float],
    ) -> None:
        """Remember how clients are made; none is made yet."""
        self._make = make
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._session: boto3.Session | None = None
        self._clients: dict[str | None, C] = {}
        self.calls_made = 0

    @property
    def home(self) -> str | None:
        """The region that settings and environment name, if they do; a profile is not read."""
        environ = os.environ
        return (
            self._settings.region
            or environ.get("AWS_REGION")
            or environ.get("AWS_DEFAULT_REGION")
            or None
        )

    @contextmanager
    def deadline(self) -> Iterator[None]:
        """Give all calls of this thread together the time that one may take."""
        token = _deadline.set(self._clock() + self._settings.timeout.total_seconds())
        try:
            yield
        finally:
            _deadline.reset(token)

    def call(self, region: str | None, ask: Callable[[C], T]) -> T:
        """Return what *ask* says with the client of *region*; raise :class:`ServiceError`."""
        client = self.of(region)
        try:
            return _cleaned(ask, client)
        except ServiceError as error:
            if error.code not in EXPIRED | UNKNOWN_KEYS:
                raise
        self._forget(client)
        return _cleaned(ask, self.of(region))

    def of(self, region: str | None) -> C:
        """Return the client of *region*, of the home region if it is ``None``."""
        region = region or self.home
        with self._lock:
            if region not in self._clients:
                self._clients[region] = _cleaned(self._made, region)
            return self._clients[region]

    def account(self) -> tuple[str, str | None]:
        """Return the account that the credentials belong to, and the home region if there is one.

        Raises :class:`ServiceError`.
        """
        with self.deadline():
            return _cleaned(self._identity, self.home)

    def close(self) -> None:
        """Close the connections and forget the credentials; a later call starts anew."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
            self._session = None
        for client in clients:
            client.close()

    def _made(self, region: str | None) -> C:
        session = self._opened(region)
        region = region or session.region_name
        if region is None:
            raise ServiceError(NO_REGION)
        return self._make(session, region, self._settings.endpoint, self._config())

    def _opened(self, region: str | None) -> boto3.Session:
        """Return the session, if need be a new one; *region* is where a role may be assumed."""
        from botocore.exceptions import NoCredentialsError

        if self._session is None:
            session = _session(self._settings, region, self._config(), self._before_send)
            if session.get_credentials() is None:
                raise NoCredentialsError
            self._session = session
        return self._session

    def _before_send(self, **_: object) -> None:
        """Count the requests, and stop those that come too late."""
        deadline = _deadline.get()
        if deadline is not None and self._clock() > deadline:
            raise ServiceError(TIMED_OUT)
        with self._counting:
            self.calls_made += 1

    def _identity(self, region: str | None) -> tuple[str, str | None]:
        with self._lock:
            session = self._opened(region)
            home = region or session.region_name
            # Any region knows the account.
            sts = session.client("sts", region_name=home or "us-east-1", config=self._config())
        try:
            return sts.get_caller_identity()["Account"], home
        finally:
            sts.close()

    def _forget(self, client: C) -> None:
        """Drop the session with its clients, unless another thread has done so since."""
        with self._lock:
            if client in self._clients.values():
                self._clients, self._session = {}, None

    def _config(self) -> Config:
        from botocore.config import Config

        attempts = self._settings.retries + 1
        share = self._settings.timeout.total_seconds() / attempts
        return Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            connect_timeout=share,
            read_timeout=share,
            max_pool_connections=_CONNECTIONS,
        )


def _cleaned(ask: Callable[[Any], T], given: Any) -> T:
    """Return what *ask* says of *given*; nothing of an error of the SDK but its code gets out."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError

        return ask(given)
    except ImportError:
        clean = ServiceError(NO_SDK)
    except ClientError as error:
        said = error.response.get("Error", {})
        clean = ServiceError(
            str(said.get("Code", "")), error.operation_name, str(said.get("Message", ""))
        )
    except (BotoCoreError, *_STUMBLES) as error:
        clean = ServiceError(type(error).__name__)
    raise clean


def _session(
    settings: Settings, region: str | None, config: Config, before_send: Callable[..., None]
) -> boto3.Session:
    import boto3

    core = _core(settings, before_send)
    core.set_config_variable("region", settings.region or os.environ.get("AWS_REGION"))
    if settings.access_key and settings.secret_key:
        core.set_credentials(settings.access_key, settings.secret_key, settings.session_token)
    if settings.role_arn:
        core = _assuming(core, settings, region, config, before_send)
    return boto3.Session(botocore_session=core)


def _core(settings: Settings, before_send: Callable[..., None]) -> botocore.session.Session:
    import botocore.session

    def again_if_unreadable(**given: Any) -> float | None:
        # What is cut off is no JSON, which the SDK takes for an answer that says nothing.
        attempts, response = given["attempts"], given["response"]
        says_nothing = response is not None and response[1].keys() <= {"ResponseMetadata"}
        return attempts * _PAUSE if says_nothing and attempts <= settings.retries else None

    _silence_botocore()
    core = botocore.session.Session(profile=settings.profile)
    core.register("before-send", before_send)
    again: Any = again_if_unreadable  # The stubs do not know that what it returns counts.
    core.register("needs-retry", again)
    return core


def _assuming(
    source: botocore.session.Session,
    settings: Settings,
    region: str | None,
    config: Config,
    before_send: Callable[..., None],
) -> botocore.session.Session:
    """Return a session in the role, which assumes it again before its credentials end."""
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
    from botocore.exceptions import NoCredentialsError

    credentials = source.get_credentials()
    if credentials is None:
        raise NoCredentialsError
    home = source.get_config_variable("region") or region

    def sts(service: str, **keys: Any) -> BaseClient:
        return source.create_client(service, region_name=home, config=config, **keys)

    asked = {"RoleSessionName": settings.session_name, "ExternalId": settings.external_id}
    fetcher = AssumeRoleCredentialFetcher(
        sts,
        credentials,
        settings.role_arn or "",
        extra_args={name: value for name, value in asked.items() if value},
    )
    core = _core(settings, before_send)
    core.set_config_variable("region", home)
    core.register_component(
        "credential_provider",
        _Given(DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")),
    )
    return core


class _Given:
    """Stands where a session looks for credentials, with those it shall find."""

    def __init__(self, credentials: object) -> None:
        self._credentials = credentials

    def load_credentials(self) -> object:
        return self._credentials


def _silence_botocore() -> None:
    import logging

    for name in _TALKATIVE:
        logging.getLogger(f"botocore.{name}").addFilter(_is_not_ours)


def _is_not_ours(record: logging.LogRecord) -> bool:
    """Pass what is no debugging, and what other users of botocore do."""
    return record.levelno > 10 or _deadline.get() is None  # noqa: PLR2004  logging.DEBUG.
