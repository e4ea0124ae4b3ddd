"""From the names in ``connector.class`` to classes: :class:`Plugins`.

What arrives over REST cannot choose code: it names a connector that is installed, or one in a
module that the worker's config allows. Nothing is imported before that is sure.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..config_def import ConfigDef
from ..errors import printable, shorten, there_is
from .connector import UNDEFINED_VERSION, Connector, ConnectorType, Task
from .errors import BadRequest, ConnectException

_logger = logging.getLogger(__name__)

ENTRY_POINTS = "configproviders.connectors"
_SUFFIX = "Connector"
_HERE = "configproviders.worker.connectors"

BUILT_IN = {
    "FileStreamSinkConnector": f"{_HERE}.file_stream:FileStreamSinkConnector",
    "FileStreamSourceConnector": f"{_HERE}.file_stream:FileStreamSourceConnector",
    "JdbcSourceConnector": f"{_HERE}.jdbc:JdbcSourceConnector",
    "KafkaSinkConnector": f"{_HERE}.kafka:KafkaSinkConnector",
    "KafkaSourceConnector": f"{_HERE}.kafka:KafkaSourceConnector",
    "SparkPipelineConnector": f"{_HERE}.pipeline:SparkPipelineConnector",
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A connector that is installed; ``class_name`` is the dotted name that Kafka's clients see."""

    name: str
    class_name: str
    type: ConnectorType
    version: str


class Plugins:
    """Connectors that are installed, by their names, and code of modules that are allowed.

    Thread-safe. Installed are our own and those of the entry points ``configproviders.connectors``.
    """

    def __init__(self, allowed_modules: Collection[str] = ()) -> None:
        """Allow code of *allowed_modules*, and of what is in them if they are packages."""
        self._allowed = tuple(filter(None, (name.strip() for name in allowed_modules)))
        self._installed = _installed()
        self._listing = threading.Lock()
        self._listed: list[Plugin] | None = None

    def find(self, name: str) -> type[Connector]:
        """Return the class that *name* stands for.

        It is the name of an entry point, a simple or full class name, each with or without the
        ending ``Connector``, or ``package.module:Class`` of a module that is allowed. Raises
        :class:`~configproviders.worker.errors.BadRequest` for one that stands for none, and
        :class:`~configproviders.worker.errors.ConnectException` for what cannot be imported.
        """
        name = name.strip()
        if ":" in name:
            return _connector(name, self._allowed_code(name))
        targets = [
            target for target, known in self._installed.items() if name in _aliases(known, target)
        ]
        if len(targets) > 1:
            names = " or ".join(map(_dotted, targets))
            raise BadRequest(f"several connectors are named {name!r}: write {names}")
        if not targets:
            raise BadRequest(
                f"no connector is named {_shown(name)}; {there_is(name, self._installed.values())};"
                " a class of your own is written package.module:Class"
            )
        return _connector(name, _imported(targets[0]))

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function that ``package.module:function`` stands for; raise as :meth:`find`.

        It is one of a module that is allowed.
        """
        return self._allowed_code(name)

    def all(self) -> list[Plugin]:
        """Return the connectors that are installed, sinks first, by class name.

        One that cannot be imported is left out, and logged. They stay the same in a process.
        """
        with self._listing:
            if self._listed is None:
                found = [self._plugin(target, name) for target, name in self._installed.items()]
                listed = filter(None, found)
                self._listed = sorted(listed, key=lambda each: (each.type, each.class_name))
            return list(self._listed)

    def _plugin(self, target: str, name: str) -> Plugin | None:
        try:
            connector = _connector(name, _imported(target))
        except ConnectException:
            _logger.exception("connector %s is left out", name)
            return None
        return Plugin(name, _dotted(target), connector.type, version_of(connector))

    def _allowed_code(self, name: str) -> Callable[..., Any]:
        module, _, attribute = name.partition(":")
        parts = [*module.split("."), attribute]
        if not all(part.isidentifier() for part in parts):
            raise BadRequest(f"{_shown(name)} is not written package.module:name")
        self._refuse(module)
        found = _imported(name)
        if not callable(found):
            raise BadRequest(f"{_shown(name)} is neither a class nor a function")
        # What a module has imported itself is not allowed by that: subprocess.Popen, for one.
        self._refuse(str(getattr(found, "__module__", "")))
        return found

    def _refuse(self, module: str) -> None:
        if not any(module == each or module.startswith(f"{each}.") for each in self._allowed):
            allowed = ", ".join(self._allowed) or "none"
            raise BadRequest(
                f"code of module {_shown(module)} is not allowed: plugin.allowed.modules in the"
                f" worker's config lists {allowed}"
            )


def version_of(connector: type[Connector]) -> str:
    """Return what *connector* says of its version, ``undefined`` if it fails to."""
    try:
        return str(connector.version())
    except Exception:  # The border around a plugin.
        _logger.exception("%s has no version", connector.__qualname__)
        return UNDEFINED_VERSION


def _installed() -> dict[str, str]:
    """Return the names of entry points by what they stand for."""
    from importlib.metadata import entry_points

    others = {f"{each.module}:{each.attr}": each.name for each in entry_points(group=ENTRY_POINTS)}
    return others | {target: name for name, target in BUILT_IN.items()}


def _aliases(name: str, target: str) -> set[str]:
    dotted = _dotted(target)
    names = {name, dotted, dotted.rpartition(".")[2]}
    return (names | {each.removesuffix(_SUFFIX) for each in names}) - {""}


def _dotted(target: str) -> str:
    return target.replace(":", ".")


def _connector(name: str, found: object) -> type[Connector]:
    if isinstance(found, type) and issubclass(found, Connector):
        if getattr(found, "type", None) not in ("source", "sink"):
            raise ConnectException(f"{_shown(name)} does not say its type, source or sink")
        task_class = getattr(found, "task_class", None)
        if not (isinstance(task_class, type) and issubclass(task_class, Task)):
            raise ConnectException(f"{_shown(name)} has no task_class, a class of Task")
        if not isinstance(found.config_def, ConfigDef):
            raise ConnectException(f"the config_def of {_shown(name)} is not a ConfigDef")
        return found
    raise BadRequest(f"{_shown(name)} is not a Connector class")


def _imported(target: str) -> object:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConnectException(f"cannot import {_shown(target)}: {error}") from error
    except BaseException as error:  # Any code may stand in a module, and end it.
        reason = type(error).__name__
        raise ConnectException(f"cannot import {_shown(target)}: it raised {reason}") from error


def _shown(name: str) -> str:
    return repr(printable(shorten(name)))
