"""Spark sessions, confs and options whose secrets stand in no config and on no command line.

::

    from configproviders.spark import create_session, resolve_options

    spark = create_session(SparkSession.builder.appName("job"), "job.properties")
    options = resolve_options({"password": "${file:/run/secrets/db.properties:password}"})
    spark.read.format("jdbc").options(**options).load()
"""

from __future__ import annotations

from .options import resolve_options
from .session import create_session, resolve_conf

__all__ = ["create_session", "resolve_conf", "resolve_options"]
