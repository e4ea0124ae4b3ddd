"""What comes next for each connector: :class:`Lifecycle`.

What takes time is the runner's, which tells when it is done. So each connector is always in one
phase, and when that ends, what is wanted *now* is looked at::

    IDLE ──launch──▶ LAUNCHING ──Launched──▶ LIVE ──halt──▶ HALTING ──Halted──▶ IDLE
                        └──────────────halt──────────────────▲

One whose launch has failed is LIVE too: nothing of it runs, but what it needs is watched, until it
is halted.

A later wish thus wins over one that is still under way, and a deletion during a start is nothing
special.
"""

from __future__ import annotations

import random
import sched
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import partial

from ..errors import ConfigException
from .entry import AT_FIRST, UNKNOWN, Entry, Phase, Transition, View, log_transition
from .errors import ConnectException
from .launches import Backoff, Launches
from .logs import connector_logger
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
from .status import Event, State, TargetState
from .stores import Store, StoredConnector

_HALTED_EVENTS = {
    TargetState.PAUSED: Event.HALTED_TO_PAUSE,
    TargetState.STOPPED: Event.HALTED_TO_STOP,
}
_LAUNCHED = {Phase.LAUNCHING, Phase.LIVE}
_LOOK_SECONDS = 1.0
_MINUTE = 60.0


