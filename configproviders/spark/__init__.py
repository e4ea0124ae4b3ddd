"""Spark sessions, confs and options whose secrets stand in no config and on no command line.

::

    from configproviders.spark import create_session, resolve_options

    spark = create_session(SparkSession.builder.appName("job"), "job.properties")
    options = resolve_options({"password": "${file:/run/secrets/db.properties:password}"})
    spark.read.format("jdbc").options(**options).load()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data import Password as Password
    from .bulk.checks import check as check
    from .bulk.columns import resolve as resolve
    from .bulk.references import affected_by as affected_by
    from .bulk.references import references as references
    from .live.authentication import is_authentication_failure as is_authentication_failure
    from .live.configs import LiveConfigs as LiveConfigs
    from .live.configs import LiveOptions as LiveOptions
    from .live.streaming import restart_query as restart_query
    from .live.streaming import retrying as retrying
    from .live.streaming import run_query as run_query
    from .options import resolve_options as resolve_options
    from .routes import Route as Route
    from .routes import Way as Way
    from .routes import route as route
    from .session import create_session as create_session
    from .session import resolve_conf as resolve_conf

_MODULES = {
    "LiveConfigs": ".live.configs",
    "LiveOptions": ".live.configs",
    "Password": "..data",
    "Route": ".routes",
    "Way": ".routes",
    "affected_by": ".bulk.references",
    "check": ".bulk.checks",
    "create_session": ".session",
    "is_authentication_failure": ".live.authentication",
    "references": ".bulk.references",
    "resolve": ".bulk.columns",
    "resolve_conf": ".session",
    "resolve_options": ".options",
    "restart_query": ".live.streaming",
    "retrying": ".live.streaming",
    "route": ".routes",
    "run_query": ".live.streaming",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_MODULES)
