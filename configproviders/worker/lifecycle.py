"""What comes next for each connector: :class:`Lifecycle`, the herder's own thread of thought.

A command is checked against the table of :mod:`configproviders.worker.status`, is stored, and is
done; what takes time is the runner's, which tells when it is done. So each connector is always in
one phase, and when that ends, what is wanted *now* is looked at::

    IDLE ──launch──▶ LAUNCHING ──Launched──▶ LIVE ──halt──▶ HALTING ──Halted──▶ IDLE
                        └──────────────halt──────────────────▲

A later wish thus wins over one that is still under way, and a deletion during a start is nothing
special.
"""

from __future__ import annotations

import logging
import random
import sched
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from datetime import timedelta
from functools import partial

from ..errors import ConfigException
from .entry import AT_FIRST, UNKNOWN, Entry, Phase, Transition, View, log_transition
from .errors import AlreadyExists, Conflict, ConnectException, NotFound
from .launches import Backoff, Launches
from .runner import (
    Halted,
    Launched,
    LaunchFailed,
    Runner,
    RunnerEvent,
    TaskEnded,
    TaskFailed,
    TaskStarted,
)
from .status import ConnectorInfo, ConnectorStatus, Event, State, TargetState
from .stores import Store, StoredConnector

_log = logging.getLogger(__name__)
_HALTED_EVENTS = {
    TargetState.PAUSED: Event.HALTED_TO_PAUSE,
    TargetState.STOPPED: Event.HALTED_TO_STOP,
}
_LAUNCHED = {Phase.LAUNCHING, Phase.LIVE}
_LOOK_SECONDS = 1.0


