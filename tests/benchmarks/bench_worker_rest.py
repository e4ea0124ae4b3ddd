"""How fast a worker shows many connectors: against a bare app that has the same answer as objects.

Both are asked in turn over one connection each. The workers, one for each number of connectors,
run at the same time, as does the bare app.
"""

from __future__ import annotations

import json
import math
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from worker.processes import TESTS, is_running, worker_process
from worker.workers import RotatedSecret, entries

from configproviders.properties import dumps

from .bench import spread

REQUESTS = {10: 20, 100: 10, 1_000: 5}
"""How many connectors a worker has, and how often it is asked in a round."""

ROUNDS, WARM_UP = 40, 3
ALL = "/connectors?expand=status&expand=info"


class Side(NamedTuple):
    """Who is asked, for what, and how long each answer took, round by round."""

    connection: HTTPConnection
    path: str
    rounds: list[list[float]]

    def ask(self, times: int) -> None:
        """Measure a round."""
        self.rounds.append([seconds(self.connection, self.path) for _ in range(times)])


def bench_rest() -> None:
    """Print what an answer costs, and how that grows with the connectors."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        place = Path(directory)
        urls = [stack.enter_context(worker_with(each, place / str(each))) for each in REQUESTS]
        ours = {
            count: stack.enter_context(closing(HTTPConnection(urlsplit(url).netloc)))
            for count, url in zip(REQUESTS, urls, strict=True)
        }
        for count, connection in ours.items():
            (place / f"{count}.json").write_bytes(answer(connection, ALL))
        bare = stack.enter_context(bare_app(place))
        sides = {
            count: (Side(connection, ALL, []), Side(bare, f"/{count}", []))
            for count, connection in ours.items()
        }
        for number in range(WARM_UP + ROUNDS):
            for count, pair in sides.items():
                for side in pair[:: -1 if number % 2 else 1]:
                    side.ask(REQUESTS[count])
        for count, pair in sides.items():
            show(count, *(side.rounds[WARM_UP:] for side in pair))
        show_growth({count: pair[0].rounds[WARM_UP:] for count, pair in sides.items()})


def answer(connection: HTTPConnection, path: str) -> bytes:
    """Return the body of an answer, which must be good."""
    connection.request("GET", path)
    return good(connection)


def good(connection: HTTPConnection) -> bytes:
    """Return the body of the answer that comes."""
    response = connection.getresponse()
    body = response.read()
    if not 200 <= response.status < 300:
        raise RuntimeError(f"{response.status}: {body[:500]!r}")
    return body


def post(connection: HTTPConnection, body: Mapping[str, Any]) -> None:
    """Create a connector."""
    connection.request(
        "POST", "/connectors", json.dumps(body), {"Content-Type": "application/json"}
    )
    good(connection)


def seconds(connection: HTTPConnection, path: str) -> float:
    """Return how long it takes to be answered."""
    begin = time.perf_counter()
    answer(connection, path)
    return time.perf_counter() - begin


@contextmanager
def worker_with(count: int, place: Path) -> Iterator[str]:
    """Run a worker with *count* connectors, made over REST; yield its URL."""
    place.mkdir()
    (place / "worker.properties").write_text(dumps(entries(place)))
    secret = RotatedSecret(place)
    with worker_process(place, "worker.without_spark") as worker:
        with closing(HTTPConnection(urlsplit(worker.url).netloc)) as connection:
            begin = time.perf_counter()
            for number in range(count):
                post(connection, connector(number, secret.reference))
            taken = (time.perf_counter() - begin) / count * 1e3
        worker.until("/connectors?expand=status", all_run)
        print(f"{taken:.1f} ms  a POST of a connector, one of {count:,} one after the other")
        yield worker.url


def all_run(found: Mapping[str, Any]) -> bool:
    """Whether all connectors of an answer run."""
    return all(is_running(each["status"]) for each in found.values())


def connector(number: int, reference: str) -> dict[str, Any]:
    """Return what is posted: a config of some ten settings, one of them a secret."""
    config = {
        "connector.class": "worker.odd_connectors:CheapConnector",
        "tasks.max": "1",
        "user": f"pipeline-{number}",
        "password": reference,
        **{f"setting.{each}": f"some plain value {each} of {number}" for each in range(6)},
    }
    return {"name": f"connector-{number}", "config": config}


@contextmanager
def bare_app(place: Path) -> Iterator[HTTPConnection]:
    """Run the baseline, which answers with the JSON files of *place*; yield a connection to it."""
    # With the protocol named, so that asyncio sends the parts of an answer at once.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        host, port = listening.getsockname()
        command = [sys.executable, "-m", __name__, str(listening.fileno()), str(place)]
        process = subprocess.Popen(command, cwd=TESTS, pass_fds=[listening.fileno()])
    try:
        with closing(HTTPConnection(host, port)) as connection:
            yield connection
    finally:
        process.kill()
        process.wait()


def serve(listening: socket.socket, place: Path) -> None:
    """Answer with what is in the JSON files of *place*, written anew each time."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    contents = {each.stem: json.loads(each.read_text()) for each in place.glob("*.json")}

    async def show_content(request: Request) -> JSONResponse:
        return JSONResponse(contents[request.path_params["name"]])

    app = Starlette(routes=[Route("/{name}", show_content)])
    config = uvicorn.Config(app, http="h11", loop="asyncio", access_log=False, log_level="warning")
    uvicorn.Server(config).run([listening])


def show(count: int, ours: Sequence[Sequence[float]], bare: Sequence[Sequence[float]]) -> None:
    """Print the ratio of the medians of each round, and what one connection gets of both."""
    medians = [[statistics.median(each) for each in side] for side in (ours, bare)]
    ratio = spread([one / other for one, other in zip(*medians, strict=True)], ".2f")
    print(
        f"{ratio} x  {ALL}, {count:,} connectors: {speed(ours)} against {speed(bare)}"
        " of the bare app",
        flush=True,
    )


def speed(rounds: Sequence[Sequence[float]]) -> str:
    """Write the requests of a second, and the time that one in a hundred exceeds."""
    rates = spread([len(each) / sum(each) for each in rounds], ",.0f")
    taken = sorted(each for one in rounds for each in one)
    worst = taken[math.ceil(len(taken) * 0.99) - 1]
    return f"{rates} requests/s, p99 {worst * 1e3:.1f} ms"


def show_growth(rounds: Mapping[int, Sequence[Sequence[float]]]) -> None:
    """Print what one more connector costs, against what it costs among fewer."""
    each = {
        count: [statistics.median(one) / count * 1e6 for one in found]
        for count, found in rounds.items()
    }
    least, *_, most = each
    pairs = zip(each[most], each[least], strict=True)
    ratio = spread([one / other for one, other in pairs], ".2f")
    costs = ", ".join(f"{count:,}: {spread(found, '.1f')} µs" for count, found in each.items())
    print(
        f"{ratio} x  the time of a connector among {most:,}, against {least}: {costs}", flush=True
    )


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
