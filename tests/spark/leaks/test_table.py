from __future__ import annotations

from spark.leaks.canaries import Findings, random_text
from spark.leaks.surfaces import surfaces
from spark.leaks.table import table


def test_a_row_says_how_many_secrets_a_surface_shows_and_what_is_the_program_s_own() -> None:
    canaries = {"one": random_text(), "two": random_text()}
    plain, ours = (Findings(canaries, random_text()) for _ in range(2))
    for findings in (plain, ours):
        for each in surfaces(cluster=True):
            findings.look(each.name, "", b"")
        findings.look("spark.conf.getAll", "", canaries["one"].encode())
    plain.look("SET", "", " ".join(canaries.values()).encode())

    rows = table(plain, ours).splitlines()

    assert rows[2:4] == [
        "| SET | 2 of 2 | none |",
        "| spark.conf.getAll | 1 of 2 | 1 of 2: what it was given, asked for by name |",
    ]
    assert "; checkpoints; " in rows[-1]
    assert "SET;" not in rows[-1]
