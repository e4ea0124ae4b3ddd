"""Hadoop's ``FileSystem`` objects, which keep the secret that they were opened with.

Hadoop keeps one for each scheme, authority and user, and whoever wants one gets that. So a secret
that was replaced in the configuration has no effect where one is open. To close it would break who
reads and writes through it. It is taken out of the cache instead: who wants one from then on gets
another, which takes the new secret, and what runs goes on with the old one, which is closed at the
end: a stream, or the event log, may hold it for life.

The cache of another JVM is out of reach. Where there are executors, jobs that start from then on
are told not to use it for the scheme (``fs.<scheme>.impl.disable.cache``), unless the configuration
says so or otherwise already. Each file of theirs is then read through a ``FileSystem`` of its own,
which takes time and memory; where secrets change often, let the file system fetch them itself
(S3A: ``fs.s3a.aws.credentials.provider``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

_log = logging.getLogger(__name__)

_SCHEMES = {"azure": ("abfs", "abfss", "wasb", "wasbs"), "s3a": ("s3a", "s3", "s3n")}
_TRIES = 5


def schemes(name: str) -> tuple[str, ...]:
    """Return the schemes that the entry *name* of Hadoop's configuration is for."""
    match name.split("."):
        case ["fs", scheme, _, *_]:
            return _SCHEMES.get(scheme, (scheme,))
        case ["google", *_]:
            return ("gs",)
        case ["dfs", *_]:
            return ("hdfs", "webhdfs", "swebhdfs")
    return ()


class FileSystems:
    """Those of one context that were taken out of the cache. Called by one thread at a time."""

    def __init__(self, context: Any) -> None:
        """Take a ``SparkContext`` of Python."""
        self._jvm = context._jvm
        self._hadoop = context._jsc.hadoopConfiguration()
        self._is_local = context.master.startswith("local")
        self._old: list[Any] = []

    def reopen(self, of: Iterable[str]) -> None:
        """Have those with one of the schemes *of* opened anew by who wants them from now on."""
        wanted = set(of)
        self._old += self._out_of_cache(wanted)
        for scheme in () if self._is_local else sorted(wanted):
            name = f"fs.{scheme}.impl.disable.cache"
            if self._hadoop.get(name) is None:
                self._hadoop.set(name, "true")
                _log.warning(
                    "%s is true from now on, since executors would keep the old secret", name
                )

    def close(self) -> None:
        """Close those that nobody can get any more."""
        from py4j.protocol import Py4JError

        for each in self._old:
            with suppress(Py4JError):  # Nobody uses it any more, whatever it says.
                each.close()
        self._old = []

    def _out_of_cache(self, wanted: set[str]) -> list[Any]:
        cache, remove = self._cache()
        out = []
        for key, file_system in self._cached(cache):
            if str(file_system.getUri().getScheme()) in wanted:
                remove(key, file_system)
                out.append(file_system)
        return out

    def _cache(self) -> tuple[Any, Any]:
        """Return the cache, and its own way to take one out, which excludes those who look."""
        reflect = self._jvm.java.lang.Class.forName
        field = reflect("org.apache.hadoop.fs.FileSystem").getDeclaredField("CACHE")
        field.setAccessible(True)
        cache = field.get(None)
        methods = {each.getName(): each for each in cache.getClass().getDeclaredMethods()}
        methods["remove"].setAccessible(True)

        def remove(key: Any, file_system: Any) -> None:
            arguments = self._jvm.java.util.ArrayList()
            arguments.add(key)
            arguments.add(file_system)
            methods["remove"].invoke(cache, arguments.toArray())

        return cache, remove

    def _cached(self, cache: Any) -> list[tuple[Any, Any]]:
        from py4j.protocol import Py4JJavaError

        field = cache.getClass().getDeclaredField("map")
        field.setAccessible(True)
        for left in reversed(range(_TRIES)):
            try:
                now = self._jvm.java.util.HashMap(field.get(cache))
            except Py4JJavaError:  # Somebody opened one meanwhile.
                if not left:
                    raise
        return [(key, now.get(key)) for key in now.keySet()]
