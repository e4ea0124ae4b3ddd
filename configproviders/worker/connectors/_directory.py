"""A directory in any file system that Spark reads: :class:`Directory`."""

from __future__ import annotations

from typing import Any

from ...errors import UnsupportedOperation
from ...spark.redaction import active_session


class Directory:
    """A directory that need not be there, reached as the running Spark application reaches it."""

    def __init__(self, location: str) -> None:
        """Take a path or URL.

        Raises :class:`~configproviders.UnsupportedOperation` where no Spark application runs.
        """
        session = active_session(remote=False)
        if session is None:
            raise UnsupportedOperation("no Spark application runs, which could read a checkpoint")
        context: Any = session.sparkContext
        self._jvm = context._jvm
        self._root = self._jvm.org.apache.hadoop.fs.Path(location)
        self._files = self._root.getFileSystem(context._jsc.hadoopConfiguration())

    def names(self, name: str) -> list[str]:
        """Return what is in the directory *name*; nothing if it is not there."""
        path = self._path(name)
        if not self._files.exists(path):
            return []
        return [str(status.getPath().getName()) for status in self._files.listStatus(path)]

    def read(self, *names: str) -> str:
        """Return the text of the file that *names* lead to."""
        stream = self._files.open(self._path(*names))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def delete(self, name: str) -> None:
        """Delete *name*, a file or a directory with all that is in it, if it is there."""
        self._files.delete(self._path(name), True)  # noqa: FBT003  With all that is in it.

    def _path(self, *names: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, "/".join(names))
