"""A resolved config on its way out: rendered as text, or as an environment, and written whole."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress

from . import properties
from .errors import ConfigException

_PREFIX = ".resolve-config-"


def render(configs: Mapping[str, str], text_format: str) -> str:
    """Return *configs* as text in one of ``FORMATS``, in their own order."""
    return FORMATS[text_format](configs)


def environment(configs: Mapping[str, str]) -> dict[str, str]:
    """Return *configs* as environment variables.

    Names are upper-cased and their non-word characters become ``_``. Raises
    :class:`ConfigException` if two keys come to one name, or a value holds a NUL character.
    """
    names: dict[str, str] = {}
    for key, value in configs.items():
        name = re.sub(r"\W", "_", key, flags=re.ASCII).upper()
        if not name:
            raise ConfigException("an empty key makes no environment variable")
        if name in names:
            raise ConfigException(f"{names[name]!r} and {key!r} both become the variable {name}")
        if "\0" in value:
            raise ConfigException(f"{key}: a value with a NUL character fits no environment")
        encode(value)
        names[name] = key
    return {name: configs[key] for name, key in names.items()}


def encode(text: str) -> bytes:
    """Return *text* as UTF-8, and bytes that came from the environment as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        pass  # Its message holds the text.
    raise ConfigException("a value holds half a surrogate pair, which no UTF-8 text can")


def write(content: bytes, path: str) -> None:
    """Put *content* into the file at *path*, readable by its owner alone, or change nothing.

    A reader sees the old file or the new one. A link stays and what it leads to is replaced. What
    a process that was killed meanwhile left beside it is removed.
    Raises :class:`ConfigException` for what is not a regular file, and if the disk refuses.
    """
    temporary = None
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            raise ConfigException(f"cannot write {path!r}: it is not a regular file")
        directory = os.path.dirname(target)
        _remove_left_behind(directory)
        descriptor, temporary = _new_file(directory)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)  # While it is locked.
        temporary = None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a path holds no NUL character"
        raise ConfigException(f"cannot write {path!r}: {reason}") from error
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):  # A signal may come when it is in place already.
                os.unlink(temporary)


def _new_file(directory: str) -> tuple[int, str]:
    """Return a descriptor and the path of a new file, locked so that others see it is in use."""
    import fcntl
    import tempfile

    while True:
        descriptor, path = tempfile.mkstemp(prefix=_PREFIX, dir=directory)
        with suppress(OSError):  # Not all file systems have locks; there nobody removes it either.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # Another process took it for left behind before it was locked.


def _remove_left_behind(directory: str) -> None:
    """Remove the files of :func:`_new_file` whose processes are gone, and their locks with them."""
    import fcntl

    with suppress(OSError), os.scandir(directory) as entries:
        for path in [entry.path for entry in entries if entry.name.startswith(_PREFIX)]:
            with suppress(OSError), open(path, "rb", opener=_open_at_once) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _json(configs: Mapping[str, str]) -> str:
    import json

    return json.dumps(configs, indent=2, ensure_ascii=False) + "\n"


def _yaml(configs: Mapping[str, str]) -> str:
    import yaml

    # All in quotes: plain text may be a number or a word of meaning to another reader.
    text: str = yaml.safe_dump(
        dict(configs), default_style='"', width=float("inf"), allow_unicode=True, sort_keys=False
    )
    return text


def _env(configs: Mapping[str, str]) -> str:
    import shlex

    variables = environment(configs).items()
    if digit := [name for name, _ in variables if name[0].isdigit()]:
        raise ConfigException(f"no shell takes a variable that starts with a digit: {digit[0]}")
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables)


FORMATS: dict[str, Callable[[Mapping[str, str]], str]] = {
    "properties": properties.dumps,
    "json": _json,
    "yaml": _yaml,
    "env": _env,
    "spark": properties.dumps,
}
