"""A worker in one process, put together of its parts: :class:`Worker`.

::

    worker = Worker(WorkerConfig.read("worker.properties"))
    worker.start()   # commands are taken
    worker.begin()   # Spark and the connectors start
    ...
    worker.close()
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Self

from ..data import Answer
from ..plan import Location
from ..registry import load_providers
from ..transformer import ConfigTransformer
from ..watch import Watcher
from .herder import Herder
from .launches import Backoff
from .lifecycle import Lifecycle
from .plugins import Plugins
from .reload import Reloads, SecretUse
from .runner.application import Application
from .runner.spark import SparkRunner
from .stores.sqlite import SqliteStore
from .validation import Validation
from .worker_config import WorkerConfig

_log = logging.getLogger(__name__)


class Worker:
    """Runs connectors as a :class:`WorkerConfig` says, from :meth:`start` to :meth:`close`.

    ``herder`` takes commands, ``plugins`` knows the classes, ``validation`` checks configs.
    """

    def __init__(self, config: WorkerConfig, application: Application | None = None) -> None:
        """Open store and providers; raise :class:`~configproviders.ConfigException`.

        *application* is the one that connectors run in, by default one of *config*.
        """
        self.config = config
        with ExitStack() as stack:
            store = stack.enter_context(SqliteStore(config.config_storage_file_filename))
            providers = load_providers(config.config_providers)
            for provider in providers.values():
                stack.enter_context(provider)
            watcher = stack.enter_context(Watcher(providers))
            transformer = ConfigTransformer(providers)
            self.plugins = Plugins(config.plugin_allowed_modules)
            application = application or Application(config.spark, providers)
            self.validation = Validation(self.plugins, transformer, application.refused_confs)
            self._reloads = Reloads(transformer, watcher, self._secret_changed)
            runner = SparkRunner(
                self.plugins,
                transformer,
                application,
                follow=self._follow,
                forget=self._reloads.forget,
                grace=config.task_shutdown_graceful_timeout,
            )
            lifecycle = Lifecycle(
                store,
                runner,
                type_of=self._type_of,
                concurrency=config.launch_concurrency,
                settle=config.reload_settle,
                backoff=Backoff.of(config.retry_backoff, config.retry_backoff_max),
            )
            self.herder = Herder(lifecycle, store, runner)
            self._opened = stack.pop_all()

    def start(self) -> None:
        """Take commands; no connector runs before :meth:`begin`."""
        self.herder.start()

    def begin(self) -> None:
        """Start Spark and the connectors; raise :class:`~configproviders.ConfigException`."""
        self.herder.begin()

    def close(self) -> None:
        """Halt all connectors, and let go of everything."""
        self.herder.close()
        self._opened.close()

    def secrets(self, name: str) -> list[SecretUse]:
        """Return the references of a connector's config; raise ``NotFound``."""
        return self._reloads.secrets(name, self.herder.info(name).config)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _secret_changed(self, name: str) -> None:
        self.herder.secret_changed(name)

    def _follow(
        self,
        name: str,
        launch: int,
        config: Mapping[str, str],
        answers: Mapping[Location, Answer],
    ) -> None:
        try:
            self._reloads.follow(name, launch, config, answers)
        except Exception as error:  # noqa: BLE001  Watching is no condition for running.
            _log.warning("changes of the secrets of %s go unnoticed: %s", name, error)

    def _type_of(self, config: Mapping[str, str]) -> str:
        return self.plugins.find(config.get("connector.class", "")).type
