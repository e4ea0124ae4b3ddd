"""An LDAP server of the tests' own: OpenLDAP's slapd with one user."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from servers.processes import LOOPBACK, accepts, free_port, program, run, serving

_SBIN = ("/usr/sbin", "/usr/local/sbin", "/usr/local/libexec")
_SUCCESS, _INVALID_CREDENTIALS = 0, 49  # Result codes of RFC 4511.

_CONF = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {place}/slapd.pid
database mdb
suffix dc=example,dc=org
directory {place}
dbnosync
"""
_ENTRIES = """\
dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=orders,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: orders
cn: orders
sn: orders
userPassword: {password}
"""


@dataclass(frozen=True, slots=True)
class Ldap:
    """Where the server is, and the one user whom it knows."""

    port: int
    users: str = "ou=people,dc=example,dc=org"
    user: str = "orders"
    password: str = field(default="correct-horse", repr=False)

    @property
    def url(self) -> str:
        """Where Vault finds it."""
        return f"ldap://{LOOPBACK}:{self.port}"

    def valid(self, user: str, password: str) -> bool:
        """Try to log in with a simple bind; raise :class:`OSError` for an odd answer."""
        name, secret = f"uid={user},{self.users}".encode(), password.encode()
        bind = _tagged(0x60, b"\x02\x01\x03" + _tagged(0x04, name) + _tagged(0x80, secret))
        with socket.create_connection((LOOPBACK, self.port), timeout=10) as connection:
            connection.sendall(_tagged(0x30, b"\x02\x01\x01" + bind))
            answer = connection.recv(4096)
        code = answer[answer.index(b"\x0a\x01") + 2]
        if code not in {_SUCCESS, _INVALID_CREDENTIALS}:
            raise OSError(f"slapd answered a bind with result code {code}")
        return code == _SUCCESS


@contextmanager
def ldap(directory: Path | None = None) -> Iterator[Ldap]:
    """Run a server in *directory*, by default one that is removed afterwards; stop it at the end.

    It runs as whoever runs the tests.
    """
    slapd = program("slapd", *_SBIN, package="slapd")
    slapadd = program("slapadd", *_SBIN, package="slapd")
    with tempfile.TemporaryDirectory(dir=directory) as place:
        server = Ldap(free_port())
        conf, entries = Path(place, "slapd.conf"), Path(place, "entries.ldif")
        conf.write_text(_CONF.format(place=place))
        entries.write_text(_ENTRIES.format(password=server.password))
        run([slapadd, "-f", str(conf), "-l", str(entries)])
        command = [slapd, "-d", "0", "-h", server.url, "-f", str(conf)]
        with serving(command, Path(place, "log")) as process:
            process.wait_until(lambda: accepts(server.port))
            yield server


def _tagged(tag: int, content: bytes) -> bytes:
    """Return *content* as BER does, which is short enough here for a length of one byte."""
    return bytes([tag, len(content)]) + content
