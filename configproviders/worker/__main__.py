"""``python -m configproviders.worker worker.properties``: a worker as a process of its own.

::

    main thread        reads the config, binds, waits for a signal, closes all
    thread "rest"      serves the REST API
    thread "begin"     starts Spark and the connectors; this takes a while, and PySpark would take
                       signals for itself in the main thread
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from importlib.util import find_spec
from queue import SimpleQueue
from typing import NoReturn, Protocol

from ..errors import ConfigException, printable
from . import logs
from .server import App, Server, bind, url_of
from .worker_config import WorkerConfig

_log = logging.getLogger(__package__)

_PROG = "spark-connect-worker"
_PACKAGES = ("prometheus_client", "pyspark", "pythonjsonlogger", "starlette", "uvicorn")
_FAILED, _INTERRUPTED = 1, 130
_MORE_THAN_TASKS = timedelta(seconds=10)
"""What stopping may take besides what tasks may take."""


class Serving(Protocol):
    """What :class:`~configproviders.worker.worker.Worker` is to a process."""

    def start(self) -> None:
        """Take commands."""

    def begin(self) -> None:
        """Start Spark and the connectors. Blocks."""

    def close(self) -> None:
        """Halt all. Blocks."""


Assemble = Callable[[WorkerConfig, int], tuple[Serving, App, App]]
"""Makes a worker that listens on a port, its REST API and that of ``admin.listeners``."""


def run() -> NoReturn:
    """Run ``spark-connect-worker`` as a process of its own, and end with its exit code."""
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # Before signals were waited for.
        code = _INTERRUPTED
    logging.shutdown()
    if threading.active_count() > 1:
        os._exit(code)  # A lookup still waits in a thread, for which Python would wait too.
    sys.exit(code)


def main(argv: Sequence[str], assemble: Assemble | None = None) -> int:
    """Run a worker until a signal comes; return the exit code."""
    path = _parser().parse_args(argv).config
    try:
        _require_packages()
        logs.configure()
        config = WorkerConfig.read(path)
        with ExitStack() as opened:
            return _serve(config, assemble or _assemble, opened)
    except ConfigException as error:
        lines = map(printable, str(error).splitlines())
        print(f"{_PROG}:", "\n".join(lines), file=sys.stderr)  # noqa: T201  The edge may print.
        return _FAILED


def _require_packages() -> None:
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise ConfigException(
            f"{', '.join(missing)} cannot be imported: pip install 'configproviders[worker]'"
        )


def _serve(config: WorkerConfig, assemble: Assemble, opened: ExitStack) -> int:
    served = [(each, opened.enter_context(bind(each))) for each in config.listeners]
    admin = [opened.enter_context(bind(each)) for each in config.admin_listeners or ()]
    worker, app, admin_app = assemble(config, served[0][1].getsockname()[1])
    opened.callback(worker.close)
    stop = _Stop(config.task_shutdown_graceful_timeout + _MORE_THAN_TASKS)
    applications = [(app, [bound for _, bound in served]), (admin_app, admin)]
    server = Server([each for each in applications if each[1]], stop.fail)
    worker.start()
    server.start()
    opened.callback(server.close)  # The first to be closed: nobody asks for what is going away.
    for warning in config.warnings:
        _log.warning("%s", warning)
    for listener, bound in served:
        url = url_of(listener, bound)
        _log.info("the REST API is at %s", url, extra={"url": url})
    threading.Thread(target=_begin, args=(worker, stop), name="begin", daemon=True).start()
    code = stop.wait()
    opened.close()
    stop.done()
    _log.info("the worker has stopped")
    return code


class _Stop:
    """The end of the process: a signal or a failure asks for it, and it comes in time."""

    def __init__(self, most: timedelta) -> None:
        """Take signals from now on; stopping is given up after *most*."""
        self._codes: SimpleQueue[int] = SimpleQueue()  # Unlike an event, for signals too.
        self.is_signalled = False
        self._deadline = threading.Timer(most.total_seconds(), self._give_up)
        self._deadline.daemon = True
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # As under nohup.
                signal.signal(number, self._take)

    def fail(self) -> None:
        """Have the process end with an error, unless it ends anyway."""
        self._codes.put(_FAILED)

    def wait(self) -> int:
        """Wait until the process is to end; return its exit code."""
        code = self._codes.get()
        self._deadline.start()
        _log.info("the worker stops")
        return code

    def done(self) -> None:
        """Say that all was closed in time."""
        self._deadline.cancel()
        self._deadline.join()

    def _take(self, number: int, _frame: object) -> None:
        if self.is_signalled:
            os._exit(128 + number)
        self.is_signalled = True
        self._codes.put(0)

    def _give_up(self) -> None:
        _log.error("the worker did not stop in time, and is ended")
        os._exit(_FAILED)


def _begin(worker: Serving, stop: _Stop) -> None:
    try:
        worker.begin()
    except BaseException as error:  # noqa: BLE001  The top of a thread.
        if not stop.is_signalled:  # Else it gave up since the worker stops.
            ours = isinstance(error, ConfigException)
            _log.critical("the worker cannot start: %s", error, exc_info=not ours)
        stop.fail()
    else:
        _log.info("the worker has started")


def _assemble(config: WorkerConfig, port: int) -> tuple[Serving, App, App]:
    from .rest.app import create_admin_app, create_app
    from .worker import Worker

    worker = Worker(config)
    try:
        return worker, create_app(worker, port=port), create_admin_app(worker)
    except BaseException:
        worker.close()
        raise


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROG,
        description="Run connectors as Spark jobs, by Kafka Connect's REST API.",
        epilog="SIGTERM and ctrl-C stop it; a second one ends it at once.",
    )
    parser.add_argument("config", metavar="FILE", help="the settings: worker.properties")
    return parser


if __name__ == "__main__":
    run()
