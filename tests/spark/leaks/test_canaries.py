from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from spark.leaks.canaries import Findings, random_text

CANARY, BEACON = random_text(), random_text()


@pytest.fixture
def findings() -> Findings:
    return Findings({"password": CANARY}, BEACON)


@pytest.mark.parametrize(
    "content",
    [
        f"password={CANARY}",
        quote(f"a b&password={CANARY}"),
        json.dumps({"pass\nword": f'"{CANARY}"'}),
        *(base64.b64encode(f"{before}{CANARY} after".encode()).decode() for before in ("", 1, 22)),
        CANARY.encode("utf-16-le").decode("latin-1"),
    ],
    ids=["plain", "url", "json", "base64", "base64 after 1", "base64 after 22", "utf-16"],
)
def test_a_canary_is_found_however_it_is_written(content: str, findings: Findings) -> None:
    findings.look("log", "line 1", content.encode())

    assert findings.hits["log"]["password"].where == "line 1"
    assert CANARY not in str(findings)
    assert findings.read == set()


def test_nothing_but_the_beacon_is_found_where_no_canary_is(findings: Findings) -> None:
    findings.look("log", "line 1", f"{random_text()} {BEACON}".encode())

    assert findings.hits == {"log": {}}
    assert findings.read == {"log"}
