from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from configproviders.worker.connector import Connector
from configproviders.worker.errors import BadRequest, ConnectException
from configproviders.worker.plugins import Plugins, version_of

CLASS = """
from configproviders.worker.connector import Connector, Task
from subprocess import Popen
import os

class Work(Task):
    def run(self):
        pass

class {name}(Connector):
    type = "{type}"
    task_class = Work

class NoType(Connector):
    pass

class NoTask(Connector):
    type = "{type}"

def double(frame):
    return frame

TEXT = "text"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0].startswith("plugged"):
            del sys.modules[name]


def write(site: Path, module: str, text: str) -> None:
    file = site.joinpath(*module.split(".")).with_suffix(".py")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def install(site: Path, entry_points: str) -> None:
    folder = site / "plugged-1.5.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.5\n")
    (folder / "entry_points.txt").write_text(f"[configproviders.connectors]\n{entry_points}\n")


@pytest.fixture
def ticker(site: Path) -> Path:
    write(site, "plugged.clock", CLASS.format(name="TickerConnector", type="source"))
    install(site, "Tick = plugged.clock:TickerConnector")
    return site


@pytest.mark.parametrize(
    "name",
    [
        "Tick",
        "TickerConnector",
        "Ticker",
        "plugged.clock.TickerConnector",
        "plugged.clock.Ticker",
        " Ticker ",
    ],
)
@pytest.mark.usefixtures("ticker")
def test_an_installed_connector_has_the_names_that_kafka_gives_it(name: str) -> None:
    assert Plugins().find(name).__name__ == "TickerConnector"


@pytest.mark.usefixtures("ticker")
def test_installed_connectors_are_listed_with_those_that_ship() -> None:
    listed = Plugins().all()

    assert [
        (each.class_name, each.type) for each in listed if each.class_name.startswith("plugged")
    ] == [("plugged.clock.TickerConnector", "source")]
    assert "SparkPipelineConnector" in {each.name for each in listed}
    assert [each.type for each in listed] == sorted(each.type for each in listed)


def test_a_name_that_nothing_has_is_answered_with_what_there_is() -> None:
    with pytest.raises(BadRequest, match="did you mean 'JdbcSourceConnector'"):
        Plugins().find("JdbcSorceConnector")
    with pytest.raises(BadRequest):
        Plugins().find("")


def test_a_name_that_two_have_is_an_error_that_tells_them_apart(site: Path) -> None:
    for module in ("plugged.one", "plugged.two"):
        write(site, module, CLASS.format(name="Ticker", type="sink"))
    install(site, "One = plugged.one:Ticker\nTwo = plugged.two:Ticker")

    with pytest.raises(BadRequest, match=r"plugged\.one\.Ticker or plugged\.two\.Ticker"):
        Plugins().find("Ticker")
    assert Plugins().find("plugged.two.Ticker").__module__ == "plugged.two"
    assert Plugins().find("One").__module__ == "plugged.one"


def test_one_that_cannot_be_imported_is_left_out_and_logged_once(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(site, "plugged.broken", "import plugged_nothing")
    write(site, "plugged.ended", "raise SystemExit")
    write(site, "plugged.clock", CLASS.format(name="Ticker", type="source"))
    install(
        site,
        "A = plugged.broken:A\nB = plugged.ended:B\nC = plugged.clock:C\nD = plugged.clock:Ticker\n"
        "E = plugged.clock:NoType\nF = plugged.clock:double",
    )
    plugins = Plugins()

    listed = [plugins.all(), plugins.all()]

    assert [[each.name for each in found if each.name in "ABCDEF"] for found in listed] == [
        ["D"],
        ["D"],
    ]
    logged = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    ours = [each for each in logged if each.split()[1] in set("ABCDEF")]
    assert sorted(ours) == [f"connector {name} is left out" for name in "ABCEF"]
    with pytest.raises(ConnectException, match="plugged_nothing"):
        plugins.find("A")


@pytest.mark.parametrize("allowed", ["plugged.clock", "plugged", " plugged "])
@pytest.mark.usefixtures("ticker")
def test_code_of_an_allowed_module_or_package_is_found(allowed: str) -> None:
    plugins = Plugins([allowed])

    assert plugins.find("plugged.clock:TickerConnector").__name__ == "TickerConnector"
    assert plugins.function("plugged.clock:double")(3) == 3


@pytest.mark.parametrize(
    "name",
    [
        "plugged.clock:TickerConnector",
        "plugged_evil:Ticker",
        "plugged.clockwork:Ticker",
        "plugged.clock.:Ticker",
        ".plugged.clock:Ticker",
        "plugged.clock/../evil:Ticker",
        "plugged.clock:Work.run",
        "plugged.clock:os.system",
        "plugged.clock:",
        ":Ticker",
        ":",
        "os:system",
    ],
)
def test_nothing_is_imported_that_is_not_allowed(site: Path, name: str) -> None:
    for module in ("plugged.clock", "plugged.clockwork", "plugged_evil"):
        write(site, module, "raise BaseException('imported')")
    plugins = Plugins(["plugged.cloc", "plugged.clock.hand", "plugge", "", " "])

    with pytest.raises(BadRequest):
        plugins.find(name)
    with pytest.raises(BadRequest):
        plugins.function(name)
    assert not {each for each in sys.modules if each.startswith("plugged")}


@pytest.mark.parametrize("attribute", ["Popen", "os", "Connector", "TEXT"])
@pytest.mark.usefixtures("ticker")
def test_what_an_allowed_module_has_imported_itself_is_not_allowed_by_that(attribute: str) -> None:
    with pytest.raises(BadRequest):
        Plugins(["plugged"]).function(f"plugged.clock:{attribute}")


@pytest.mark.usefixtures("ticker")
def test_what_is_no_connector_is_refused() -> None:
    plugins = Plugins(["plugged"])

    with pytest.raises(BadRequest, match="not a Connector class"):
        plugins.find("plugged.clock:double")
    with pytest.raises(ConnectException, match="does not say its type"):
        plugins.find("plugged.clock:NoType")
    with pytest.raises(ConnectException, match="has no task_class"):
        plugins.find("plugged.clock:NoTask")
    with pytest.raises(ConnectException, match="cannot import"):
        plugins.find("plugged.clock:Missing")


def test_a_version_that_cannot_be_told_is_undefined() -> None:
    class Broken(Connector):
        @classmethod
        def version(cls) -> str:
            raise OSError

    assert version_of(Broken) == "undefined"
