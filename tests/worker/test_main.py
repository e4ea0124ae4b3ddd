"""The process of a worker, around a double of one."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from configproviders.worker.stores.sqlite import SqliteStore

PROGRAM = """
import os, sys, threading, time
from configproviders import ConfigException
from configproviders.spark.cleaning import remember
from configproviders.worker import __main__ as process

class Double:
    def start(self): print("start", flush=True)

    def begin(self):
        print("begin", flush=True)
        {begin}

    def close(self):
        print("close", flush=True)
        {close}

def app_that_says(word):
    async def app(scope, receive, send):
        if scope["path"] == "/wait":
            print("asked", flush=True)
            await __import__("asyncio").sleep(600)
        await send({{"type": "http.response.start", "status": 200, "headers": []}})
        await send({{"type": "http.response.body", "body": word + b" %d" % port}})
    return app

def assemble(config, bound):
    global port
    port = bound
    {assemble}
    return Double(), app_that_says(b"main"), app_that_says(b"admin")

ours = process.main
process.main = lambda argv: ours(argv, assemble)
process.run()
"""


class Process:
    """A worker's process, and the lines that it writes."""

    def __init__(self, directory: Path, config: str, program: Sequence[str]) -> None:
        (directory / "worker.properties").write_text(config)
        self._popen = subprocess.Popen(
            [sys.executable, *program, "worker.properties"],
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def children(self) -> list[int]:
        """Return the ids of the processes that it started."""
        parent = Path(f"/proc/{self._popen.pid}/task")
        return [int(pid) for each in parent.glob("*/children") for pid in each.read_text().split()]

    def line(self, word: str) -> str:
        """Return the next line that has *word* in it."""
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            if word in line:
                return line
        raise AssertionError(f"no {word!r}: {self._popen.communicate()}")

    def url(self) -> str:
        """Return where the API is."""
        return str(json.loads(self.line("the REST API is at"))["url"])

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        """Wait for the end; return the exit code and what else was written."""
        assert self._popen.stdout is not None
        out = self._popen.stdout.read()  # What it has in its buffer, communicate would not see.
        _, errors = self._popen.communicate(timeout=60)
        return self._popen.returncode, out, errors

    def kill(self) -> None:
        self._popen.kill()
        self._popen.communicate()


Start = Callable[..., Process]
ANY_PORT = "listeners=http://127.0.0.1:0\n"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start processes, which are ended afterwards."""
    started = []

    def begin(config: str = ANY_PORT, *, real: bool = False, **steps: str) -> Process:
        lines = {"begin": "pass", "close": "pass", "assemble": "pass"}
        (tmp_path / "program.py").write_text(PROGRAM.format(**lines | steps))
        program = ["-m", "configproviders.worker"] if real else ["program.py"]
        started.append(Process(tmp_path, config, program))
        return started[-1]

    yield begin
    for each in started:
        each.kill()


def get(url: str) -> bytes:
    with urlopen(url, timeout=60) as answer:
        assert "server" not in answer.headers
        body: bytes = answer.read()
    return body


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_serves_until_a_signal_comes_and_closes_then(
    start: Start, number: signal.Signals
) -> None:
    process = start()
    process.line("start")
    url = process.url()
    port = int(url.rpartition(":")[2])

    assert get(url) == b"main %d" % port

    process.signal(number)
    process.line("close")
    code, _, errors = process.end()
    assert (code, errors) == (0, "")
    with pytest.raises(URLError):
        get(url)


def test_it_answers_while_spark_starts_and_ends_in_the_midst_of_that(start: Start) -> None:
    process = start(
        assemble="global closed; closed = threading.Event()",
        begin="closed.wait(); raise ConfigException('it stops')",
        close="closed.set()",
    )

    url = process.url()

    assert get(url).startswith(b"main")
    process.signal(signal.SIGTERM)
    process.line("close")
    code, out, _ = process.end()
    assert code == 0
    assert [json.loads(line)["message"] for line in out.splitlines()] == ["the worker has stopped"]


def test_a_second_signal_ends_it_at_once(start: Start) -> None:
    process = start(close="threading.Event().wait()")
    process.url()

    process.signal(signal.SIGINT)
    process.line("close")
    process.signal(signal.SIGINT)

    assert process.end()[0] == 128 + signal.SIGINT


def test_closing_that_takes_too_long_is_given_up(start: Start) -> None:
    program = "process._MORE_THAN_TASKS *= 0.02"
    config = f"{ANY_PORT}task.shutdown.graceful.timeout.ms=10\n"
    process = start(config, assemble=program, close="threading.Event().wait()")
    process.url()

    process.signal(signal.SIGTERM)

    code, out, _ = process.end()
    assert code == 1
    assert "did not stop in time" in out


def test_a_request_that_does_not_end_does_not_hold_it(start: Start) -> None:
    process = start()
    host, _, port = process.url().removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        process.line("asked")

        process.signal(signal.SIGTERM)

        process.line("close")
        assert process.end()[0] == 0


def test_every_listener_is_served_and_admin_listeners_with_theirs(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        admin = free.getsockname()[1]
    process = start(
        f"listeners=http://127.0.0.1:0,http://localhost:0\nadmin.listeners=http://127.0.0.1:{admin}"
    )

    first, second = process.url(), process.url()

    assert first != second
    assert get(first) == get(second)
    assert get(f"http://127.0.0.1:{admin}").startswith(b"admin")


def test_a_port_in_use_is_one_line_and_nothing_was_started(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        code, out, errors = start(f"listeners=http://127.0.0.1:0,http://127.0.0.1:{port}").end()

    assert (code, out) == (1, "")
    assert errors == (
        f"spark-connect-worker: cannot listen on http://127.0.0.1:{port}: Address already in use;"
        " see listeners and admin.listeners\n"
    )


def test_a_host_that_is_not_this_one_is_one_line(start: Start) -> None:
    code, _, errors = start("listeners=http://192.0.2.1:0").end()

    assert code == 1
    assert errors.count("\n") == 1
    assert "cannot listen on http://192.0.2.1:0" in errors


def test_what_is_wrong_in_the_config_is_said_without_a_traceback(start: Start) -> None:
    code, out, errors = start("listners=http://127.0.0.1:0\nlaunch.concurrency=many").end()

    assert (code, out) == (1, "")
    assert errors.startswith("spark-connect-worker: worker.properties: 2 settings are wrong\n")
    assert "Traceback" not in errors


def test_a_worker_that_cannot_be_assembled_is_one_line(start: Start) -> None:
    code, out, errors = start(assemble="raise ConfigException('the store is taken')").end()

    assert (code, out, errors) == (1, "", "spark-connect-worker: the store is taken\n")


def test_a_start_that_fails_closes_and_is_logged(start: Start) -> None:
    process = start(begin="raise ConfigException('no such master')")

    said = json.loads(process.line("cannot start"))
    process.line("close")

    assert said["message"] == "the worker cannot start: no such master"
    assert process.end()[0] == 1


def test_a_start_that_breaks_is_logged_without_values(start: Start) -> None:
    process = start(begin="remember(['s3cr3t-s3cr3t']); raise ValueError('s3cr3t-s3cr3t')")

    said = process.line("cannot start")

    assert "ValueError: *********(redacted)" in json.loads(said)["trace"]
    code, out, errors = process.end()
    assert code == 1
    assert "s3cr3t-s3cr3t" not in out + errors.replace("raise ValueError('s3cr3t-s3cr3t')", "")


def test_it_warns_of_what_is_open_and_of_what_does_nothing(start: Start) -> None:
    process = start("listeners=http://:0\ngroup.id=connect\n")

    assert "has no authentication" in process.line('"WARNING"')
    assert "without effect here: group.id" in process.line('"WARNING"')
    assert get(process.url()).startswith(b"main")


def test_a_store_of_another_worker_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "worker.properties").write_text(ANY_PORT)
    with SqliteStore(str(tmp_path / "connectors.db")):
        ended = command(tmp_path, "worker.properties")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1
    assert "another worker uses it" in ended.stderr


def test_packages_that_are_not_there_are_named(in_a_process: Callable[..., str]) -> None:
    said = in_a_process(
        "import sys; sys.modules['uvicorn'] = None; sys.stderr = sys.stdout\n"
        "from configproviders.worker import __main__ as process\n"
        "print(process.main(['worker.properties']))"
    )

    assert said == (
        "spark-connect-worker: uvicorn cannot be imported: pip install 'configproviders[worker]'\n"
        "1\n"
    )


def test_help_says_how_it_is_called(tmp_path: Path) -> None:
    shown = command(tmp_path, "--help")

    assert shown.stdout.startswith("usage: spark-connect-worker [-h] FILE")


@pytest.mark.spark
def test_a_connector_survives_kill_9_and_a_signal_ends_spark_too(start: Start) -> None:
    config = {"connector.class": "SparkPipeline", "source.format": "rate", "sink.format": "noop"}
    body = json.dumps({"name": "copy", "config": config, "initial_state": "STOPPED"}).encode()
    settings = f"{ANY_PORT}spark.master=local[1]\nspark.ui.enabled=false\n"
    process = start(settings, real=True)
    request = Request(f"{process.url()}/connectors", body, {"Content-Type": "application/json"})
    urlopen(request, timeout=60).close()
    process.kill()

    process = start(settings, real=True)
    url = process.url()
    process.line("has started")
    jvms = process.children()
    kept = get(f"{url}/connectors/copy/config")
    process.signal(signal.SIGTERM)

    assert json.loads(kept) == {"name": "copy", **config}
    code, out, _ = process.end()
    assert code == 0
    assert [line for line in out.splitlines() if "ERROR" in line] == []
    assert jvms
    assert not any(map(is_alive, jvms))


def command(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "configproviders.worker", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
