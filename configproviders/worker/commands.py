"""What users ask for, checked against the table of states, stored, and begun: :class:`Commands`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

from .entry import Entry, Phase
from .errors import AlreadyExists, BadRequest, Conflict, NotFound
from .lifecycle import Lifecycle
from .status import ConnectorInfo, ConnectorStatus, Event, State, TargetState
from .stores import Store, StoredConnector


class Commands:
    """Changes what is wanted of connectors. For the thread of the lifecycle.

    What raises has changed nothing.
    """

    def __init__(self, lifecycle: Lifecycle, store: Store) -> None:
        """Take the lifecycle that does what is wanted, and the store that keeps it."""
        self._lifecycle, self._store = lifecycle, store

    def create(self, name: str, config: dict[str, str], target: TargetState) -> ConnectorInfo:
        """Keep a new connector, and bring it to *target*; raise :class:`AlreadyExists`."""
        if name in self._lifecycle.views:
            raise AlreadyExists(f"Connector {name} already exists")
        stored = StoredConnector(name, config, target)
        self._store.put(stored)
        self._lifecycle.proceed(self._lifecycle.add(stored))
        return self._lifecycle.views[name].info

    def put_config(
        self, name: str, config: dict[str, str], expected: Mapping[str, str] | None
    ) -> tuple[ConnectorInfo, bool]:
        """Give a connector another config, or create it; tell which it was."""
        if name not in self._lifecycle.views:
            if expected is not None:
                raise not_found(name)
            return self.create(name, config, TargetState.STARTED), True
        entry = self._lifecycle.entries[name]
        if expected is not None and expected != entry.config:
            raise Conflict(f"the config of connector {name!r} has changed meanwhile: try again")
        self._store.put(StoredConnector(name, config, entry.target))
        entry.config, entry.type, entry.failures = config, self._lifecycle.type_of(config), 0
        entry.move(Event.CONFIGURE)
        if entry.target is TargetState.STARTED:
            entry.move_tasks(entry.tasks, Event.RESTART)
        elif entry.phase is Phase.IDLE:
            entry.drop_tasks()
        self._lifecycle.halt(entry)
        self._lifecycle.proceed(entry)
        return self._lifecycle.views[name].info, False

    def delete(self, name: str) -> None:
        """Halt a connector, and keep it no more."""
        entry = self._free(name)
        self._store.delete(name)
        entry.deleted = True
        entry.end_waiting()
        del self._lifecycle.views[name]
        self._lifecycle.halt(entry)
        self._lifecycle.proceed(entry)

    def aim(self, name: str, target: TargetState, event: Event) -> None:
        """Have *target* wanted of a connector, by *event*; raise :class:`Conflict`."""
        entry = self._free(name)
        entry.check(event)
        if entry.target is not target:
            self._store.put(StoredConnector(name, entry.config, target))
        entry.target = target
        entry.move(event)
        if target is TargetState.STARTED:
            self._lifecycle.resume(entry)
        elif entry.state is not State.FAILED:  # Else it stays so, and what it lacks is watched.
            self._lifecycle.halt(entry)
        self._lifecycle.proceed(entry)

    def hold(self, name: str) -> Mapping[str, str]:
        """Have a connector stay stopped until :meth:`let_go`; return its config.

        Raises :class:`BadRequest` if it is not stopped.
        """
        entry = self._entry(name)
        if entry.state is not State.STOPPED or entry.phase is not Phase.IDLE:
            raise BadRequest(
                "Connectors must be in the STOPPED state before their offsets can be modified;"
                f" {name!r} is {entry.state}: PUT /connectors/{{name}}/stop first"
            )
        if entry.held:
            raise Conflict(f"the offsets of connector {name!r} are being reset")
        entry.held = True
        return entry.config

    def let_go(self, name: str) -> None:
        """Have a connector be as free as before :meth:`hold`."""
        self._entry(name).held = False

    def stop(self, name: str, halted: Future[None]) -> None:
        """Stop a connector; *halted* ends when nothing of it runs."""
        self.aim(name, TargetState.STOPPED, Event.STOP)
        entry = self._lifecycle.entries[name]
        entry.halted.append(halted)
        if entry.phase is Phase.IDLE:
            entry.end_waiting()

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
            self._lifecycle.restart(entry, tasks, connector=connector)
        return self._lifecycle.views[name].status

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task; raise :class:`Conflict` if it is restarting."""
        entry = self._entry(name)
        if task not in entry.tasks:
            raise NotFound(f"Unknown task: {name}-{task}")
        if entry.tasks[task].state is State.RESTARTING or entry.phase is Phase.HALTING:
            raise Conflict(f"task {name}-{task} is restarting or stopping: wait until that is done")
        if entry.phase is Phase.LIVE:
            self._lifecycle.restart(entry, [task], connector=False)

    def _entry(self, name: str) -> Entry:
        if name not in self._lifecycle.views:
            raise not_found(name)
        return self._lifecycle.entries[name]

    def _free(self, name: str) -> Entry:
        entry = self._entry(name)
        if entry.held:
            raise Conflict(f"the offsets of connector {name!r} are being reset: wait for that")
        return entry


def not_found(name: str) -> NotFound:
    """Return the one error for a connector that is not there."""
    return NotFound(f"Connector {name} not found")
