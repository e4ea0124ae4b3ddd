"""What the worker logs: a line of JSON for each record, and levels that change while it runs.

No line shows a value that is known to be secret: each record is cleaned before it is written, with
its exception and the fields that come with it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType

from ..errors import there_is
from ..spark.cleaning import clean, cleaned_json
from ..spark.loggers import hold_python
from .errors import NotFound

ROOT = "root"
CONNECTORS = "configproviders.connectors"
"""Below it each connector has a logger."""

LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
    "ALL": 1,
}
"""The words of log4j, which Kafka Connect's API uses, as Python's levels; the highest first."""

_SYNONYMS = {"CRITICAL": "FATAL", "WARNING": "WARN"}  # Python's own words.
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__)
"""What every record has; all else came with it as a field of its own."""

_modified: dict[str, int] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """The level of a logger, and when it was set here, in milliseconds since 1970."""

    level: str
    last_modified: int | None


def configure(level: str = "INFO") -> None:
    """Have all that this process logs written to standard output; for who owns the process.

    Exceptions that nobody catches are logged too, as they would be printed with what they say.
    """
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_formatter())
    handler.addFilter(clean_record)
    logging.basicConfig(handlers=[handler], level=LEVELS[level], force=True)
    logging.addLevelName(LEVELS["TRACE"], "TRACE")
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False  # Who cannot read standard output need not be told so.
    logging.getLogger("py4j").setLevel(logging.WARNING)  # It tells of each connection.
    hold_python()
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda died: _log_uncaught(
        died.exc_type, died.exc_value, died.exc_traceback
    )


def connector_logger(name: str) -> logging.Logger:
    """Return the logger of the connector *name*.

    A dot in the name is written ``%2E``, else ``a.b`` would be a part of ``a``.
    """
    return logging.getLogger(f"{CONNECTORS}.{name.replace('%', '%25').replace('.', '%2E')}")


def levels() -> dict[str, LoggerLevel]:
    """Return the levels of the root and of all loggers that have one of their own, by name."""
    own = {name: logger for name, logger in _loggers().items() if logger.level != logging.NOTSET}
    return {name: _level_of(name, logger) for name, logger in sorted(own.items())}


def level(name: str) -> LoggerLevel:
    """Return the level of a logger, which may be that of one above it; raise ``NotFound``."""
    known = _loggers()
    if name not in known and not any(each.startswith(f"{name}.") for each in known):
        raise NotFound(f"no logger is named {name!r}; {there_is(name, levels())}")
    return _level_of(name, logging.getLogger(None if name == ROOT else name))


def set_level(name: str, word: str) -> list[str]:
    """Set the level of a logger and of all below it; return their names, sorted.

    Raises ``NotFound`` for a level that there is not, as Kafka Connect does.
    """
    wanted = _SYNONYMS.get(word.strip().upper(), word.strip().upper())
    if wanted not in LEVELS:
        raise NotFound(f"invalid log level {word!r}; {there_is(wanted, LEVELS)}")
    with _lock:
        logger = logging.getLogger(None if name == ROOT else name)
        before = _word(logger.getEffectiveLevel())
        below = {
            each: child
            for each, child in _loggers().items()
            if name == ROOT or each.startswith(f"{name}.")
        }
        for each, child in below.items():
            if child.level != logging.NOTSET:  # The others follow those above them.
                _set(each, child, wanted, _word(child.level))
        _set(name, logger, wanted, before)
    return sorted({*map(clean, below), name})


def clean_record(record: logging.LogRecord) -> bool:
    """Be the filter of a handler: leave no value in *record*, and pass it on."""
    record.name, record.msg, record.args = clean(record.name), _message(record), ()
    if record.exc_info:
        record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_info = None
    if record.exc_text:
        record.exc_text = clean(record.exc_text)
    if record.stack_info:
        record.stack_info = clean(record.stack_info)
    for name in record.__dict__.keys() - _STANDARD:
        record.__dict__[name] = cleaned_json(record.__dict__[name])
    if record.name.startswith(f"{CONNECTORS}."):
        connector = record.name.removeprefix(f"{CONNECTORS}.")
        record.__dict__["connector"] = connector.replace("%2E", ".").replace("%25", "%")
    return True


def _formatter() -> logging.Formatter:
    from pythonjsonlogger.json import JsonFormatter

    return JsonFormatter(
        ["levelname", "name", "message"],
        rename_fields={"levelname": "level", "name": "logger", "exc_info": "trace"},
        reserved_attrs=[*_STANDARD, "message", "color_message"],  # The last is uvicorn's.
        timestamp=True,
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, traceback: TracebackType | None
) -> None:
    if isinstance(error, Exception):  # Others are a way to end, and no failure.
        logging.getLogger(__name__).critical("uncaught", exc_info=(kind, error, traceback))


def _message(record: logging.LogRecord) -> str:
    try:
        return clean(record.getMessage())
    except Exception as error:  # noqa: BLE001  Any code may stand in what is logged.
        return f"a message of {record.module} that cannot be written: {type(error).__name__}"


def _loggers() -> dict[str, logging.Logger]:
    """Return all loggers there are, the root among them."""
    known = list(logging.root.manager.loggerDict.items())
    found = {name: each for name, each in known if isinstance(each, logging.Logger)}
    return {ROOT: logging.root, **found}


def _level_of(name: str, logger: logging.Logger) -> LoggerLevel:
    return LoggerLevel(_word(logger.getEffectiveLevel()), _modified.get(name))


def _set(name: str, logger: logging.Logger, word: str, before: str) -> None:
    logger.setLevel(LEVELS[word])
    if word != before:
        _modified[name] = int(time.time() * 1000)


def _word(number: int) -> str:
    return next((word for word, least in LEVELS.items() if number >= least), "ALL")
