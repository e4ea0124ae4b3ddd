"""Configs as Spark users have them, resolved: the step that all of this package shares."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..config_file import read_configs
from ..provider import ConfigProvider
from ..reference import Reference, find
from ..registry import SETTING, open_providers, split_settings
from ..transformer import ConfigTransformer, ConfigTransformerResult
from .routes import route

Configs = Mapping[str, object] | str | os.PathLike[str]
"""Entries, or the path of a file that holds them."""

_SUBMITTED = f"spark.{SETTING}"
_SPARKS = {"system", "spark", "sparkconf", "hiveconf", "hivevar"}  # What Spark itself puts in.


def read_entries(configs: Configs | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the ``config.providers…`` entries of *configs*, and all the others, as text.

    Raises :class:`ConfigException` for a file that cannot be read.
    """
    if configs is None:
        return {}, {}
    if not isinstance(configs, Mapping):
        return split_submitted(read_configs(os.fspath(configs)))
    return split_submitted(as_text(configs))


def split_submitted(configs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split *configs*, where ``spark.config.providers…`` counts as ``config.providers…``."""
    return split_settings(
        {
            key.removeprefix("spark.") if key.startswith(_SUBMITTED) else key: text
            for key, text in configs.items()
        }
    )


def as_text(configs: Mapping[str, object]) -> dict[str, str]:
    """Write each value as Spark does: ``true`` for ``True``; a ``None`` is no entry."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in configs.items()
        if value is not None
    }


@contextmanager
def opened(
    settings: Mapping[str, str], providers: Mapping[str, ConfigProvider] | None
) -> Iterator[dict[str, ConfigProvider]]:
    """Open the providers that *settings* declare; the live ones of *providers* win, and stay open.

    If *providers* is ``None`` and there are no *settings*, they are ``file``, ``directory`` and
    ``env``.
    """
    live = dict(providers or {})
    if providers is not None and not settings:
        yield live
        return
    with open_providers(settings) as declared:
        yield {**declared, **live}


def resolve(
    entries: Mapping[str, str],
    settings: Mapping[str, str],
    providers: Mapping[str, ConfigProvider] | None,
    *,
    strict: bool,
    submitted: Mapping[str, str] | None = None,
) -> ConfigTransformerResult[str]:
    """Resolve *entries*, and what of *submitted* is ours, with the providers :func:`opened`."""
    with opened(settings, providers) as known:
        every = {**ours_among(submitted or {}), **entries}
        return ConfigTransformer(known).transform(every, strict=strict)


def ours_among(submitted: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of ``spark-submit`` with references, less what is Spark's own syntax."""
    return {
        key: text
        for key, text in submitted.items()
        if not all(_is_sparks(each, key) for each in find(text))
    }


def _is_sparks(reference: Reference, key: str) -> bool:
    if reference.path:
        return False
    # Where no secret may stand it is for Spark, which knows the environment too.
    return reference.provider in _SPARKS or (reference.provider == "env" and route(key).is_refused)
