"""Random commands over REST to a worker that is killed now and then, while secrets rotate."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from worker.odd_connectors import note_of
from worker.processes import WorkerProcess, is_running
from worker.workers import RotatedSecret, entries

from configproviders import properties
from configproviders.testing import CANARY
from configproviders.worker.status import CONNECTOR, TASK

NAMES = ["a", "b/c", "ü %"]
LEGAL = {(str(before), str(after)) for (before, _), after in {**CONNECTOR, **TASK}.items()}
SEEDS, COMMANDS = (range(20), 300) if os.environ.get("SOAK") else (range(3), 150)
COMMON = ["create", "create", "update", "pause", "resume", "resume", "restart", "rotate", "rotate"]
RARE = ["stop", "delete", "crash", "wait"]


class Crowd:
    """What is known of the connectors, as far as answers have said it."""

    def __init__(self, directory: Path, secret: RotatedSecret, seed: int) -> None:
        self.directory, self.secret = directory, secret
        self.random = random.Random(seed)
        (directory / "notes").mkdir()
        given = entries(directory, retry__backoff__ms="20")
        (directory / "worker.properties").write_text(properties.dumps(given))
        self.worker = self.started()

    def started(self) -> WorkerProcess:
        return WorkerProcess(self.directory, "worker.without_spark", {})

    def config(self, name: str) -> dict[str, str]:
        return {
            "name": name,
            "connector.class": "worker.odd_connectors:NotingConnector",
            "tasks.max": str(self.random.randint(1, 3)),
            "password": self.secret.reference,
            "notes": str(self.directory / "notes"),
        }

    def do(self, command: str) -> None:
        name = self.random.choice(NAMES)
        path = f"/connectors/{quote(name, safe='')}"
        match command:
            case "create":
                body = {"name": name, "config": self.config(name)}
                self.answered("POST", "/connectors", {201, 409}, body)
            case "update":
                self.answered("PUT", f"{path}/config", {200, 201}, self.config(name))
            case "pause" | "resume":
                self.answered("PUT", f"{path}/{command}", {202, 404})
            case "stop":
                self.answered("PUT", f"{path}/stop", {204, 404})
            case "restart":
                query = self.random.choice(["", "?includeTasks=true", "?onlyFailed=true"])
                self.answered("POST", f"{path}/restart{query}", {202, 204, 404, 409})
            case "delete":
                self.answered("DELETE", path, {204, 404})
            case "rotate":
                self.secret.rotate()
            case "wait":
                time.sleep(0.1)
            case "crash":
                self.crash()

    def crash(self) -> None:
        """Kill the worker, perhaps while it does something, and start it again."""
        with suppress(requests.RequestException):
            body = {"name": "a", "config": self.config("a")}
            requests.post(f"{self.worker.url}/connectors", json=body, timeout=(1, 0.002))
        self.check_transitions()
        self.worker.kill()
        self.check_store_is_whole()
        self.worker = self.started()

    def answered(self, method: str, path: str, statuses: set[int], body: object = None) -> None:
        answer = self.worker.ask(method, path, body)
        assert answer.status_code in statuses, (method, path, answer.text)
        assert CANARY not in answer.text

    def check_transitions(self) -> None:
        lines = [each for each in self.worker.lines() if "from" in each]
        assert {(each["from"], each["to"]) for each in lines} <= LEGAL

    def check_store_is_whole(self) -> None:
        with closing(sqlite3.connect(self.directory / "connectors.db")) as store:
            assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def until(self, notes: list[Path], latest: str) -> None:
        end = time.monotonic() + 90  # A connector is restarted 30 times in a minute at most.
        while {each.read_text() if each.exists() else "" for each in notes} != {latest}:
            assert time.monotonic() < end, self.worker.lines()[-20:]
            time.sleep(0.02)

    def check_end(self) -> None:
        """What is wanted is there in the end, and whoever runs has the latest secret."""
        infos = self.worker.ask("GET", "/connectors?expand=info").json()
        latest = hashlib.sha256(self.secret.value.encode()).hexdigest()
        for name in infos:
            path = f"/connectors/{quote(name, safe='')}"
            self.worker.ask("PUT", f"{path}/resume")
            tasks = int(infos[name]["info"]["config"]["tasks.max"])
            notes = [note_of(str(self.directory / "notes"), name, task) for task in range(tasks)]
            self.worker.until(f"{path}/status", is_running)
            self.until(notes, latest)
        self.worker.kill()
        self.worker = self.started()
        assert self.worker.ask("GET", "/connectors").json() == list(infos)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_asked_and_whenever_it_dies_the_worker_is_right_in_the_end(
    tmp_path: Path, secret: RotatedSecret, seed: int
) -> None:
    crowd = Crowd(tmp_path, secret, seed)
    try:
        for _ in range(COMMANDS):
            crowd.do(crowd.random.choice(COMMON * 2 + RARE))
        crowd.check_transitions()
        crowd.check_end()
        assert CANARY not in crowd.worker.log.read_text()
    finally:
        crowd.worker.kill()
