"""Executors ask the driver: :class:`DriverSecrets`.

Spark's own ways from the driver to executors do not do: confs and local properties are shown by
the UI and the event log, and credentials of Hadoop's ``UserGroupInformation`` reach the executors
of a standalone cluster only with Kerberos; Spark's RPC has no door for Python.
"""

from __future__ import annotations

import atexit
import logging
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ...errors import ConfigException, LookupDenied, UnsupportedOperation
from ...provider import ConfigProvider
from .. import cleaning, exceptions, loggers
from .._resolution import Configs, as_text, read_entries
from .client import Driver, name_of
from .secret import Secret, forget
from .server import Server
from .texts import TTL, CachedTexts, public_class
from .tls import server_context
from .wire import Message

if TYPE_CHECKING:
    from typing import Self

    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"


class DriverSecrets:
    """Makes handles whose values executors get from the driver.

    The driver asks the backend, once per location and TTL however many executors and tasks there
    are, and serves them over TLS 1.3 on ``spark.driver.host`` and a port of its own. The handles
    carry its certificate, made for this object, and a random key: who reads Spark's closures can
    ask as an executor does, so on a cluster they should be encrypted
    (``spark.network.crypto.enabled`` or ``spark.ssl.rpc.enabled``).

    It is a context manager. It also closes when its ``SparkContext`` stops, within a second, and
    at the end of the process. Thread-safe.
    """

    def __init__(
        self,
        spark: SparkSession | SparkContext,
        configs: Configs | None = None,
        *,
        providers: Mapping[str, ConfigProvider] | None = None,
        ttl: timedelta = TTL,
        port: int = 0,
    ) -> None:
        """Serve executors of *spark* on *port*, or any that is free.

        *configs* (a mapping or the path of a file) says in its ``config.providers…`` entries which
        providers there are; *providers* are live ones, which win and are left open. With neither,
        references go to ``file``, ``directory`` and ``env``. *ttl* is how long values are kept for
        which neither reference nor backend says so.

        Raises :class:`UnsupportedOperation` in Spark Connect mode.
        """
        context = _context_of(spark)
        loggers.hold_python()
        exceptions.install()  # Handles have values on the driver too.
        conf = context.getConf()
        _warn_of_clear_text(conf)
        tls, certificate = server_context()
        key = secrets.token_urlsafe(32)
        host, bind = _address(conf)
        self._served: dict[str, str] = {}
        self._texts = CachedTexts(read_entries(configs)[0], providers, ttl=ttl)
        try:
            self._server = Server(
                (bind, port),
                tls,
                key,
                self._answer,
                is_wanted=lambda: context._jsc is not None,  # As PySpark leaves it when it stops.
                ended=self._end,
            )
        except BaseException:
            self._texts.close()
            raise
        self._driver = Driver(host, self._server.port, certificate, key)
        atexit.register(self.close)

    def secret(self, text: str) -> Secret:
        """Return a handle for *text*, which has references.

        It is resolved here too, so that a job does not fail late: raises :class:`UnresolvedError`
        with all references that have no value.
        """
        return self.secrets({"secret": text})["secret"]

    def secrets(self, configs: Mapping[str, object]) -> dict[str, Secret]:
        """Return a handle for each value of *configs*; what is at one place is fetched together.

        Raises as :meth:`secret`, for all of them at once.
        """
        entries = as_text(configs)
        self._texts.add(entries)
        self._served.update((name_of(text), text) for text in entries.values())
        return {key: Secret(text, self._driver) for key, text in entries.items()}

    def close(self) -> None:
        """Serve no more; close the providers that were opened here, and with them their leases.

        May be called twice.
        """
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._driver!r})"

    def _answer(self, question: Message) -> Message:
        try:
            return self._answered(question)
        except ConfigException as error:
            return {"error": public_class(error).__name__, "message": str(error)}

    def _answered(self, question: Message) -> Message:
        text = self._served.get(str(question.get("text")))
        if text is None:
            raise LookupDenied("the driver refuses: it made no handle for this text")
        if "refused" in question:
            self._texts.refuse(text, str(question["refused"]))
            return {}
        found = self._texts.resolve(text)
        cleaning.remember(found.secrets)  # A failure may come back with one.
        return {
            "value": found.value,
            "secrets": found.secrets,
            "version": found.version,
            "seconds": found.seconds,
        }

    def _end(self) -> None:
        self._texts.close()
        forget(self._driver)
        atexit.unregister(self.close)


def _context_of(spark: Any) -> SparkContext:
    from pyspark import SparkContext

    context = getattr(spark, "sparkContext", spark)  # Spark Connect's sessions have none.
    if isinstance(context, SparkContext):
        if context._jsc is None:
            raise ConfigException("the SparkContext has stopped: there are no executors to serve")
        return context
    raise UnsupportedOperation(
        f"{type(spark).__name__} has no SparkContext: in Spark Connect mode executors may not reach"
        " this process; use BackendSecrets"
    )


def _is_local(conf: SparkConf) -> bool:
    return conf.get("spark.master", "").partition("[")[0] == "local"


def _address(conf: SparkConf) -> tuple[str, str]:
    """Return where executors find the driver, and where it listens, as Spark itself has it."""
    if _is_local(conf):
        return _LOOPBACK, _LOOPBACK
    host = conf.get("spark.driver.host", _LOOPBACK)
    return _bare(host), _bare(conf.get("spark.driver.bindAddress", host))


def _warn_of_clear_text(conf: SparkConf) -> None:
    switches = ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled")
    if not (_is_local(conf) or any(conf.get(each, "").lower() == "true" for each in switches)):
        _log.warning(
            "the key to the secrets travels with Spark's closures in the clear; set %s or %s, and"
            " spark.io.encryption.enabled for large closures, which are written to disk",
            *switches,
        )


def _bare(host: str) -> str:
    return host.removeprefix("[").removesuffix("]")
