from __future__ import annotations

from servers.ldap import ldap
from servers.processes import accepts


def test_slapd_knows_its_one_user_and_ends_with_its_block() -> None:
    with ldap() as server:
        assert server.valid("orders", server.password)
        assert not server.valid("orders", "another")
        assert not server.valid("nobody", server.password)

    assert not accepts(server.port)
