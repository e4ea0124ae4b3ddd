"""Who uses what: the references that lead to a place, however place and references are typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from .errors import ConfigException, UnknownProvider, shorten
from .path_options import split_any_options
from .plan import Location, LookupPlan, Use
from .provider import ConfigProvider
from .reference import find
from .registry import JAVA_CLASSES, SETTING, SHORT_NAMES, find_class

_VAULT, _KV_VERSION, _AUTO = "vault", "vault.kv.version", "auto"


def leading_to(
    place: str, texts: Iterable[str], providers: Mapping[str, ConfigProvider]
) -> set[str]:
    """Return those of *texts*, references as typed, that lead to *place*.

    *place* is ``provider:path`` or ``provider:path:key``, written as in a reference. Without a key
    all keys there are meant, and a reference without a key means all of them too. Both are taken
    for what *providers* understand by them (:meth:`ConfigProvider.locate`), but for options such
    as a version, and as typed if there is no such provider. Nobody is asked.

    Raises :class:`ConfigException` if *place* can mean nothing.
    """
    wanted = {(_without_options(use), use.key) for use in _meant(place, providers)}
    locations = {location for location, _ in wanted}
    whole = {location for location, key in wanted if not key}
    return {
        use.config_key
        for use in _uses(texts, providers)
        if _is_known(use)
        and (location := _without_options(use)) in locations
        and (location in whole or not use.key or (location, use.key) in wanted)
    }


def check_place(place: str, providers: Mapping[str, ConfigProvider]) -> None:
    """Raise :class:`ConfigException` if *place* can mean nothing, before texts are gathered."""
    _meant(place, providers)


def tracing_settings(
    settings: Mapping[str, str], place: str, live: Collection[str] = ()
) -> dict[str, str]:
    """Return provider *settings* with which no user of a secret at *place* is overlooked.

    If the provider of *place* is neither set up there nor among those that are *live*, and one of
    ours has its name, that one is meant. Whether ``secret/db`` and ``secret/data/db`` are one is
    a thing that Vault is asked, unless a setting says it. Here nobody is asked, so where none says
    it they are taken for one.
    """
    told = _with_ours(settings, place.partition(":")[0], live)
    for key, class_name in list(told.items()):
        if key.startswith(f"{SETTING}.") and JAVA_CLASSES.get(class_name, class_name) == _VAULT:
            prefix = f"{key.removesuffix('.class')}.param."
            says = [prefix + name for name in _kv_version_names()]
            if {settings.get(each, _AUTO).strip().lower() for each in says} == {_AUTO}:
                told = {each: text for each, text in told.items() if each not in says}
                told[prefix + _KV_VERSION] = "2"
    return told


def _with_ours(settings: Mapping[str, str], name: str, live: Collection[str]) -> dict[str, str]:
    listed = settings.get(SETTING, "")
    is_set_up = name in [each.strip() for each in listed.split(",")] or any(
        key.startswith(f"{SETTING}.{name}.") for key in settings
    )
    if is_set_up or name in live or name not in SHORT_NAMES:
        return dict(settings)
    return {**settings, SETTING: f"{listed},{name}", f"{SETTING}.{name}.class": name}


def _kv_version_names() -> Iterator[str]:
    for key in find_class(_VAULT).config_def:
        if key.name == _KV_VERSION:
            yield from (key.name, *(alias.name for alias in key.aliases))


def _meant(place: str, providers: Mapping[str, ConfigProvider]) -> list[Use]:
    """Return what *place* may mean: the grammar does not tell a path alone from a key alone."""
    texts = [f"${{{place}}}", f"${{{place}:}}"]
    if any([each.text for each in find(text)] != [text] for text in texts):
        raise ConfigException(
            f"{shorten(place)!r} is no place: write provider:path or provider:path:key"
        )
    uses = list(_uses(texts, providers))
    if meant := [use for use in uses if _is_known(use)]:
        return meant
    raise ConfigException(f"{shorten(place)!r}: {uses[0].error}") from uses[0].error


def _uses(texts: Iterable[str], providers: Mapping[str, ConfigProvider]) -> Iterator[Use]:
    return LookupPlan.of({text: text for text in texts}, providers).uses()


def _is_known(use: Use) -> bool:
    return use.error is None or isinstance(use.error, UnknownProvider)


def _without_options(use: Use) -> Location:
    try:
        return Location(use.location.provider, split_any_options(use.location.path)[0])
    except ConfigException:  # One odd path is no obstacle to all the others.
        return use.location
