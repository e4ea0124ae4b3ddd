"""A real server of Spark Connect: what its pages and its event log show of a client's options."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from configproviders.errors import UnsupportedOperation
from configproviders.spark import connect
from configproviders.testing import CANARY

PROGRAM = """
import json, sys, urllib.request, warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pyspark import SparkContext
from pyspark.sql import SparkSession
from configproviders.spark import create_session, resolve_options

warnings.simplefilter("ignore")  # The client cannot set what its server was started with.
builder = SparkSession.builder.remote("local[1]").config("spark.ui.port", "0").config(map={
    "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
    "spark.eventLog.dir": Path("events").absolute().as_uri()})
ours = "OURS" == Path("whose").read_text()
spark = create_session(builder) if ours else builder.getOrCreate()
secret = "${file:s.properties:key}" if ours else Path("s.properties").read_text().strip()[4:]
names = dict.fromkeys(["password", "myApiKey", "x.dsn"], secret)
with ThreadPoolExecutor(1) as thread:  # Where no session is active.
    options = thread.submit(resolve_options, names).result() if ours else names
read = spark.read.format("csv").options(**options).options(beacon="beacon-1").load("data.csv")
rows = read.count()
read.write.format("parquet").options(**options).mode("overwrite").save("out")
web = SparkContext._active_spark_context.uiWebUrl

def get(path):
    with urllib.request.urlopen(web + path) as answer:
        return answer.read().decode()

api = "/api/v1/applications"
app = f"{api}/{json.loads(get(api))[0]['id']}"
paths = ["/stages/", "/SQL/", "/connect/", f"{app}/stages",
    f"{app}/sql?details=true&planDescription=true"]
shown = {path.replace(app, "app"): get(path) for path in paths}
shown["SET"] = str(spark.sql("SET").collect())
spark.stop()
shown["event log"] = "".join(
    each.read_text() for each in Path("events").rglob("*") if each.is_file())
print(json.dumps({"rows": rows, "shown": shown}))
"""


@pytest.fixture
def show(in_a_process: Callable[..., str], tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Run the program with a client of ours, or of PySpark's alone; return what is shown where."""
    (tmp_path / "s.properties").write_text(f"key={CANARY}\n")
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "events").mkdir()

    def run(whose: str) -> dict[str, str]:
        (tmp_path / "whose").write_text(whose)
        out = json.loads(in_a_process(PROGRAM).splitlines()[-1])
        assert out["rows"] == 2
        shown: dict[str, str] = out["shown"]
        return shown

    return run


@pytest.mark.spark
def test_the_server_shows_no_option_that_holds_a_secret(
    show: Callable[[str], dict[str, str]],
) -> None:
    shown = show("OURS")

    assert "beacon-1" in shown["event log"]
    assert "beacon-1" in shown["/connect/"]
    assert [place for place, text in shown.items() if CANARY in text] == []


@pytest.mark.spark
@pytest.mark.skipif("SOAK" not in os.environ, reason="long; make test-long runs it")
def test_a_plain_client_has_them_shown(show: Callable[[str], dict[str, str]]) -> None:
    shown = show("THEIRS")

    places = [place for place, text in shown.items() if CANARY in text]
    assert {"event log", "/connect/", "app/stages"} <= set(places)


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("sc://spark.example.org", True),
        ("sc://spark.example.org/;use_ssl=true", False),
        ("sc://localhost", False),
        ("sc://[::1]:15002", False),
    ],
)
def test_options_go_over_no_network_in_the_clear(url: str, *, refused: bool) -> None:
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession(connection=DefaultChannelBuilder(url))  # It connects when it is used.

    if refused:
        with pytest.raises(UnsupportedOperation, match="without TLS, where others can"):
            connect.refuse_clear_text(session)
    else:
        connect.refuse_clear_text(session)
