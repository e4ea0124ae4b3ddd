"""Which JDBC driver speaks to a database: :func:`driver`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def driver(spark: SparkSession, url: str) -> str:
    """Return the class of the driver that takes *url*, or nothing.

    Java finds drivers by itself only where it was started with them, and not those that came by
    ``spark.jars``; so all that declare themselves are asked, as Java does.
    """
    jvm: Any = spark.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    declared = jvm.java.util.ServiceLoader.load(
        jvm.java.lang.Class.forName("java.sql.Driver"), loader
    ).iterator()
    while declared.hasNext():
        each = declared.next()
        if each.acceptsURL(url):
            return str(each.getClass().getName())
    return ""
