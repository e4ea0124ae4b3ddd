"""Takes commands for connectors, and has them done one at a time: :class:`Herder`.

One thread takes commands, what the runner tells, and what is due from one queue, so what decides
(:class:`~configproviders.worker.lifecycle.Lifecycle`) needs no lock. Reads do not wait: they see
what was published after the last change.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from .commands import Commands, not_found
from .connector import Progress
from .entry import View
from .errors import ConnectException
from .lifecycle import Lifecycle
from .runner import Runner, RunnerEvent
from .status import ConnectorInfo, ConnectorStatus, Event, TargetState
from .stores import Store

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Herder:
    """Keeps connectors as they are wanted, with a runner and a store.

    Reads return at once and raise :class:`NotFound`. Commands return a future that ends when the
    change is stored and begun, and raise what :mod:`configproviders.worker.errors` lists; then
    nothing has changed. :meth:`stop`'s ends when nothing runs any more. Thread-safe.
    """

    def __init__(self, lifecycle: Lifecycle, store: Store, runner: Runner) -> None:
        """Take the parts; no thread begins yet."""
        self._lifecycle, self._runner = lifecycle, runner
        self._commands = Commands(lifecycle, store)
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="herder", daemon=True)
        self._asking = threading.Lock()  # What comes before the end is done, what comes after not.
        self._is_closed = False

    def start(self) -> None:
        """Take commands. Nothing is launched before :meth:`begin`."""
        self._thread.start()

    def begin(self) -> None:
        """Start the runner, which may take a while, and launch what is wanted."""
        self._runner.start(self._tell)
        self._ask(self._lifecycle.begin).result()

    def close(self) -> None:
        """Halt all, as they are: what is wanted of them stays stored. Blocks."""
        with self._asking:
            self._is_closed = True
            self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()
        self._lifecycle.runs = False
        self._runner.close()
        for entry in self._lifecycle.entries.values():
            entry.end_waiting()

    @property
    def is_ready(self) -> bool:
        """Whether connectors are launched."""
        return self._lifecycle.runs

    @property
    def restarts(self) -> int:
        """How many restarts of connectors or tasks there were, for whatever reason."""
        return self._lifecycle.restarts

    @property
    def reloads(self) -> int:
        """How many restarts there were because a secret had changed."""
        return self._lifecycle.reloads

    def names(self) -> list[str]:
        """Return the names of all connectors."""
        return list(self._lifecycle.views)

    def views(self) -> dict[str, View]:
        """Return all that is shown, by name."""
        return dict(self._lifecycle.views)

    def info(self, name: str) -> ConnectorInfo:
        """Return what is stored of a connector."""
        return self._view(name).info

    def status(self, name: str) -> ConnectorStatus:
        """Return how it is with a connector and its tasks."""
        return self._view(name).status

    def task_configs(self, name: str) -> list[Mapping[str, str]]:
        """Return the configs of a connector's tasks, with references."""
        return list(self._view(name).task_configs)

    def progress(self, name: str) -> Mapping[int, Progress]:
        """Return what a connector's tasks have done so far, by number."""
        self._view(name)
        return self._runner.progress(name)

    def create(
        self, name: str, config: Mapping[str, str], target: TargetState = TargetState.STARTED
    ) -> Future[ConnectorInfo]:
        """Keep a new connector, and bring it to *target*; raise :class:`AlreadyExists`."""
        return self._ask(partial(self._commands.create, name, dict(config), target))

    def put_config(
        self, name: str, config: Mapping[str, str], *, expected: Mapping[str, str] | None = None
    ) -> Future[tuple[ConnectorInfo, bool]]:
        """Give a connector another config, or create it; tell which it was.

        What is wanted of it stays. Raises :class:`Conflict` if its config is not *expected*.
        """
        return self._ask(partial(self._commands.put_config, name, dict(config), expected))

    def delete(self, name: str) -> Future[None]:
        """Stop a connector, and keep it no more."""
        return self._ask(partial(self._commands.delete, name))

    def pause(self, name: str) -> Future[None]:
        """Have a connector and its tasks rest, until they are resumed."""
        return self._ask(partial(self._commands.aim, name, TargetState.PAUSED, Event.PAUSE))

    def resume(self, name: str) -> Future[None]:
        """Have a paused or stopped connector run; a failed one stays as it is."""
        return self._ask(partial(self._commands.aim, name, TargetState.STARTED, Event.RESUME))

    def stop(self, name: str) -> Future[None]:
        """Have a connector run no more and have no tasks, until it is resumed."""
        halted: Future[None] = Future()
        self._ask(partial(self._commands.stop, name, halted)).add_done_callback(
            partial(_pass_on, halted)
        )
        return halted

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> Future[ConnectorStatus]:
        """Restart a connector's own object, *include_tasks* too, or *only_failed* ones (KIP-745).

        Returns the status in which what restarts is RESTARTING. Raises :class:`Conflict` for one
        that is restarting or is stopped.
        """
        again = self._commands.restart
        return self._ask(partial(again, name, include_tasks=include_tasks, only_failed=only_failed))

    def restart_task(self, name: str, task: int) -> Future[None]:
        """Restart one task; raise :class:`Conflict` if it is restarting."""
        return self._ask(partial(self._commands.restart_task, name, task))

    def offsets(self, name: str) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return how far a connector has come; this asks storage. Blocks."""
        return self._runner.offsets(self._view(name).info.config)

    def reset_offsets(self, name: str) -> None:
        """Have a stopped connector begin anew; raise :class:`BadRequest` for others. Blocks."""
        config = self._ask(partial(self._commands.hold, name)).result()
        try:
            self._runner.reset_offsets(config)
        finally:
            self._ask(partial(self._commands.let_go, name)).result()

    def secret_changed(self, name: str) -> None:
        """Restart a connector and its tasks soon: a value that it was launched with has changed."""
        self._queue.put(partial(self._lifecycle.secret_changed, name))

    def check(self) -> str:
        """Return what is wrong, or nothing; raise nothing. Blocks."""
        if not self._thread.is_alive():
            return "the herder has ended"
        return self._runner.check()

    def _run(self) -> None:
        while True:
            try:
                wait = self._lifecycle.agenda.run(blocking=False)
                action = self._queue.get(timeout=wait)
                if action is None:
                    return
                action()
            except queue.Empty:
                continue
            except Exception:  # noqa: BLE001  The top of a thread, which must go on.
                _log.exception("the herder failed to do something, and goes on")

    def _ask(self, function: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def act() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                done = function()
            except BaseException as error:  # noqa: BLE001  It is the future's.
                future.set_exception(error)
            else:
                future.set_result(done)

        with self._asking:
            if self._is_closed or not self._thread.is_alive():
                raise ConnectException("the worker is shutting down")
            self._queue.put(act)
        return future

    def _tell(self, event: RunnerEvent) -> None:
        self._queue.put(partial(self._lifecycle.happened, event))

    def _view(self, name: str) -> View:
        try:
            return self._lifecycle.views[name]
        except KeyError:
            raise not_found(name) from None


def _pass_on(halted: Future[None], asked: Future[None]) -> None:
    if (error := asked.exception()) and halted.set_running_or_notify_cancel():
        halted.set_exception(error)
