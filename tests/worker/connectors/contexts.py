"""What a worker gives a task, for one that a test runs: a context, a thread, and archives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from configproviders import ConfigTransformer
from configproviders.provider import ConfigProvider
from configproviders.spark import resolve_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from configproviders.worker.connector import Connector, Task


class Context:
    """A context over a session; references are resolved with *providers* whenever it is asked.

    When the task waits between two runs, *between* is called.
    """

    connector, task = "orders", 0
    logger = logging.getLogger(__name__)

    def __init__(
        self,
        spark: SparkSession,
        config: Mapping[str, str],
        providers: Mapping[str, ConfigProvider] | None = None,
        *,
        between: Callable[[], object] = lambda: None,
    ) -> None:
        self.spark = spark
        self._providers = dict(providers or {})
        self._raw = dict(config)
        self.config: Mapping[str, str] = self.configs()
        self.stopping = threading.Event()
        self.waits = 0
        self._between = between

    @property
    def is_stopping(self) -> bool:
        return self.stopping.is_set()

    def configs(self) -> dict[str, str]:
        return ConfigTransformer(self._providers).transform(self._raw, strict=True).data

    def options(
        self,
        prefix: str,
        *,
        stream_format: str | None = None,
        more: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        given = {
            name.removeprefix(prefix): text
            for name, text in self._raw.items()
            if name.startswith(prefix)
        }
        return resolve_options(
            {**given, **(more or {})}, providers=self._providers, stream_format=stream_format
        )

    def function(self, name: str) -> Callable[..., Any]:
        module, _, function = name.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), function)
        return found

    def wait(self, seconds: float) -> bool:
        self._between()
        self.waits += 1
        return self.stopping.wait(seconds)


def task_configs(connector: Connector, config: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Return what *connector* makes of *config*, as the worker asks it."""
    assert connector.validate(config) == {}
    connector.start(config)
    return list(connector.task_configs(int(config.get("tasks.max", "1"))))


def run(spark: SparkSession, connector: Connector, config: Mapping[str, str]) -> list[Task]:
    """Run all tasks that *connector* has for *config*, one after another, to their end."""
    tasks = []
    for each in task_configs(connector, config):
        task = connector.task_class()
        task.start(Context(spark, each))
        task.run()
        tasks.append(task)
    return tasks


@contextmanager
def running(task: Task, context: Context) -> Iterator[Callable[[], None]]:
    """Run *task* in a thread; give what stops it, waits, and raises what ended it."""
    errors: list[BaseException] = []
    task.start(context)

    def work() -> None:
        try:
            task.run()
        except BaseException as error:  # noqa: BLE001  It is raised by who stops the task.
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()

    def stop() -> None:
        if not context.is_stopping:
            context.stopping.set()
            task.stop()
        thread.join(60)
        assert not thread.is_alive()
        if errors:
            raise errors[0]

    try:
        yield stop
    finally:
        stop()


def load(jars: list[str]) -> None:
    """Have the JVM load *jars*: there is one for all modules, which another may have started."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for each in jars:
        loader.addURL(jvm.java.io.File(each).toURI().toURL())
