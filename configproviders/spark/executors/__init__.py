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
  identity of its own; nothing but the names of settings and references leaves the driver.

The package ``configproviders`` has to be installed where the executors run.
"""

from __future__ import annotations

from .backend import BackendSecrets
from .driver import DriverSecrets
from .secret import Secret

__all__ = ["BackendSecrets", "DriverSecrets", "Secret"]
