"""Whether the file that ``-o`` names is one that the result is made from."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from ..errors import ConfigException, shorten
from ..plan import Location, LookupPlan
from ..provider import ConfigProvider


def refuse_output_among(
    plan: LookupPlan, providers: Mapping[str, ConfigProvider], output: str | None
) -> None:
    """Raise :class:`ConfigException` if *output* is a file that a lookup of *plan* reads."""
    if output in {None, "-"}:
        return
    for location in plan.lookups:
        if any(_is_read_from(each, output) for each in _files(providers, location)):
            place = f"{location.provider}:{shorten(location.path)}"
            raise ConfigException(f"-o {output!r} would write over what {place!r} is read from")


def is_same(output: str, source: str) -> bool:
    """Whether writing *output* replaces *source*, links followed."""
    try:
        return os.path.realpath(output) == os.path.realpath(source)
    except ValueError:  # Reading or writing it says why.
        return False


def _files(providers: Mapping[str, ConfigProvider], location: Location) -> Collection[str]:
    if location.provider not in providers:
        return ()
    try:
        return providers[location.provider].files(location.path)
    except Exception:  # noqa: BLE001  The border around a plugin; it may still resolve.
        return ()


def _is_read_from(source: str, output: str) -> bool:
    """Whether *output* is *source*, or is directly in it, or what a link in it leads to."""
    if is_same(output, source):
        return True
    try:
        inside = [entry.path for entry in os.scandir(source)]
    except (OSError, ValueError):  # It is no directory.
        return False
    folders = {os.path.dirname(os.path.abspath(output)), os.path.dirname(os.path.realpath(output))}
    return any(is_same(each, source) for each in folders) or any(
        is_same(output, each) for each in inside
    )