class Lifecycle:
    """Keeps connectors as they are wanted, with a runner and a store. For one thread.

    ``entries`` holds the connectors, by name; ``views`` what is shown of them, which is replaced,
    never changed, so that other threads may read it.
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
        self.entries: dict[str, Entry] = {}
        self._number = 0
        self._looks = False
        self.agenda = sched.scheduler(clock, lambda _: None)
        self.views: dict[str, View] = {}
        self.runs = False
        self.restarts = self.reloads = 0
        for each in store.connectors():
            self.add(each)

    def begin(self) -> None:
        """Launch what is wanted, from now on."""
        self.runs = True
        for entry in self.entries.values():
            self.proceed(entry)

    def restart(self, entry: Entry, tasks: Collection[int], *, connector: bool) -> None:
        """Restart the connector's own object, some of its tasks, or all."""
        if not connector and not tasks:
            return
        self.restarts += 1
        entry.failures = 0
        if connector:
            entry.move(Event.RESTART)
        entry.move_tasks(tasks, Event.RESTART)
        entry.ended.difference_update(tasks)
        if entry.phase is Phase.LIVE and not (connector and len(tasks) == len(entry.tasks)):
            self._runner.restart(entry.name, connector=connector, tasks=tasks)
        else:
            self.halt(entry)
        self.proceed(entry)

    def happened(self, event: RunnerEvent) -> None:
        """Take in what the runner tells."""
        entry = self.entries.get(event.name)
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
                entry.phase = Phase.LIVE
                entry.drop_tasks()
                entry.move(Event.FAILED, event.trace)
                self._try_again_later(entry, event.tries)
            case TaskStarted():
                entry.move_task(event.task, Event.LAUNCHED)
                entry.ended.discard(event.task)
            case TaskFailed():
                entry.move_task(event.task, Event.FAILED, event.trace)
                self._try_again_later(entry, event.tries, event.task)
            case TaskEnded() if entry.is_running(event.task):  # Else it is restarted meanwhile.
                entry.move_task(event.task, Event.ENDED)
                entry.ended.add(event.task)
                self._end_if_done(entry)
        self.proceed(entry)

    def _is_launched(self, entry: Entry, event: Launched) -> None:
        if entry.phase is Phase.LAUNCHING:
            entry.drop_tasks()  # Those of the launch before.
        entry.phase, entry.type = Phase.LIVE, event.type
        entry.move(Event.LAUNCHED)
        entry.take_tasks(event.task_configs)
        self._end_if_done(entry)

    def _is_halted(self, entry: Entry) -> None:
        entry.phase = Phase.IDLE
        entry.end_waiting()
        if entry.target is TargetState.STARTED and not entry.deleted:
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
        are_done = entry.tasks and entry.ended == entry.tasks.keys()
        if not are_done or entry.state is not State.RUNNING:
            return
        entry.target = TargetState.STOPPED
        entry.move(Event.ENDED)
        entry.drop_tasks()
        self.halt(entry)
        try:
            self._store.put(StoredConnector(entry.name, entry.config, entry.target))
        except ConnectException as error:
            logger = connector_logger(entry.name)
            logger.warning("it has ended, and would run again after a start: %s", error)

    def _try_again_later(self, entry: Entry, tries: int, task: int | None = None) -> None:
        now = self._clock()
        if now - entry.failed_at > 2 * self._backoff.longest:  # It has run for a while since.
            entry.failures = 0
        if not tries or (entry.failures >= tries and not entry.again):
            return
        entry.again.add(task)
        if len(entry.again) > 1:
            return  # It is tried with others that have failed before.
        pause = self._backoff.pause(entry.failures, self._jitter())
        entry.failures, entry.failed_at = entry.failures + 1, now
        self.agenda.enter(pause, 0, partial(self._try_again, entry, entry.launch))

    def _try_again(self, entry: Entry, launch: int) -> None:
        if entry.launch != launch or entry.deleted:
            return
        again, failures = set(entry.again), entry.failures
        entry.again.clear()
        if entry.state is State.FAILED and entry.target is not TargetState.STARTED:
            entry.reload = True  # When it is resumed.
        elif entry.state is State.FAILED:
            entry.move(Event.RESTART)
            self.halt(entry)
        elif entry.target is TargetState.STARTED:
            failed = {number for number, task in entry.tasks.items() if task.state is State.FAILED}
            self.restart(entry, sorted(failed & again), connector=False)
            entry.failures = failures
        self.proceed(entry)

    def secret_changed(self, name: str) -> None:
        """Restart a connector soon, in its turn."""
        entry = self.entries.get(name)
        if entry is None or entry.deleted or entry.reload:
            return
        entry.reload = True
        wait = self._settle * self._jitter()
        if entry.reloaded and len(entry.reloaded) == entry.reloaded.maxlen:
            left = entry.reloaded[0] + _MINUTE - self._clock()
            if left > wait:
                connector_logger(name).warning("its secrets change all the time")
                wait = left
        self.agenda.enter(wait, 0, partial(self._reload, entry))

    def _reload(self, entry: Entry) -> None:
        if not entry.reload:
            return  # It was launched meanwhile.
        if entry.deleted or entry.target is not TargetState.STARTED:
            entry.reload = entry.state is State.FAILED  # When it is resumed.
        else:
            self._launches.want(entry.name)
            self._admit()

    def resume(self, entry: Entry) -> None:
        """Launch a connector that has failed, if it would have been while it was paused."""
        if entry.state is State.FAILED:
            self._reload(entry)

    def proceed(self, entry: Entry) -> None:
        """Do what comes next for a connector, and show what it is."""
        if entry.phase is Phase.IDLE and entry.deleted:
            self._drop(entry)
        elif entry.phase is Phase.IDLE:
            self._rest(entry)
        if entry.waits_for_launch:
            self._launches.want(entry.name)
        elif not entry.is_settling:
            self._launches.release(entry.name)
        self._publish(entry)
        self._admit()

    def _admit(self) -> None:
        while self.runs and (name := self._launches.next()):
            entry = self.entries.get(name)
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
        entry.again.clear()
        self._runner.launch(entry.name, entry.config, entry.launch)

    def _restart_for_secret(self, entry: Entry) -> None:
        entry.reload = False
        entry.failures = 0
        entry.reloaded.append(self._clock())
        connector_logger(entry.name).info("a secret has changed; it is restarted")
        entry.move(Event.RESTART)
        entry.move_tasks(entry.tasks, Event.RESTART)
        self.halt(entry)
        if entry.waits_for_launch:
            self._launch(entry)
        self._publish(entry)
        self.restarts += 1
        self.reloads += 1

    def halt(self, entry: Entry) -> None:
        """Have the runner halt a connector, if it runs or is about to."""
        if entry.phase in _LAUNCHED:
            entry.phase = Phase.HALTING
            self._runner.halt(entry.name)

    def add(self, stored: StoredConnector) -> Entry:
        """Take a connector that is stored, in the place of one that is deleted and still runs."""
        kind = self.type_of(stored.config)
        before = self.entries.get(stored.name)
        entry = Entry(stored.name, stored.config, stored.target, kind, self._told)
        entry.state = AT_FIRST[stored.target]
        if before is not None:
            entry.phase, entry.launch = before.phase, before.launch
        self.entries[stored.name] = entry
        self._publish(entry)
        return entry

    def _drop(self, entry: Entry) -> None:
        if self.entries.get(entry.name) is entry:
            del self.entries[entry.name]

    def _publish(self, entry: Entry) -> None:
        if not entry.deleted:
            self.views[entry.name] = entry.view()

    def type_of(self, config: Mapping[str, str]) -> str:
        """Return the type of a connector with *config*, as far as it is known."""
        try:
            return self._type_of(config)
        except ConfigException:  # Its class is gone; launching it says so.
            return UNKNOWN
