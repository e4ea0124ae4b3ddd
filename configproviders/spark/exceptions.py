"""What Spark says of its failures, without the values that went through here.

A driver that is refused may quote the URL it was given, a parser the statement, a Python worker the
traceback of a function. PySpark asks the JVM for such text only when somebody wants to read it, so
it is cleaned there: in the methods that return it, of its exceptions and of Py4J's. What Python
tells the JVM of a batch that failed is cleaned before it goes there. PySpark has no hook for
either, so its methods are wrapped, once for the process, by :func:`install`.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .cleaning import cleaned, cleaned_error

_TEXT = ("__str__", "getMessage", "getMessageParameters", "getStackTrace")
_PROGRESS = ("json", "prettyJson", "description")
_CONTEXT = ("fragment", "callSite", "summary")
_CAPTURED = "pyspark.errors.exceptions.captured"
_CONNECT = "pyspark.errors.exceptions.connect"
_STREAMING = "pyspark.sql.streaming"
# Which methods of which classes return text that the JVM, a worker or a server wrote.
_SAYING = {
    "pyspark.errors.exceptions.base:PySparkException": _TEXT,
    f"{_CAPTURED}:CapturedException": _TEXT,
    f"{_CAPTURED}:PythonException": ("__str__",),
    f"{_CAPTURED}:SQLQueryContext": _CONTEXT,
    f"{_CAPTURED}:DataFrameQueryContext": _CONTEXT,
    "py4j.protocol:Py4JError": ("__str__",),
    "py4j.protocol:Py4JJavaError": ("__str__",),
    f"{_STREAMING}.listener:QueryTerminatedEvent": ("exception",),
    f"{_STREAMING}.listener:StreamingQueryProgress": _PROGRESS,
    f"{_STREAMING}.listener:SourceProgress": _PROGRESS,
    f"{_STREAMING}.listener:SinkProgress": _PROGRESS,
    f"{_STREAMING}.query:StreamingQuery": ("status",),
}
_SAYING_IN_CONNECT = {
    f"{_CONNECT}:SparkConnectGrpcException": _TEXT,
    f"{_CONNECT}:SQLQueryContext": _CONTEXT,
    f"{_CONNECT}:DataFrameQueryContext": _CONTEXT,
}
# Which attributes keep such text, where debuggers and reporters find it.
_KEEPING = {f"{_CAPTURED}:CapturedException": ("_desc", "_stackTrace")}
_KEEPING_IN_CONNECT = {
    f"{_CONNECT}:SparkConnectGrpcException": ("_message", "_messageParameters", "_stacktrace"),
}
# They print to the standard error, with the exception and its arguments.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def install(*, connect: bool = False) -> None:
    """Clean what PySpark and Py4J say of failures, and with *connect* its Spark Connect too."""
    from pyspark.logger import PySparkLogger

    for name in _LOGGERS:  # Of that class: as others, they would take no keywords.
        PySparkLogger.getLogger(name).addFilter(_clean_record)
    if connect:
        PySparkLogger.getLogger("pyspark.sql.connect.logging").addFilter(_is_quiet)
    for target, methods in (_SAYING | (_SAYING_IN_CONNECT if connect else {})).items():
        for method in methods:
            _wrap(_class(target), method, _saying)
    for target, attributes in (_KEEPING | (_KEEPING_IN_CONNECT if connect else {})).items():
        _wrap(_class(target), "__init__", functools.partial(_keeping, attributes))
    _wrap(_class("pyspark.sql.utils:ForeachBatchFunction"), "call", _raising)


def _class(target: str) -> Any:
    module, name = target.split(":")
    return getattr(import_module(module), name)


def _wrap(class_: Any, name: str, wrapped: Callable[[Any], Any]) -> None:
    original = getattr(class_, name, None)
    function = original.fget if isinstance(original, property) else original
    if function is None or hasattr(function, "cleans"):
        return
    replaced = wrapped(function)
    replaced.cleans = True
    setattr(class_, name, property(replaced) if isinstance(original, property) else replaced)


def _saying(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any) -> Any:
        return cleaned(original(self, *arguments))

    return method


def _keeping(attributes: tuple[str, ...], original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        for name in attributes:
            if hasattr(self, name):
                setattr(self, name, cleaned(getattr(self, name)))
        if isinstance(self, BaseException):
            self.args = cleaned(self.args)

    return method


def _raising(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any) -> Any:
        try:
            return original(self, *arguments)
        except Exception as error:
            self.error = cleaned_error(error)
            if self.error is error:
                raise
            raise self.error from None

    return method


def _clean_record(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None  # The text of the exception is the message.
    vars(record).update(cleaned(vars(record)))
    return True


def _is_quiet(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.INFO  # Below, requests with their options are printed.
