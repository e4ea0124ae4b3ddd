"""What both stores of AWS have in common: from paths to calls, and from answers to values."""

from __future__ import annotations

import random
import time
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from ...config_def import ConfigKey
from ...data import Answer, ConfigData
from ...errors import ConfigException, LookupFailed, PathNotFound
from ...path_options import ttl_of
from ...provider import Changed, ConfigProvider
from .contents import Content
from .events import EVERYTHING, Event
from .failures import NOT_VALID, ServiceError, failure
from .listener import Listener
from .patience import Patience
from .policy import Statement, document, queue_statement
from .queue import Queue
from .session import Clients
from .settings import Settings

if TYPE_CHECKING:
    import boto3
    from botocore.client import BaseClient
    from botocore.config import Config

A = TypeVar("A", bound=Hashable)
C = TypeVar("C", bound="BaseClient")


class AwsConfigProvider(ConfigProvider, Generic[A, C]):
    """A provider whose service is asked, by clients *C*, for many of *A* in one call.

    *A* is one version of what has a name. Two paths that differ in their TTL alone are the same
    one. Threads may share the provider.
    """

    service: ClassVar[str]
    batch_action: ClassVar[str]
    one_is_wrong: ClassVar[Collection[str]]
    secret_type: ClassVar[ConfigKey[str, str]]

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Look for nothing yet; *clock* tells monotonic seconds, *jitter* numbers from 0 to 1."""
        self._clock = clock
        self._jitter = jitter
        self._set_up({})

    @property
    def calls_made(self) -> int:  # type: ignore[override]  # It is counted below.
        """How many requests this process has sent to the store since the provider was configured.

        Those to a queue of events are not among them.
        """
        return self._clients.calls_made

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the settings; raise :class:`ConfigException` for a wrong one."""
        self.config_def.validate(configs)
        self._set_up(configs)

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        """Return the values of *keys* in what is at *path*."""
        answer = self.get_many({path: keys})[path]
        if isinstance(answer, ConfigException):
            raise answer
        return answer

    def batches(self, paths: Collection[str]) -> list[list[str]]:
        """Return the paths in groups, each of which is one call."""
        alike: defaultdict[A, list[str]] = defaultdict(list)
        wrong: list[list[str]] = []
        for path in paths:
            try:
                alike[self._asked(path)].append(path)
            except ConfigException:
                wrong.append([path])
        groups = self._groups(alike)
        return [[path for each in group for path in alike[each]] for group in groups] + wrong

    def get_many(self, lookups: Mapping[str, Collection[str] | None]) -> dict[str, Answer]:
        """Return for each path its values or an error, after one call for each group."""
        asked: dict[str, A] = {}
        answers: dict[str, Answer] = {}
        for path in lookups:
            try:
                asked[path] = self._asked(path)
            except ConfigException as error:
                answers[path] = self._or_nothing(error)
        found: dict[A, Content | ServiceError] = {}
        with self._clients.deadline():
            for group in self._groups(dict.fromkeys(asked.values())):
                found |= self._fetch(group)
        for path, each in asked.items():
            answers[path] = self._answer(path, lookups[path], each, found[each])
        return answers

    def listen(self, changed: Changed) -> Callable[[], None] | None:
        """Have *changed* called for each event in the queue that the settings name, if they do.

        All who listen share one thread, which any of them may end by closing the provider.
        """
        return None if self._listener is None else self._listener.add(changed)

    def close(self) -> None:
        """End all subscriptions, listen no more, and close the connections."""
        super().close()
        if self._listener is not None:
            self._listener.close()
        self._clients.close()

    @abstractmethod
    def _client(
        self, session: boto3.Session, region: str, endpoint: str | None, config: Config
    ) -> C:
        """Make a client of the service."""

    @abstractmethod
    def _parsed(self, path: str) -> tuple[str, dict[str, str]]:
        """Return the name or ARN at *path*, and its options; raise :class:`ConfigException`."""

    @abstractmethod
    def _asked(self, path: str) -> A:
        """Return what AWS is asked for; raise :class:`ConfigException`."""

    @abstractmethod
    def _groups(self, asked: Iterable[A]) -> list[list[A]]:
        """Return what goes into a call together."""

    @abstractmethod
    def _fetch(self, group: list[A]) -> dict[A, Content | ServiceError]:
        """Return what AWS says to each of *group*."""

    @abstractmethod
    def _failure(
        self, error: ServiceError, asked: A, path: str, keys: Collection[str] | None
    ) -> LookupFailed:
        """Say why there is nothing for *asked*."""

    @abstractmethod
    def _changed(self, event: Event) -> frozenset[str] | None:
        """Return the names of what *event* says has changed, ``None`` if it is not from here.

        There are none if it does not say.
        """

    @abstractmethod
    def _names(self, asked: A) -> frozenset[str]:
        """Return the names under which events may be about *asked*."""

    def _policy(self, statements: Sequence[Statement]) -> str:
        """Return a policy of *statements* and what is needed for events."""
        queue = self._settings.queue
        if queue is None:
            return document(statements)
        region = queue.region or self._clients.home
        return document([*statements, queue_statement(region, queue.account, queue.name)])

    def _account(self, *, online: bool) -> tuple[str | None, str | None]:
        """Return the account and the region that are meant by a name, if they are known."""
        if not online:
            return None, self._clients.home
        try:
            return self._clients.account()
        except ServiceError as error:
            denied = failure(error, "the account of the credentials")
        raise denied

    def _remember_denial(self) -> None:
        """Say once that what goes together in one call goes one by one from now on."""
        import logging

        if self._clients.deny_batches():
            logging.getLogger(__name__).warning(
                "%s:%s is not allowed: each name is asked for alone from now on",
                self.service,
                self.batch_action,
            )

    def _may_be_of_one(self, error: ServiceError) -> bool:
        """Whether one of those asked for together may be why there is nothing for all of them."""
        is_told = error.operation == self.batch_action and error.code in self.one_is_wrong
        return is_told or error.code == NOT_VALID

    def _set_up(self, configs: Mapping[str, object]) -> None:
        self._settings = Settings.read(configs)
        self._read_as = self.secret_type.read(configs)
        self._clients: Clients[C] = Clients(self._client, self._settings, self._clock)
        self._listener = self._made_listener()

    def _made_listener(self) -> Listener | None:
        queue = self._settings.queue
        if queue is None:
            return None
        return Listener(
            f"queue {queue.text!r} for {self.service}",
            partial(Queue, queue, self._settings, self._clock),
            self._changed_by,
            self._names_at,
            partial(Patience, self._settings.retries, self._jitter),
        )

    def _changed_by(self, body: str) -> frozenset[str] | None:
        """Return the names of what a message says has changed, ``None`` if it is not for us.

        Neither region nor account counts: a replica changes with its primary, and to look once
        too often does no harm.
        """
        event = Event.of(body)
        changed = None if event is None else self._changed(event)
        if event is None or changed is None:
            return None
        return (changed or EVERYTHING) if event.is_change else frozenset()

    def _names_at(self, path: str) -> frozenset[str]:
        try:
            return self._names(self._asked(path))
        except ConfigException:
            return frozenset()  # There can be nothing.

    def _answer(
        self, path: str, keys: Collection[str] | None, asked: A, found: Content | ServiceError
    ) -> Answer:
        if isinstance(found, ServiceError):
            return self._or_nothing(self._failure(found, asked, path, keys))
        name, options = self._parsed(path)
        try:
            return found.data(keys, name=name, read_as=self._read_as, ttl=ttl_of(options))
        except ConfigException as error:
            return error

    def _or_nothing(self, error: ConfigException) -> Answer:
        """Return *error*, or no values where those of what does not exist are to be left out."""
        ignored = isinstance(error, PathNotFound) and self._settings.ignores_not_found
        return ConfigData({}) if ignored else error
