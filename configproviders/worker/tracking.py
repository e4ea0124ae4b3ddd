"""Configs that a connector made for its tasks, with references in the place of values again.

Kafka Connect puts back the references of a key that has the same name in the connector's config; a
value that was copied to another key is written down in clear. Here the values themselves are looked
for: :func:`turn_back`.

What is found may be a secret that the connector handed on, or other text that is the same by
chance: the user ``postgres`` in ``org.postgresql.Driver``. Both are hidden; but only what stands by
itself, and not within a word, is resolved again when the secret has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import UnresolvedError
from ..known_values import REDACTED, spellings
from ..reference import Reference
from ..spark import cleaning
from ..transformer import (
    ConfigTransformer,
    ConfigTransformerResult,
    explain,
    unresolved_among,
    values_as_typed,
)

_LEAST = 8  # Characters; a shorter value stands in any text by chance.
_WITHIN_A_WORD = re.compile(r"(?<=\w)(?=\w)")
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tracked:
    """The config of a task without the values that references gave.

    ``shown`` is for everybody: references where they can be put back, else Spark's mark of what is
    redacted. ``template`` is what :meth:`resolve` starts from: the pieces of each text, references
    and other text. A piece that is text may look like a reference, or hold a value, and is taken
    as it is.
    """

    shown: dict[str, str]
    template: Mapping[str, tuple[str | Reference, ...]] = field(repr=False)

    def resolve(self, transformer: ConfigTransformer) -> dict[str, str]:
        """Return the config with the values of now, which are cleaned from all that is said.

        Raises :class:`~configproviders.UnresolvedError` with every reference that has no value.
        """
        plan = transformer.plan({key: _asked(pieces) for key, pieces in self.template.items()})
        answers = transformer.fetch(plan)
        if lost := unresolved_among(explain(plan, answers)):
            raise UnresolvedError(lost) from lost[0].error
        values = values_as_typed(plan, answers)
        cleaning.remember(
            values[each.reference[:2]][each.reference.key]  # By provider and path.
            for each in plan.uses()
        )
        return {key: _joined(pieces, values) for key, pieces in self.template.items()}


def turn_back(
    task_config: Mapping[str, str], raw: Mapping[str, str], result: ConfigTransformerResult[str]
) -> Tracked:
    """Return *task_config*, which a connector made from *result*, without values.

    *result* is that of resolving *raw*, the connector's config. A text that is the same under the
    same key is that of *raw*. In other texts the values are looked for, also as other programs
    write them (in a URL, in JSON); these can be hidden but not put back. A value of fewer than
    eight characters is looked for under its own key; elsewhere it is hidden if it is the whole
    text, which stays as it is. What was typed in *raw* under any key is shown as it is, unless it
    is a value as a whole: it says no more than everybody sees.
    """
    found = list(_values(result))
    typed = {text for key, text in raw.items() if key not in result.plan.references}
    typed -= {value.text for value in found}
    template: dict[str, tuple[str | Reference, ...]] = {}
    shown: dict[str, str] = {}
    for key, text in task_config.items():
        if text == result.data.get(key):
            template[key] = _pieces(raw[key], result.plan.references.get(key, ()))
            shown[key] = raw[key]
        elif text in typed:
            template[key], shown[key] = (text,), text
        else:
            template[key], shown[key] = _turned_back(text, key, found)
    return Tracked(shown, template)


class _Value(NamedTuple):
    config_key: str
    reference: Reference
    text: str
    forms: frozenset[str]  # As other programs write it, and as it is.


def _values(result: ConfigTransformerResult[str]) -> Iterator[_Value]:
    values = values_as_typed(result.plan, result.answers)
    for use in result.plan.uses():
        if text := values.get(use.reference[:2], {}).get(use.reference.key):
            yield _Value(use.config_key, use.reference, text, frozenset(spellings(text)))


def _pieces(text: str, references: Iterable[Reference]) -> tuple[str | Reference, ...]:
    pieces: list[str | Reference] = []
    end = 0
    for each in references:
        pieces += [text[end : each.start], each]
        end = each.start + len(each.text)
    return (*pieces, text[end:])


def _turned_back(
    text: str, key: str, values: Iterable[_Value]
) -> tuple[tuple[str | Reference, ...], str]:
    sought: dict[str, _Value] = {}
    for value in sorted(values, key=lambda each: each.config_key != key):  # Its own ones first.
        sought.setdefault(value.text, value)
    if whole := sought.get(text):
        is_own = len(text) >= _LEAST or whole.config_key == key  # Else it may be so by chance.
        return (whole.reference if is_own else text,), whole.reference.text
    within = [
        each for each in sought.values() if len(each.text) >= _LEAST or each.config_key == key
    ]
    plain = {span: each.reference for each in within for span in _spans(text, each.text)}
    spans = {span for each in within for form in each.forms for span in _spans(text, form)}
    pieces: list[str | Reference] = []
    shown, end = "", 0
    for start, stop in _merged(spans):
        reference = plain.get((start, stop))
        if _WITHIN_A_WORD.match(text, start) or _WITHIN_A_WORD.match(text, stop):
            reference = None
        pieces += [text[end:start], reference or text[start:stop]]
        shown += text[end:start] + (reference.text if reference else REDACTED)
        end = stop
    return (*pieces, text[end:]), shown + text[end:]


def _spans(text: str, sought: str) -> Iterator[_Span]:
    start = text.find(sought)
    while start >= 0:
        yield start, start + len(sought)
        start = text.find(sought, start + 1)


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    """Return *spans* in order, those that overlap as one."""
    merged: list[_Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged


def _asked(pieces: Iterable[str | Reference]) -> str:
    return "".join(each.text for each in pieces if isinstance(each, Reference))


def _joined(
    pieces: Sequence[str | Reference], values: Mapping[tuple[str, str], Mapping[str, str]]
) -> str:
    return "".join(
        each if isinstance(each, str) else values[each.provider, each.path][each.key]
        for each in pieces
    )
