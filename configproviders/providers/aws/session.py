"""The way to AWS: credentials, one client per region, and a deadline for each lookup.

Nothing is looked for before the first call. A client, which threads may share, is made under a
lock, once per region. When AWS no longer takes the credentials they are looked for anew, once: a
file or a variable may hold newer ones by then. A process that was forked starts anew, as it would
read the answers to its parent from the connections that both have.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .answers import blob, text
from .failures import EXPIRED, NO_ANSWER, NO_REGION, NO_SDK, UNKNOWN_KEYS, ServiceError
from .transport import Transport, silence_sdk

if TYPE_CHECKING:
    import boto3
    import botocore.session
    from botocore.client import BaseClient
    from botocore.config import Config

    from .settings import Settings

C = TypeVar("C", bound="BaseClient")
T = TypeVar("T")

_PAUSE = 0.1
_ACCOUNT = re.compile(r"[0-9]{12}", re.ASCII)


class Clients(Generic[C]):
    """The clients of one service, by region. Thread-safe.

    *make* is called with a session, a region, an endpoint and a botocore config.
    """

    batches_are_denied: bool
    """Whether a policy does not let the credentials ask for many in one call."""

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
        self._forgotten: list[C]  # Not closed at once: other threads may be in a call of theirs.
        self._start()

    @property
    def calls_made(self) -> int:
        """How many requests this process has sent."""
        return self._transport.calls_made

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

    def deadline(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """Give all calls of this thread together *seconds*, or the time that one may take."""
        return self._transport.deadline(seconds)

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
        self._notice_fork()
        region = region or self.home
        with self._lock:
            if region not in self._clients:
                self._clients[region] = _cleaned(self._made, region)
            return self._clients[region]

    def account(self) -> tuple[str, str | None]:
        """Return the account that the credentials belong to, and the home region if there is one.

        Raises :class:`ServiceError`.
        """
        self._notice_fork()
        with self.deadline():
            return _cleaned(self._identity, self.home)

    def deny_batches(self) -> bool:
        """Remember that the credentials are not allowed to; return whether that is new."""
        with self._lock:
            before, self.batches_are_denied = self.batches_are_denied, True
        return not before

    def interrupt(self) -> None:
        """Have the calls that other threads are in fail now."""
        self._notice_fork()
        self._transport.interrupt()

    def close(self) -> None:
        """Close the connections and forget the credentials; a later call starts anew."""
        self._notice_fork()
        with self._lock:
            clients = [*self._clients.values(), *self._forgotten]
            self._forgotten = []
            self._drop()
        for client in clients:
            client.close()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._transport = Transport(self._settings, self._clock)
        self._forgotten = []
        self._drop()

    def _drop(self) -> None:
        """Forget the credentials and all that was learnt with them; connections stay open."""
        self._session: boto3.Session | None = None
        self._clients: dict[str | None, C] = {}
        self.batches_are_denied = False

    def _notice_fork(self) -> None:
        if self._process != os.getpid():
            self._start()  # The lock too: a thread that only the parent has may hold it.

    def _made(self, region: str | None) -> C:
        session = self._opened(region)
        region = region or session.region_name
        if region is None:
            raise ServiceError(NO_REGION)
        return self._make(session, region, self._settings.endpoint, self._transport.config())

    def _opened(self, region: str | None) -> boto3.Session:
        """Return the session, if need be a new one; *region* is where a role may be assumed."""
        from botocore.exceptions import NoCredentialsError

        if self._session is None:
            session = _session(self._settings, region, self._transport)
            if session.get_credentials() is None:
                raise NoCredentialsError
            self._session = session
        return self._session

    def _identity(self, region: str | None) -> tuple[str, str | None]:
        with self._lock:
            session = self._opened(region)
            home = region or session.region_name
            # Any region knows the account.
            config = self._transport.config()
            sts = session.client("sts", region_name=home or "us-east-1", config=config)
        try:
            account = text(sts.get_caller_identity(), "Account") or ""
        finally:
            sts.close()
        if _ACCOUNT.fullmatch(account) is None:
            raise ServiceError(NO_ANSWER, "GetCallerIdentity")
        return account, home

    def _forget(self, client: C) -> None:
        """Drop the session with its clients, unless another thread has done so since."""
        with self._lock:
            if client in self._clients.values():
                self._forgotten += self._clients.values()
                self._drop()


def _cleaned(ask: Callable[[Any], T], given: Any) -> T:
    """Return what *ask* says of *given*; nothing of an error of the SDK but its code gets out."""
    try:
        from botocore.exceptions import ClientError

        return ask(given)
    except ImportError:
        clean = ServiceError(NO_SDK)
    except ServiceError as error:
        clean = ServiceError(error.code, error.operation)
    except ClientError as error:
        said = error.response.get("Error", {})
        clean = ServiceError(
            str(said.get("Code", "")), error.operation_name, str(said.get("Message", ""))
        )
    except Exception as error:  # noqa: BLE001  The text of whatever the SDK raises may hold keys.
        clean = ServiceError(type(error).__name__)
    raise clean


def _session(settings: Settings, region: str | None, transport: Transport) -> boto3.Session:
    import boto3

    core = _core(settings, transport)
    core.set_config_variable("region", settings.region or os.environ.get("AWS_REGION"))
    if settings.access_key and settings.secret_key:
        core.set_credentials(settings.access_key, settings.secret_key, settings.session_token)
    if settings.role_arn:
        core = _assuming(core, settings, region, transport)
    return boto3.Session(botocore_session=core)


def _core(settings: Settings, transport: Transport) -> botocore.session.Session:
    import botocore.session

    silence_sdk()
    core = botocore.session.Session(profile=settings.profile)
    make = core.create_client

    def create_client(*args: Any, **named: Any) -> BaseClient:
        client = make(*args, **named)
        transport.carry(client)
        return client

    def again_if_unreadable(**given: Any) -> float | None:
        # What is cut off is no JSON, which the SDK takes for an answer that says nothing.
        attempts, response = given["attempts"], given["response"]
        says_nothing = response is not None and response[1].keys() <= {"ResponseMetadata"}
        return attempts * _PAUSE if says_nothing and attempts <= settings.retries else None

    core.create_client = create_client  # type: ignore[method-assign]  # The SDK's own come from it too.
    again: Any = again_if_unreadable  # The stubs do not know that what it returns counts.
    core.register("needs-retry", again)
    core.get_component("response_parser_factory").set_parser_defaults(blob_parser=blob)
    return core


def _assuming(
    source: botocore.session.Session, settings: Settings, region: str | None, transport: Transport
) -> botocore.session.Session:
    """Return a session in the role, which assumes it again before its credentials end."""
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
    from botocore.exceptions import NoCredentialsError

    credentials = source.get_credentials()
    if credentials is None:
        raise NoCredentialsError
    home = source.get_config_variable("region") or region

    def sts(service: str, **keys: Any) -> BaseClient:
        config = transport.config()
        return source.create_client(service, region_name=home, config=config, **keys)

    asked = {"RoleSessionName": settings.session_name, "ExternalId": settings.external_id}
    fetcher = AssumeRoleCredentialFetcher(
        sts,
        credentials,
        settings.role_arn or "",
        extra_args={name: value for name, value in asked.items() if value},
    )
    core = _core(settings, transport)
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
