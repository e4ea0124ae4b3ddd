"""Values that went through here, kept out of what is said: text and exceptions are cleaned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..data import ConfigData
from ..known_values import KnownValues
from ..transformer import ConfigTransformerResult

_known = KnownValues()


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


def cleaned(said: Any) -> Any:
    """Return *said*, text or a structure with text in it, without the values that are known."""
    if isinstance(said, str):
        return clean(said)
    if isinstance(said, dict):
        return {name: cleaned(text) for name, text in said.items()}
    if isinstance(said, list | tuple):
        return type(said)(map(cleaned, said)) if type(said) in {list, tuple} else said
    return said


def cleaned_json(said: object) -> Any:
    """Return *said* as what JSON has, in keys and all without the values that are known."""
    if said is None or isinstance(said, bool | int | float):
        return said
    if isinstance(said, Mapping):
        return {clean(str(key)): cleaned_json(each) for key, each in said.items()}
    if isinstance(said, list | tuple | set | frozenset):
        return [cleaned_json(each) for each in said]
    try:
        return clean(str(said))
    except Exception:  # noqa: BLE001  Any code may stand in it.
        return type(said).__name__


def cleaned_error(error: BaseException) -> BaseException:
    """Return *error*, its causes and contexts included, without the values that are known.

    Texts among its arguments and notes are replaced in place, so that type and traceback stay. For
    an error that makes its text otherwise, another stands in its place that says its type.
    """
    chain = list(_chain(error))
    for each in chain:
        each.args = cleaned(each.args)
        if notes := getattr(each, "__notes__", None):
            each.__notes__ = [clean(note) for note in notes]
    instead = {id(each): _in_place_of(each) for each in chain if _shows(each)}
    for each in chain + list(instead.values()):
        hidden = each.__suppress_context__
        each.__cause__ = instead.get(id(each.__cause__), each.__cause__)
        each.__context__ = instead.get(id(each.__context__), each.__context__)
        each.__suppress_context__ = hidden
    return instead.get(id(error), error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            links = (each.__cause__, each.__context__, *getattr(each, "exceptions", ()))
            waiting += [linked for linked in links if linked is not None]


def _shows(error: BaseException) -> bool:
    text = str(error)
    return clean(text) != text


def _in_place_of(error: BaseException) -> BaseException:
    other = RuntimeError(f"{type(error).__name__}: {clean(str(error))}")
    other.__cause__, other.__context__ = error.__cause__, error.__context__
    other.__suppress_context__ = error.__suppress_context__
    return other.with_traceback(error.__traceback__)
