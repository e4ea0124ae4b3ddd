"""What Spark says of its failures, without the values that went through here.

A driver that is refused may quote the URL it was given, a parser the statement, a Python worker the
traceback of a function. PySpark asks the JVM for such text only when somebody wants to read it, so
it is cleaned there: in the methods that return it, of its exceptions and of Py4J's. They are
wrapped once for the process, by :func:`install`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from ..data import ConfigData
from ..known_values import KnownValues
from ..transformer import ConfigTransformerResult

_known = KnownValues()
_TEXT = ("__str__", "getMessage", "getMessageParameters")
_CONTEXT = ("fragment", "callSite", "summary")
_CAPTURED = "pyspark.errors.exceptions.captured"
# Which methods of which classes return text that the JVM, a worker or a server wrote.
_SAYING = {
    "pyspark.errors.exceptions.base:PySparkException": _TEXT,
    f"{_CAPTURED}:CapturedException": _TEXT,
    f"{_CAPTURED}:PythonException": ("__str__",),
    f"{_CAPTURED}:SQLQueryContext": _CONTEXT,
    f"{_CAPTURED}:DataFrameQueryContext": _CONTEXT,
    "py4j.protocol:Py4JError": ("__str__",),
    "py4j.protocol:Py4JJavaError": ("__str__",),
}
_SAYING_IN_CONNECT = {
    "pyspark.errors.exceptions.connect:SparkConnectGrpcException": ("getMessage", "getStackTrace"),
}


def remember(values: Iterable[str]) -> None:
    """Have *values* cleaned from now on, in this process."""
    _known.add(values)


def remember_result(result: ConfigTransformerResult[str]) -> None:
    """Have every value that *result* was made of cleaned from now on."""
    for location, keys in result.plan.lookups.items():
        answer = result.answers.get(location)
        if isinstance(answer, ConfigData):
            remember(answer.data[key] for key in keys if key in answer.data)


def clean(text: str) -> str:
    """Return *text* without the values that are known; see :class:`KnownValues`."""
    return _known.clean(text)


def cleaned_error(error: BaseException) -> BaseException:
    """Return *error*, its causes and contexts included, without the values that are known.

    Texts among its arguments and notes are replaced in place, so that type and traceback stay. For
    an error that makes its text otherwise, another stands in its place that says its type.
    """
    chain = list(_chain(error))
    for each in chain:
        each.args = tuple(_cleaned(argument) for argument in each.args)
        if notes := getattr(each, "__notes__", None):
            each.__notes__ = [clean(note) for note in notes]
    instead = {id(each): _in_place_of(each) for each in chain if _shows(each)}
    for each in chain + list(instead.values()):
        hidden = each.__suppress_context__
        each.__cause__ = instead.get(id(each.__cause__), each.__cause__)
        each.__context__ = instead.get(id(each.__context__), each.__context__)
        each.__suppress_context__ = hidden
    return instead.get(id(error), error)


def install(*, connect: bool = False) -> None:
    """Clean what the exceptions of PySpark and Py4J say, those of Spark Connect with *connect*."""
    for target, methods in (_SAYING_IN_CONNECT if connect else _SAYING).items():
        module, name = target.split(":")
        class_ = getattr(import_module(module), name)
        for method in methods:
            _wrap(class_, method, _saying)
    if not connect:
        _wrap(import_module(_CAPTURED).CapturedException, "__init__", _keeping)


def _wrap(class_: Any, method: str, wrapped: Callable[[Any], Any]) -> None:
    original = getattr(class_, method)
    if not hasattr(original, "cleans"):
        replaced = wrapped(original)
        replaced.cleans = True
        setattr(class_, method, replaced)


def _saying(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any) -> Any:
        return _cleaned(original(self, *arguments))

    return method


def _keeping(original: Callable[..., None]) -> Callable[..., None]:
    """Have an exception keep clean text too, which debuggers and reporters show."""

    @functools.wraps(original)
    def method(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        self._desc, self._stackTrace = clean(self._desc), clean(self._stackTrace)

    return method


def _cleaned(said: Any) -> Any:
    if isinstance(said, str):
        return clean(said)
    if isinstance(said, dict):
        return {name: _cleaned(text) for name, text in said.items()}
    return said


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            links = (each.__cause__, each.__context__)
            waiting += [linked for linked in links if linked is not None]


def _shows(error: BaseException) -> bool:
    text = str(error)
    return clean(text) != text


def _in_place_of(error: BaseException) -> BaseException:
    other = RuntimeError(f"{type(error).__name__}: {clean(str(error))}")
    other.__cause__, other.__context__ = error.__cause__, error.__context__
    other.__suppress_context__ = error.__suppress_context__
    return other.with_traceback(error.__traceback__)
