"""Secrets that executors look up themselves: what travels in closures are references.

::

    from configproviders.spark.executors import DriverSecrets

    with DriverSecrets(spark, "job.properties") as secrets:
        password = secrets.secret("${vault:secret/db:password}")

        def write(rows):
            connection = connect(password=password.value())
            ...

        df.rdd.foreachPartition(write)

A :class:`Secret` may stand in a function for an RDD, a UDF, a pandas UDF, ``mapInArrow``, or in a
reader or writer of the Python Data Source API. There are two ways to its value:

* :class:`DriverSecrets`: executors ask the driver, which alone speaks to the backend, and once
  for all of them.
* :class:`BackendSecrets`: each Python process of an executor asks the backend itself, with an
  identity of its own; what leaves the driver are settings without secrets, and references.

The package ``configproviders`` has to be installed where the executors run. A process there loads
no more of it than its handles need, since with ``spark.python.worker.reuse`` off each task is one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .backend import BackendSecrets as BackendSecrets
    from .driver import DriverSecrets as DriverSecrets
    from .secret import Secret as Secret

_MODULES = {"BackendSecrets": ".backend", "DriverSecrets": ".driver", "Secret": ".secret"}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_MODULES)
