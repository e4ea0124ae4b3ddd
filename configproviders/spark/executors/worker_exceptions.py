"""What a Python worker says of a function that failed, without the values that it was given.

The worker writes the traceback, with the message of the exception, to the JVM; from there it gets
into the logs of the executor and of the driver, the UI, the event log and the exception that the
user sees. A message that quotes a password (a database's "cannot connect to …", a ``KeyError``)
would carry it to all of them. The worker has no hook for that, so the function that writes it is
replaced, in this process alone, before it is given its first value.
"""

from __future__ import annotations

import functools
import struct
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from io import BytesIO, StringIO
from typing import IO, Any

from .. import cleaning

_WRITER = "handle_worker_exception"
_MARK, _FRAME = struct.Struct("!i"), struct.Struct("!ii")  # It means exception; with a length.


def clean() -> None:
    """Have the tracebacks that this process writes to the JVM cleaned, if it is such a worker."""
    # Modules took it under its name before; without a daemon, the worker's module is the main one.
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.partition(".")[0] == "pyspark":
            writer = vars(module).get(_WRITER)
            if writer is not None and not hasattr(writer, "cleans"):
                setattr(module, _WRITER, _cleaned(writer))


def _cleaned(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def write(e: BaseException, outfile: IO[bytes], *arguments: Any, **keywords: Any) -> None:
        written, said = BytesIO(), StringIO()
        with redirect_stderr(said):  # Where it says that it could not write.
            original(e, written, *arguments, **keywords)
        sys.stderr.write(cleaning.clean(said.getvalue()))
        frame = written.getvalue()
        if frame:  # What has no text the JVM would wait for without end.
            report = (
                frame[_FRAME.size :].decode("utf-8") or f"{type(e).__name__}: not to be written"
            )
            text = cleaning.clean(report).encode("utf-8")
            with suppress(OSError):  # As in the original: the JVM is gone.
                outfile.write(frame[: _MARK.size] + _MARK.pack(len(text)) + text)

    write.cleans = True  # type: ignore[attr-defined]  # So that it is not replaced again.
    return write
