"""Says all that is wrong with a connector's config, and no value: :class:`Validation`."""

from __future__ import annotations

import logging
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ..config_def import ConfigDef, ConfigKey
from ..data import Password, SecretText
from ..errors import printable, shorten
from ..known_values import KnownValues
from ..reference import substitute
from ..spark import cleaning
from ..transformer import ConfigTransformer, explain, unresolved_among, values_as_typed
from .config_infos import ConfigInfo, ConfigInfos, definitions, with_framework, written
from .connector import Connector
from .connector_keys import CONNECTOR_CLASS, CONNECTOR_DEF, FUNCTION, refused
from .errors import ConnectException
from .plugins import Plugins

_logger = logging.getLogger(__name__)
_CLASS = CONNECTOR_CLASS.name
_SQL = "spark.sql."
_NULL = "Null value can not be supplied as the configuration value"

RefusedConfs = Callable[[Collection[str]], Mapping[str, str]]
"""Takes keys of Spark's confs, and says of those that a session cannot set why, by key."""

_Messages = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class _Resolved:
    data: dict[str, str] = field(repr=False)
    secret: Collection[str]
    messages: _Messages
    known: KnownValues


class Validation:
    """Validates connectors' configs: each setting by its definition, then the connector itself.

    Thread-safe if the providers are. References are resolved anew each time, so that it is values
    that are validated; what is said holds the references, never the values.
    """

    def __init__(
        self,
        plugins: Plugins,
        transformer: ConfigTransformer,
        refused_confs: RefusedConfs | None = None,
    ) -> None:
        """Find classes among *plugins* and values with *transformer*.

        *refused_confs* is asked about ``spark.sql.*`` keys.
        """
        self._plugins = plugins
        self._transformer = transformer
        self._refused_confs = refused_confs

    def validate(self, config: Mapping[str, str | None]) -> ConfigInfos:
        """Return each setting of *config* with what is wrong with it.

        Nothing is raised, whatever stands in *config* and whatever providers and plugins do.
        """
        messages = self._refused(config)
        given = {key: text for key, text in config.items() if text is not None}
        accepted = {key: text for key, text in given.items() if key not in messages}
        resolved = _resolve(accepted, self._transformer)
        messages |= resolved.messages
        connector = self._find(resolved.data.get(_CLASS, ""), messages)
        keys = with_framework(connector.config_def, CONNECTOR_DEF) if connector else CONNECTOR_DEF
        unread = _ask(connector, lambda: keys.errors(resolved.data, resolved.secret))
        unread = {key: texts for key, texts in unread.items() if key not in messages}
        messages |= unread
        messages |= self._refused_functions(keys, resolved.data)
        if connector and not messages:
            messages = _ask(connector, lambda: connector().validate(resolved.data))
        elif connector:
            with suppress(Exception):  # It may count on each setting being right by itself.
                more = connector().validate(resolved.data)
                messages = {key: _list(texts) for key, texts in more.items()} | messages
        clean = resolved.known.clean
        own = config.keys() | {each.name for each in keys}
        cleaned = {  # A connector may say something of other keys too.
            key if key in own else clean(key): tuple(map(clean, each))
            for key, each in messages.items()
        }
        return ConfigInfos(given.get(_CLASS, ""), tuple(_infos(keys, given, unread, cleaned)))

    def _refused(self, config: Mapping[str, str | None]) -> _Messages:
        found = {key: _NULL for key, text in config.items() if text is None} | refused(config)
        confs = [key for key in config if key.startswith(_SQL) and key not in found]
        if confs and self._refused_confs:
            found |= self._refused_confs(confs)
        return {key: [message] for key, message in found.items()}

    def _refused_functions(self, keys: ConfigDef, config: Mapping[str, str]) -> _Messages:
        found = {}
        for key in keys:
            if key.type is FUNCTION and (name := config.get(key.name)):
                try:
                    self._plugins.function(name)
                except ConnectException as error:
                    found[key.name] = [str(error)]
        return found

    def _find(self, name: str, messages: _Messages) -> type[Connector] | None:
        if not name or _CLASS in messages:
            return None
        try:
            return self._plugins.find(name)
        except ConnectException as error:
            messages[_CLASS] = [str(error)]
            return None


def _resolve(texts: Mapping[str, str], transformer: ConfigTransformer) -> _Resolved:
    plan = transformer.plan(texts)
    answers = transformer.fetch(plan)
    messages: defaultdict[str, list[str]] = defaultdict(list)
    for each in unresolved_among(explain(plan, answers)):
        typed = printable(shorten(each.reference.text))
        messages[each.config_key].append(f"{typed}: {printable(str(each.error))}")
    values = values_as_typed(plan, answers)
    known = KnownValues()
    references = [use.reference for use in plan.uses()]
    found = [values.get(each[:2], {}).get(each.key, "") for each in references]
    known.add(found)
    cleaning.remember(found)  # Plugins log too.
    data, _ = substitute(texts, plan.references, values)
    data |= {key: SecretText(data[key]) for key in plan.references.keys() & data.keys()}
    return _Resolved(data, plan.references.keys(), dict(messages), known)


def _ask(
    connector: type[Connector] | None, question: Callable[[], Mapping[str, Collection[str]]]
) -> _Messages:
    """Return the answer to *question*, or that *connector* fails to give one."""
    try:
        answer = question()
        return {key: _list(texts) for key, texts in answer.items() if texts}
    except Exception as error:  # noqa: BLE001  The border around a plugin.
        name, kind = getattr(connector, "__qualname__", ""), type(error).__name__
        frames = "".join(traceback.format_tb(error.__traceback__))
        _logger.error(  # noqa: TRY400  The text of the error may hold a value.
            "%s fails to validate a config: %s\n%s", name, kind, frames
        )
        return {_CLASS: [f"{name} fails to validate the config: it raised {kind}, see the log"]}


def _list(texts: Collection[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(map(str, texts))


def _infos(
    keys: ConfigDef,
    given: Mapping[str, str],
    unread: Collection[str],
    messages: Mapping[str, tuple[str, ...]],
) -> Iterator[ConfigInfo]:
    expanded = keys.expanded(given)
    defined = {key.name for key in expanded}
    for name, texts in messages.items():
        if name not in defined:
            yield ConfigInfo(name, None, None, (), texts)
    for key, definition in zip(expanded, definitions(expanded).values(), strict=True):
        value = None if key.name in unread else _value(key, given)
        offered = key.recommended or key.type.words
        yield ConfigInfo(key.name, definition, value, offered, messages.get(key.name, ()))


def _value(key: ConfigKey[object, object], given: Mapping[str, str]) -> str | None:
    typed = next((given[name] for name in key.names if name in given), None)
    if typed is None:
        return None if key.is_required else written(key.default)
    return Password.HIDDEN if key.type.kind == "PASSWORD" else typed
