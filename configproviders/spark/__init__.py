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
    from .options import resolve_options as resolve_options
    from .routes import Route as Route
    from .routes import Way as Way
    from .routes import route as route
    from .session import create_session as create_session
    from .session import resolve_conf as resolve_conf

_MODULES = {
    "Password": "..data",
    "Route": ".routes",
    "Way": ".routes",
    "affected_by": ".bulk.references",
    "check": ".bulk.checks",
    "create_session": ".session",
    "references": ".bulk.references",
    "resolve": ".bulk.columns",
    "resolve_conf": ".session",
    "resolve_options": ".options",
    "route": ".routes",
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