class Lifecycle:
    """Keeps connectors as they are wanted, with a runner and a store. For one thread.

    ``views`` holds what is shown, by name; its entries are replaced, never changed.
    """

    def __init__(  # noqa: PLR0913  Each is a part, or a setting.
        self,
        store: Store,
        runner: Runner,
        *,
        type_of: Callable[[Mapping[str, str]], str] = lambda _: UNKNOWN,
        told: Transition = log_transition,
        concurrency: int = 8,
        settle: timedelta = timedelta(seconds=1),
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the parts, and show what is stored; raise :class:`ConnectException`.

        *type_of* names the type of a connector that was never launched. At most *concurrency*
        connectors start at the same time. Those whose secret has changed are restarted at a random
        moment within *settle*. *backoff* says when one is tried again that a backend failed.
        """
        self._store, self._runner = store, runner
        self._type_of, self._told = type_of, told
        self._settle, self._backoff = settle.total_seconds(), backoff or Backoff()
        self._clock, self._jitter = clock, jitter
        self._launches = Launches(concurrency, clock)
        self._entries: dict[str, Entry] = {}
        self._number = 0
        self._looks = False
        self.agenda = sched.scheduler(clock, lambda _: None)
        self.views: dict[str, View] = {}
        self.runs = False
        self.reloads = 0
        for each in store.connectors():
            self._add(each)

    def begin(self) -> None:
        """Launch what is wanted, from now on."""
        self.runs = True
        for entry in self._entries.values():
            self._proceed(entry)

    def create(self, name: str, config: dict[str, str], target: TargetState) -> ConnectorInfo:
        """Keep a new connector, and bring it to *target*; raise :class:`AlreadyExists`."""
        if name in self.views:
            raise AlreadyExists(f"Connector {name} already exists")
        stored = StoredConnector(name, config, target)
        self._store.put(stored)
        before = self._entries.get(name)  # One that is deleted, and still runs.
        entry = self._add(stored)
        if before is not None:
            entry.phase, entry.launch = before.phase, before.launch
        self._proceed(entry)
        return self.views[name].info

    def put_config(
        self, name: str, config: dict[str, str], expected: Mapping[str, str] | None
    ) -> tuple[ConnectorInfo, bool]:
        """Give a connector another config, or create it; tell which it was."""
        if name not in self.views:
            if expected is not None:
                raise not_found(name)
            return self.create(name, config, TargetState.STARTED), True
        entry = self._entries[name]
        if expected is not None and expected != entry.config:
            raise Conflict(f"the config of connector {name!r} has changed meanwhile: try again")
        self._store.put(StoredConnector(name, config, entry.target))
        entry.config, entry.type, entry.failures = config, self._type(config), 0
        entry.move(Event.CONFIGURE)
        if entry.target is TargetState.STARTED:
            entry.move_tasks(entry.tasks, Event.RESTART)
            self._halt(entry)
        elif entry.phase is Phase.IDLE:
            entry.drop_tasks()
        self._proceed(entry)
        return self.views[name].info, False

    def delete(self, name: str) -> None:
        """Halt a connector, and keep it no more."""
        entry = self._entry(name)
        self._store.delete(name)
        entry.deleted = True
        entry.end_waiting()
        del self.views[name]
        self._halt(entry)
        self._proceed(entry)

    def aim(self, name: str, target: TargetState, event: Event) -> None:
        """Have *target* wanted of a connector, by *event*; raise :class:`Conflict`."""
        entry = self._entry(name)
        entry.check(event)
        if entry.target is not target:
            self._store.put(StoredConnector(name, entry.config, target))
        entry.target = target
        entry.move(event)
        if target is not TargetState.STARTED:
            self._halt(entry)
        self._proceed(entry)

    def stop(self, name: str, halted: Future[None]) -> None:
        """Stop a connector; *halted* ends when nothing of it runs."""
        self.aim(name, TargetState.STOPPED, Event.STOP)
        entry = self._entries[name]
        if entry.phase is Phase.IDLE:
            halted.set_result(None)
        else:
            entry.halted.append(halted)

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Restart what is asked for; return the status in which that is RESTARTING."""
        entry = self._entry(name)
        tasks = [
            each.id
            for each in entry.tasks.values()
            if include_tasks and (each.state is State.FAILED or not only_failed)
        ]
        connector = entry.state is State.FAILED or not only_failed
        if connector:
            entry.check(Event.RESTART)
        if entry.state is not State.PAUSED:
            self._restart_parts(entry, tasks, connector=connector)
        return self.views[name].status

    def _restart_parts(self, entry: Entry, tasks: Collection[int], *, connector: bool) -> None:
        if not connector and not tasks:
            return
        entry.failures = 0
        if connector:
            entry.move(Event.RESTART)
        entry.move_tasks(tasks, Event.RESTART)
        if entry.phase is Phase.LIVE and not (connector and len(tasks) == len(entry.tasks)):
            self._runner.restart(entry.name, connector=connector, tasks=tasks)
        else:
            self._halt(entry)
        self._proceed(entry)

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task; raise :class:`Conflict` if it is restarting."""
        entry = self._entry(name)
        if task not in entry.tasks:
            raise NotFound(f"Unknown task: {name}-{task}")
        if entry.tasks[task].state is State.RESTARTING or entry.phase is Phase.HALTING:
            raise Conflict(f"task {name}-{task} is restarting or stopping: wait until that is done")
        if entry.phase is Phase.LIVE:
            self._restart_parts(entry, [task], connector=False)

    def happened(self, event: RunnerEvent) -> None:
        """Take in what the runner tells."""
        entry = self._entries.get(event.name)
        if entry is None or event.launch != entry.launch:
            return  # Of a launch that is over.
        match event:
            case Halted():
                self._is_halted(entry)
            case _ if entry.phase not in _LAUNCHED:
                return  # It is being halted.
            case Launched():
                self._is_launched(entry, event)
            case LaunchFailed():
                entry.phase = Phase.IDLE
                entry.drop_tasks()
                entry.move(Event.FAILED, event.trace)
                self._try_again_later(entry, retry=event.retry)
            case TaskStarted():
                entry.move_task(event.task, Event.LAUNCHED)
                entry.ended.discard(event.task)
            case TaskFailed():
                entry.move_task(event.task, Event.FAILED, event.trace)
                self._try_again_later(entry, task=event.task, retry=event.retry)
            case TaskEnded():
                entry.move_task(event.task, Event.ENDED)
                entry.ended.add(event.task)
                self._end_if_done(entry)
        self._proceed(entry)

    def _is_launched(self, entry: Entry, event: Launched) -> None:
        if entry.phase is Phase.LAUNCHING:
            entry.drop_tasks()  # Those of the launch before.
        entry.phase, entry.type = Phase.LIVE, event.type
        entry.launched_at = self._clock()
        entry.move(Event.LAUNCHED)
        entry.take_tasks(event.task_configs)

    def _is_halted(self, entry: Entry) -> None:
        entry.phase = Phase.IDLE
        entry.end_waiting()
        if entry.deleted:
            del self._entries[entry.name]
        elif entry.target is TargetState.STARTED:
            entry.move(Event.RESTART)  # Resumed while it was being halted; else it is already.

    def _rest(self, entry: Entry) -> None:
        """Have a connector that runs no more, and is not to run, in the state that is wanted."""
        if entry.target is TargetState.STARTED:
            return
        event = _HALTED_EVENTS[entry.target]
        entry.move(event)
        if entry.target is TargetState.STOPPED:
            entry.drop_tasks()
        else:
            entry.move_tasks(entry.tasks, event)

    def _end_if_done(self, entry: Entry) -> None:
        """Stop a connector of which each task has come to its end: a batch that is done."""
        if entry.ended != entry.tasks.keys() or entry.state is not State.RUNNING:
            return
        entry.target = TargetState.STOPPED
        entry.move(Event.ENDED)
        entry.drop_tasks()
        self._halt(entry)
        try:
            self._store.put(StoredConnector(entry.name, entry.config, entry.target))
        except ConnectException as error:
            _log.error("%s has ended, and would run again after a start: %s", entry.name, error)

    def _try_again_later(self, entry: Entry, *, retry: bool, task: int | None = None) -> None:
        if not retry:
            return
        if self._clock() - entry.launched_at > self._backoff.longest:
            entry.failures = 0
        pause = self._backoff.pause(entry.failures, self._jitter())
        entry.failures += 1
        again = partial(self._try_again, entry, entry.launch, task)
        self.agenda.enter(pause, 0, again)

    def _try_again(self, entry: Entry, launch: int, task: int | None) -> None:
        if entry.launch != launch or entry.deleted or entry.target is not TargetState.STARTED:
            return
        failures = entry.failures
        if task is None and entry.state is State.FAILED:
            entry.move(Event.RESTART)
        elif task in entry.tasks and entry.tasks[task].state is State.FAILED:
            self._restart_parts(entry, [task], connector=False)
            entry.failures = failures
        self._proceed(entry)

    def secret_changed(self, name: str) -> None:
        """Restart a connector soon, in its turn."""
        entry = self._entries.get(name)
        if entry is None or entry.deleted or entry.reload:
            return
        entry.reload = True
        self.agenda.enter(self._settle * self._jitter(), 0, partial(self._reload, entry))

    def _reload(self, entry: Entry) -> None:
        if entry.deleted or entry.target is not TargetState.STARTED:
            entry.reload = False
        else:
            self._launches.want(entry.name)
        self._admit()

    def _proceed(self, entry: Entry) -> None:
        """Do what comes next for a connector, and show what it is."""
        if entry.phase is Phase.IDLE and not entry.deleted:
            self._rest(entry)
        if entry.waits_for_launch:
            self._launches.want(entry.name)
        elif not entry.is_settling:
            self._launches.release(entry.name)
        self._publish(entry)
        self._admit()

    def _admit(self) -> None:
        while self.runs and (name := self._launches.next()):
            entry = self._entries.get(name)
            if entry is None or entry.deleted:
                self._launches.release(name)
            elif entry.waits_for_launch:
                self._launch(entry)
            elif entry.reload:
                self._restart_for_secret(entry)
            else:
                self._launches.release(name)
        if self._launches.waits and not self._looks:
            self._looks = True
            self.agenda.enter(_LOOK_SECONDS, 0, self._look)

    def _look(self) -> None:
        self._looks = False
        self._admit()

    def _launch(self, entry: Entry) -> None:
        self._number += 1
        entry.launch, entry.phase, entry.reload = self._number, Phase.LAUNCHING, False
        entry.launched_at = self._clock()
        self._runner.launch(entry.name, entry.config, entry.launch)

    def _restart_for_secret(self, entry: Entry) -> None:
        entry.reload = False
        entry.failures = 0
        _log.info("a secret of connector %r has changed; it is restarted", entry.name)
        entry.move(Event.RESTART)
        entry.move_tasks(entry.tasks, Event.RESTART)
        self._halt(entry)
        if entry.waits_for_launch:
            self._launch(entry)
        self._publish(entry)
        self.reloads += 1

    def _halt(self, entry: Entry) -> None:
        if entry.phase in _LAUNCHED:
            entry.phase = Phase.HALTING
            self._runner.halt(entry.name)

    def _add(self, stored: StoredConnector) -> Entry:
        kind = self._type(stored.config)
        entry = Entry(stored.name, stored.config, stored.target, kind, self._told)
        entry.state = AT_FIRST[stored.target]
        self._entries[stored.name] = entry
        self._publish(entry)
        return entry

    def _publish(self, entry: Entry) -> None:
        if not entry.deleted:
            self.views[entry.name] = entry.view()

    def _entry(self, name: str) -> Entry:
        if name not in self.views:
            raise not_found(name)
        return self._entries[name]

    def _type(self, config: Mapping[str, str]) -> str:
        try:
            return self._type_of(config)
        except ConfigException:  # Its class is gone; launching it says so.
            return UNKNOWN


def not_found(name: str) -> NotFound:
    """Return the one error for a connector that is not there."""
    return NotFound(f"Connector {name} not found")
