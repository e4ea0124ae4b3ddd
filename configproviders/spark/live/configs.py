"""Sessions and options that follow their secrets: :class:`LiveConfigs`.

::

    with LiveConfigs("job.properties") as live:
        spark = live.create_session(SparkSession.builder.appName("job"))
        options = live.options({"url": URL, "password": "${vault:secret/data/db:password}"})
        spark.read.format("jdbc").options(**options()).load()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn, Self

from ...errors import ConfigException
from ...plan import Location
from ...provider import ConfigProvider
from ...reference import find
from ...single_flight import SingleFlight
from ...transformer import ConfigTransformer
from ...watch import Watcher
from .. import connect, delivery
from .._resolution import Configs, as_text, opened, ours_among, read_entries, split_submitted
from ..options import delivered_options
from .config import LiveConfig
from .session import LiveSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NewWatcher = Callable[[Mapping[str, ConfigProvider]], Watcher]
"""Makes the watcher; ``partial(Watcher, poll_interval=timedelta(seconds=10))`` for another pace."""


class LiveOptions:
    """Options of a reader or writer, bound late: call it where it reads or writes.

    ::

        spark.read.format("jdbc").options(**options()).load()

    A call returns the values of now and asks no backend: a watcher brings what has changed. What
    is there stays in use while the backend cannot be reached, and when the secret is deleted. A
    data frame keeps the options that it was made with, so make it anew. Thread-safe.
    """

    def __init__(
        self,
        config: LiveConfig,
        entries: Mapping[str, str],
        *,
        allow_leaks: Collection[str],
        stream_format: str | None,
    ) -> None:
        """Take *entries*, and those with references as *config*; raise as :class:`LiveConfigs`."""
        self._config = config
        self._entries = entries
        self._allow_leaks = frozenset(allow_leaks)
        self._stream_format = stream_format
        self()

    def __call__(self) -> dict[str, str]:
        """Return the options with the values of now, as :func:`resolve_options` does."""
        options = delivered_options(
            self._config.result, allow_leaks=self._allow_leaks, stream_format=self._stream_format
        )
        return {**self._entries, **options}

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: an executor would get the values of the past."""
        raise TypeError(
            "options that are bound late stay in the driver; hand on the reference"
            " (on executors: configproviders.spark.executors)"
        )

    @property
    def revision(self) -> int:
        """How often the values have changed so far."""
        return self._config.revision

    def invalidate(self, *, revision: int | None = None) -> None:
        """Ask for all values anew, now; see :meth:`LiveConfigs.invalidate`."""
        self._config.invalidate(revision=revision)


class LiveConfigs:
    """Configs whose values are kept up to date until it is closed.

    It opens the providers that *configs* declares, watches what is referred to, and is a context
    manager that ends both. After that, options keep their last values. Thread-safe.
    """

    def __init__(
        self,
        configs: Configs | None = None,
        *,
        providers: Mapping[str, ConfigProvider] | None = None,
        watcher: NewWatcher = Watcher,
    ) -> None:
        """Open the providers; raise :class:`ConfigException`.

        *configs* is a mapping or the path of a file: the entries of the session, and in its
        ``config.providers…`` entries the providers. *providers* are live ones, which win and are
        not closed here. With neither, they are ``file``, ``directory`` and ``env``.
        """
        settings, self._entries = read_entries(configs)
        submitted, _ = split_submitted(delivery.submitted_conf())
        settings = {**submitted, **settings}
        self._renewing = threading.RLock()
        self._making: SingleFlight[LiveConfig] = SingleFlight()
        self._configs: dict[frozenset[tuple[str, str]], LiveConfig] = {}
        with ExitStack() as stack:
            self._providers = stack.enter_context(opened(settings, providers))
            self._transformer = ConfigTransformer(self._providers)
            self._watcher = stack.enter_context(watcher(self._providers))
            self._opened = stack.pop_all()

    @property
    def revision(self) -> int:
        """How often values have changed so far."""
        return sum(each.revision for each in list(self._configs.values()))

    def create_session(
        self, builder: SparkSession.Builder, *, allow_leaks: Collection[str] = ()
    ) -> SparkSession:
        """Return the session of *builder* and the configs, which follows their secrets from now on.

        It is made as :func:`~configproviders.spark.create_session` does, and raises the same. When
        a secret changes, ``spark.hadoop.…`` keys are replaced in the Hadoop configuration of the
        context, and file systems opened anew (:mod:`configproviders.spark.live.file_systems`); all
        others are set in the runtime conf of this session. What a running session cannot take, as
        the confs of executors, is logged by its key. Declare providers in the configs, not in
        *builder*.
        """
        settings, of_builder = read_entries(builder._options)
        if settings:
            raise ConfigException(
                f"{', '.join(sorted(settings))}: declare providers in the configs of LiveConfigs"
            )
        _, submitted = split_submitted(delivery.submitted_conf())
        entries = ours_among(submitted) | of_builder | self._entries
        if connect.is_connect(entries):
            return connect.start(builder, entries)
        config = self._live(entries)
        result = config.result
        spark = delivery.deliver(builder, result, allow_leaks=allow_leaks)
        session = LiveSession(spark)
        self._opened.callback(session.close)
        config.follow(session.take, since=result.data)
        return spark

    def options(
        self,
        options: Mapping[str, object],
        *,
        allow_leaks: Collection[str] = (),
        stream_format: str | None = None,
    ) -> LiveOptions:
        """Return *options* of a reader or writer, bound late.

        The arguments and errors are those of :func:`~configproviders.spark.resolve_options`.
        """
        entries = as_text(options)
        config = self._live({key: text for key, text in entries.items() if find(text)})
        return LiveOptions(config, entries, allow_leaks=allow_leaks, stream_format=stream_format)

    def invalidate(self, *, revision: int | None = None) -> None:
        """Ask for all values anew, now: those that there are were refused.

        What the providers keep of them is forgotten, so that leased credentials are issued anew.
        With *revision*, nothing happens if values have changed since: so of several that were
        refused at once, one asks. Raises :class:`UnresolvedError`, after all were asked, and keeps
        what there is, where that fails.
        """
        with self._renewing:
            if revision in (None, self.revision):
                failures = list(filter(None, map(_failure, list(self._configs.values()))))
                if failures:
                    raise failures[0]

    def close(self) -> None:
        """Watch no more, and close the providers that were opened here."""
        self._watcher.close()  # First, so that nothing is brought to what is being closed.
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live(self, entries: Mapping[str, str]) -> LiveConfig:
        """Return *entries* as a config that is live: the one that there is, if there is one."""
        same = frozenset(entries.items())
        return self._configs.get(same) or self._making.do(same, lambda: self._made(same, entries))

    def _made(self, same: frozenset[tuple[str, str]], entries: Mapping[str, str]) -> LiveConfig:
        if same not in self._configs:
            self._configs[same] = LiveConfig(
                entries, self._transformer, self._watcher, self._forget, self._renewing
            )
        return self._configs[same]

    def _forget(self, location: Location) -> None:
        self._providers[location.provider].invalidate(location.path)


def _failure(config: LiveConfig) -> ConfigException | None:
    """Ask for the values of *config* anew; return why that failed."""
    try:
        config.invalidate()
    except ConfigException as error:
        return error
    return None
