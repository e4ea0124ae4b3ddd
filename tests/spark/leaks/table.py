"""The table of the README: which surfaces show how many of the secrets.

``PYTHONPATH=tests python -m spark.leaks.table`` runs both jobs on a cluster of its own, at DEBUG,
and prints it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from spark.leaks.canaries import Findings
from spark.leaks.surfaces import Surface, surfaces


def table(plain: Findings, ours: Findings) -> str:
    """Return a row for each surface of a cluster that shows a secret, and a line on the others."""
    each = surfaces(cluster=True)
    shown = [one for one in each if plain.hits[one.name] or ours.hits[one.name]]
    clean = [one.name for one in each if one not in shown]
    lines = [
        "| surface | plain PySpark | configproviders |",
        "|---|---|---|",
        *_rows([one for one in shown if not one.own], plain, ours),
        *_rows([one for one in shown if one.own], plain, ours),
        "",
        f"Clean with both: {'; '.join(clean)}.",
    ]
    return "\n".join(lines)


def _rows(shown: list[Surface], plain: Findings, ours: Findings) -> Iterator[str]:
    for one in shown:
        reason = f": {one.own}" if one.own and ours.hits[one.name] else ""
        yield f"| {one.name} | {_count(plain, one.name)} | {_count(ours, one.name)}{reason} |"


def _count(findings: Findings, surface: str) -> str:
    hits = len(findings.hits[surface])
    return f"{hits} of {len(findings.canaries)}" if hits else "none"


def main() -> None:
    """Run both jobs; print the table."""
    from servers.postgres import postgres
    from spark.leaks.run import run_job

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with postgres() as database:
        plain, ours = (
            run_job(program, database, level="debug", cluster=True).findings
            for program in ("job_plain", "job_ours")
        )
    print(table(plain, ours))  # noqa: T201  It is a program.


if __name__ == "__main__":
    main()
