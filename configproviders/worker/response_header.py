"""Headers that every answer gets: Kafka Connect's ``response.http.headers.config``."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

_HEADER = re.compile(
    r"(set|add|setDate|addDate)[ \t]+([!#$%&'*+.^`|~\w-]+)[ \t]*:[ \t]*(.*)", re.ASCII
)
_TEXT = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class ResponseHeader:
    """One header. ``set`` takes the place of others of its name, ``add`` comes besides them.

    The value of ``setDate`` and ``addDate`` is a number of milliseconds from now.
    """

    action: str
    name: str
    value: str

    @classmethod
    def parse(cls, text: str) -> ResponseHeader:
        """Read ``set X-Frame-Options: DENY``; raise ``ValueError``, without the text."""
        found = _HEADER.fullmatch(text.strip())
        if not found:
            raise ValueError(
                "write [set|add|setDate|addDate] Name: value, in double quotes if it has a comma"
            )
        action, name, value = found.groups()
        if action.endswith("Date") and not re.fullmatch("-?[0-9]{1,15}", value):
            raise ValueError(f"after {action} write a number of milliseconds")
        return cls(action, name, value)


def response_headers(text: str) -> tuple[ResponseHeader, ...]:
    """Read headers with commas between; raise ``ValueError`` as :meth:`ResponseHeader.parse`."""
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise ValueError("write it in one line") from None
    return tuple(ResponseHeader.parse(part) for part in parts if part.strip())
