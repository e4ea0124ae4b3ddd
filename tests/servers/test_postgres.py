from __future__ import annotations

import os
import socket
from pathlib import Path

import psycopg
import pytest
from servers.postgres import postgres

pytestmark = pytest.mark.postgres


def test_postgres_tells_who_may_log_in_and_ends_with_its_block(public_directory: Path) -> None:
    with postgres(public_directory) as server:
        with psycopg.connect(server.dsn(server.superuser, server.password)) as connection:
            connection.execute("CREATE ROLE orders LOGIN PASSWORD 'p@ss/word'")

        assert server.valid("orders", "p@ss/word")
        assert not server.valid("orders", "another")
        assert not server.valid("nobody", "p@ss/word")
        assert server.password not in repr(server)

    with pytest.raises(psycopg.OperationalError):
        server.valid("orders", "p@ss/word")
    with socket.create_server((server.host, server.port)):  # Its port is free again.
        assert os.listdir(public_directory) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="runs as whoever runs the tests, if not as root")
def test_a_directory_that_others_may_not_enter_is_named(public_directory: Path) -> None:
    public_directory.chmod(0o700)

    with (
        pytest.raises(PermissionError, match=f"may not enter '{public_directory}'"),
        postgres(public_directory),
    ):
        pass
