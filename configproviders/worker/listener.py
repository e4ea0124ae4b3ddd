"""Where the REST API listens: ``http://127.0.0.1:8083``, as Kafka Connect writes it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_LISTENER = re.compile(
    r"(?P<scheme>[a-z]+)://(?:\[(?P<v6>[0-9a-f:.%]*)\]|(?P<host>[\w.-]*)):([0-9]+)"
)
_PORTS = 65535


@dataclass(frozen=True, slots=True)
class Listener:
    """A host and a port of it; an empty host is every interface, port 0 any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Listener:
        """Read ``http://host:port``; raise ``ValueError``, without the text, for anything else."""
        found = _LISTENER.fullmatch(text.strip().lower().removesuffix("/"))
        if not found or int(found[4]) > _PORTS:
            raise ValueError("write http://host:port, and more of them after commas")
        if found["scheme"] == "https":
            raise ValueError("https is not served here: put a proxy in front of an http listener")
        if found["scheme"] != "http":
            raise ValueError("there is no such protocol: write http://host:port")
        return cls(found["v6"] or found["host"] or "", int(found[4]))

    def __str__(self) -> str:
        return self.url

    @property
    def url(self) -> str:
        """The URL for who is on the same machine."""
        host = self.host or "127.0.0.1"
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of the same machine reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def listeners(text: str) -> tuple[Listener, ...]:
    """Read listeners with commas between; raise ``ValueError`` as :meth:`Listener.parse`."""
    return tuple(Listener.parse(part) for part in text.split(",") if part.strip())
