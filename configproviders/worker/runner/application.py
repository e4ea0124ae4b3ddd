"""The Spark application of the worker, in which each connector has a session of its own."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ...errors import ConfigException
from ...provider import ConfigProvider
from ...spark import LiveConfigs, cleaning, redaction
from .failures import ApplicationLost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

DEFAULTS = {
    "spark.master": "local[*]",
    "spark.app.name": "spark-connect-worker",
    "spark.scheduler.mode": "FAIR",  # A pool for each connector.
    "spark.ui.enabled": "false",  # It would listen on all interfaces, without a login.
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
}
"""What the worker's ``spark.*`` entries are if they are not given."""

LOCAL_DEFAULTS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""The same where no other machine takes part."""

_REFUSED = "{} is none that a connector may set: set it in the worker's config"
# Whoever may change a connector may not choose code.
_CODE = re.compile(r"class|provider|committer|catalog|listener|extension|plugin", re.IGNORECASE)


class Application:
    """One Spark application, which is started again if it ends. Thread-safe."""

    def __init__(self, entries: Mapping[str, str], providers: Mapping[str, ConfigProvider]) -> None:
        """Take the ``spark.*`` entries of the worker, with references, and live providers."""
        is_local = entries.get("spark.master", "local").startswith("local")
        self._entries = {**DEFAULTS, **(LOCAL_DEFAULTS if is_local else {}), **entries}
        self._providers = providers
        self._lock = threading.RLock()
        self._opened = ExitStack()
        self._session: SparkSession | None = None

    def start(self) -> None:
        """Start it; raise :class:`ConfigException` for what Spark refuses."""
        with self._lock:
            self._session = self._open()

    def new_session(self, confs: Mapping[str, str]) -> SparkSession:
        """Return a session with *confs*, separate from all others; raise :class:`ApplicationLost`.

        If the application has ended, another is started.
        """
        with self._lock:
            if self._session is None or self.check():
                _log.warning(
                    "the Spark application has ended: %s; it is started again", self.check()
                )
                self._forget()
                self._session = self._open()
            if self._session is None:
                raise ApplicationLost("the Spark application has ended")
            session = self._session.newSession()
        for key, text in confs.items():
            session.conf.set(key, text)
        return session

    def has(self, session: SparkSession) -> bool:
        """Tell whether *session* is one of the application that runs."""
        own = self._session
        return own is not None and own.sparkContext is session.sparkContext and not self.check()

    def cancel(self, session: SparkSession, groups: Collection[str], *, queries: bool) -> None:
        """Cancel the jobs of *groups*, and the *queries* of *session*. A query may block."""
        try:
            for group in groups:
                session.sparkContext.cancelJobGroup(group)
            for query in session.streams.active if queries else ():
                query.stop()
        except Exception as error:  # noqa: BLE001  The border to the JVM, which may be gone.
            _log.warning("jobs of %s are not cancelled: %s", groups, type(error).__name__)

    def refused_confs(self, keys: Collection[str]) -> dict[str, str]:
        """Return which of the confs *keys* are not for one session alone, with the reason."""
        session = self._session
        if session is None or self.check():
            return {}
        return {key: _REFUSED.format(key) for key in keys if not _is_own(session, key)}

    def check(self) -> str:
        """Return what is wrong with it, or nothing."""
        session = self._session
        if session is None:
            return "the Spark application has not started"
        try:
            context: Any = session.sparkContext._jsc
            stopped = context is None or context.sc().isStopped()
        except Exception as error:  # noqa: BLE001  The border to the JVM, which may be gone.
            return f"the JVM of the Spark application does not answer ({type(error).__name__})"
        return "the Spark application has been stopped" if stopped else ""

    def close(self) -> None:
        """End it."""
        with self._lock:
            session, self._session = self._session, None
            if session is not None:
                try:
                    session.stop()
                except Exception as error:  # noqa: BLE001  The border to the JVM, which may be gone.
                    _log.warning("Spark did not stop: %s", type(error).__name__)
            self._opened.close()

    def _open(self) -> SparkSession:
        from pyspark.sql import SparkSession

        live = LiveConfigs(self._entries, providers=self._providers)
        self._opened.enter_context(live)
        try:
            session = live.create_session(SparkSession.builder)
        except ConfigException:
            raise
        except Exception as error:  # noqa: BLE001  The border to the JVM.
            why = cleaning.clean(str(error)).strip().partition("\n")[0]
            raise ApplicationLost(
                f"Spark does not start: {why}; see what Java printed above, the spark.* entries of"
                " the worker's config, and that there is a Java 17 or newer"
            ).with_traceback(None) from None
        _hush(session._jvm)
        return session

    def _forget(self) -> None:
        """Let go of what has ended; of the JVM too, if it has, so that PySpark starts another."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        self._opened.close()
        is_gone = "JVM" in self.check()
        self._session = None
        if is_gone:
            SparkContext._gateway = SparkContext._jvm = None
            SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None


def mark_thread(session: SparkSession, pool: str, group: str) -> None:
    """Have this thread's jobs run in *pool*, as *group*, and *session* be the active one."""
    context: Any = session.sparkContext
    context.setLocalProperty("spark.scheduler.pool", pool)
    context.setJobGroup(group, group, interruptOnCancel=True)
    java: Any = session._jvm
    getattr(java, "org.apache.spark.sql.classic.SparkSession").setActiveSession(
        session._jsparkSession
    )


def _hush(jvm: Any) -> None:
    """Have Spark not warn that the pool of each connector is none that a file describes."""
    error = getattr(jvm, "org.apache.logging.log4j.Level").ERROR
    getattr(jvm, "org.apache.logging.log4j.core.config.Configurator").setLevel(
        "org.apache.spark.scheduler.FairSchedulableBuilder", error
    )


def _is_own(session: SparkSession, key: str) -> bool:
    known = redaction.find_entry(key, session._jvm) is not None
    return known and session.conf.isModifiable(key) and not _CODE.search(key)
