"""The life of connectors, and every question that can be asked meanwhile, right and wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import requests
from spark.leaks.looks import look_at_pages
from spark.rotation.following import until
from worker.leaks.setting import CLASSES, ROTATIONS, Setting
from worker.processes import WorkerProcess, is_running

TALKATIVE = f"{CLASSES}:TalkativeConnector"
FAILING = ("connector", "start", "run")
_JSON = {"content-type": "application/json"}
_LARGE = 1 << 21


class Question(NamedTuple):
    """A request, and the status that it is answered with."""

    status: int
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] | None = None


class Life:
    """Lives through all that can happen to connectors of *worker*, and looks at each answer."""

    def __init__(self, setting: Setting, worker: WorkerProcess) -> None:
        self.setting, self.worker = setting, worker
        beacon = setting.findings.beacon
        self.names = {name: f"{name}-{beacon}" for name in ("copy", "stream", "talk", "wrong")}
        self.names |= {f"fails in {place}": f"{place}-{beacon}" for place in FAILING}

    def live(self) -> None:
        """Create connectors, rotate their secrets, fail, and delete them."""
        self.ask(Question(200, "PUT", "/admin/loggers/root", {"level": "DEBUG"}))
        for name, config in self.configs():
            body = {"name": self.names[name], "config": config}
            self.ask(Question(201, "POST", "/connectors", body))
        until(lambda: self.setting.has_used(0), 60)
        for name in ("wrong", *(f"fails in {place}" for place in FAILING)):
            self.worker.until(self._at(name, "status"), lambda status: "FAILED" in str(status))
        self._ask_all()
        for number in range(1, ROTATIONS + 1):
            self.setting.rotate(number)
            until(lambda: self.setting.has_used(number), 60)  # noqa: B023  It is called at once.
            self.ask(Question(200, "GET", "/connectors?expand=info&expand=status&expand=secrets"))
        self._ask_all()
        if self.setting.is_long:
            look_at_pages(f"http://127.0.0.1:{self.setting.ui_port}", self.setting.findings)
        self._change_states()

    def ask(self, question: Question) -> requests.Response:
        """Ask, and look at what comes back."""
        of_json = not isinstance(question.body, bytes | None)
        answer = requests.request(
            question.method,
            self.worker.url + question.path,
            json=question.body if of_json else None,
            data=None if of_json else question.body,
            headers=question.headers,
            timeout=60,
        )
        head = f"{answer.status_code} {answer.reason} {answer.headers}\n".encode()
        where = f"{question.method} {question.path}"
        self.setting.findings.look("answers", where, head + answer.content)
        assert answer.status_code == question.status, (where, answer.text[:2000])
        return answer

    def configs(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the config of each connector."""
        setting, run = self.setting, self.setting.run
        login = {
            "connection.url": setting.database.jdbc_url,
            "connection.user": setting.user,
            "connection.password": setting.in_vault,
        }
        yield (
            "copy",
            {
                "connector.class": "JdbcSource",
                **login,
                "table.whitelist": setting.table,
                "poll.interval.ms": "1000",
                "sink.mode": "overwrite",
                "sink.format": "json",
                "sink.options.path": f"{run}/out/{{table}}",
            },
        )
        yield (
            "stream",
            {
                "connector.class": "FileStreamSource",
                "path": f"{run}/in-{setting.findings.beacon}",
                "format": "json",
                "schema": "n BIGINT",
                "checkpoint.location": f"{run}/checkpoint",
                "sink.format": "jdbc",
                "sink.options.url": setting.database.jdbc_url,
                "sink.options.user": setting.user,
                "sink.options.password": setting.in_vault,
                "sink.options.dbtable": f"streamed_{setting.table}",
            },
        )
        yield "talk", self.talkative(**{"tasks.max": "2"})
        wrong = {**login, "connection.password": setting.file("wrong_password")}
        yield (
            "wrong",
            {
                "connector.class": "JdbcSource",
                **wrong,
                "query": "SELECT 1",
                "sink.format": "noop",
            },
        )
        for place in FAILING:
            yield f"fails in {place}", self.talkative(**{"fails.in": place})

    def talkative(self, **more: str) -> dict[str, str]:
        """Return the config of a connector that says its secret."""
        return {
            "connector.class": TALKATIVE,
            "secret": self.setting.file("talk"),
            "notes": str(self.setting.run / "notes"),
            **more,
        }

    def _at(self, name: str, *parts: str) -> str:
        return "/".join(["/connectors", quote(self.names.get(name, name), safe=""), *parts])

    def _ask_all(self) -> None:
        for question in (*self._reads(), *self._of_connectors(), *self._wrong(), *self._dry()):
            self.ask(question)

    def _reads(self) -> Iterator[Question]:
        everything = "/connectors?expand=info&expand=status&expand=secrets&expand=progress"
        yield Question(200, "PUT", "/admin/loggers/root", {"level": "DEBUG"})
        for path in (
            *("/", "/health", "/metrics", "/openapi.json", "/ui", "/ui/index.html", everything),
            *("/connectors", "/connector-plugins", "/admin/loggers", "/admin/loggers/root"),
            f"/connector-plugins/{TALKATIVE}/config",
            "/connector-plugins/JdbcSource/config",
        ):
            yield Question(200, "GET", path)

    def _of_connectors(self) -> Iterator[Question]:
        for name in self.names:
            yield Question(200, "GET", self._at(name))
            for part in ("config", "status", "tasks", "secrets"):
                yield Question(200, "GET", self._at(name, part))
        for name in ("talk", "stream", "copy"):
            yield Question(200, "GET", self._at(name, "tasks", "0", "status"))
            yield Question(200, "GET", self._at(name, "offsets"))
        yield Question(403, "GET", self._at("talk", "topics"))

    def _wrong(self) -> Iterator[Question]:
        talk, secret, no_number = self._at("talk"), *map(self.setting.file, ("talk", "no_number"))
        create = {"name": secret, "config": {"connector.class": secret, "name": secret}}
        yield Question(404, "GET", self._at(secret))
        yield Question(404, "GET", "/nowhere")
        yield Question(405, "DELETE", "/connectors")
        yield Question(406, "GET", "/connectors", None, {"accept": "text/xml"})
        yield Question(403, "GET", "/connectors", None, {"origin": "http://elsewhere"})
        yield Question(415, "POST", "/connectors", b"{}", {"content-type": "text/plain"})
        yield Question(413, "POST", "/connectors", b" " * _LARGE, _JSON)
        yield Question(400, "POST", "/connectors", f"{{{secret}".encode(), _JSON)
        yield Question(400, "POST", "/connectors", create)
        yield Question(400, "POST", "/connectors", {"name": "a", "config": {secret: {}}})
        yield Question(400, "POST", "/connectors", {"name": "a", secret: secret})
        yield Question(
            409, "POST", "/connectors", {"name": self.names["talk"], "config": self.talkative()}
        )
        yield Question(400, "PATCH", f"{talk}/config", {"count": no_number})
        yield Question(400, "PATCH", f"{talk}/config", {"tasks.max": no_number})
        yield Question(400, "PATCH", f"{talk}/config", {"user": "wrong"})
        yield Question(400, "PATCH", f"{talk}/config", {"secret": None})
        yield Question(400, "PATCH", f"{talk}/config", {"fails.in": "validate"})
        yield Question(400, "PATCH", f"{talk}/config", {"secret": self.setting.file("refused")})
        yield Question(400, "PATCH", f"{talk}/config", {"user": self.setting.file("refused")})
        yield Question(400, "PATCH", f"{talk}/config", {"spark.sql.x": secret})
        yield Question(400, "PUT", f"{talk}/config", self.talkative(secret=f"{secret}${{file:no}}"))
        yield Question(400, "PUT", f"{talk}/config", self.talkative(secret=f"{secret[:-1]}x}}"))
        yield Question(404, "PUT", f"/admin/loggers/{quote(secret, safe='')}", {"level": secret})
        yield Question(404, "GET", f"/connector-plugins/{quote(secret, safe='')}/config")
        yield Question(400, "PATCH", f"{talk}/offsets", {"offsets": [{"partition": {secret: 1}}]})
        yield Question(400, "DELETE", f"{talk}/offsets")
        yield Question(404, "POST", f"{talk}/tasks/9/restart")

    def _dry(self) -> Iterator[Question]:
        no_number, refused = map(self.setting.file, ("no_number", "refused"))
        validate = f"/connector-plugins/{TALKATIVE}/config/validate"
        name = {"name": self.names["talk"]}
        for config in (
            self.talkative(),
            self.talkative(user="wrong"),
            self.talkative(secret=self.setting.file("in_a_name")),
            self.talkative(count=no_number),
            self.talkative(secret=refused, user=refused),
            self.talkative(**{no_number: no_number, "tasks.max": no_number}),
            self.talkative(**{"fails.in": "validate"}),
        ):
            yield Question(200, "PUT", validate, {**name, **config})
            yield Question(200, "PUT", self._at("talk", "config?dryRun=true"), config)
            yield Question(200, "PATCH", self._at("talk", "config?dryRun=true"), config)
            body = {"name": "new", "config": config}
            yield Question(200, "POST", "/connectors?dryRun=true", body)
        yield Question(404, "PUT", f"/connector-plugins/{no_number}/config/validate", name)

    def _change_states(self) -> None:
        talk, stream = self._at("talk"), self._at("stream")
        self.ask(Question(204, "POST", f"{talk}/tasks/0/restart"))
        self.worker.until(f"{talk}/status", is_running)
        self.ask(Question(202, "POST", f"{talk}/restart?includeTasks=true"))
        self.worker.until(f"{talk}/status", is_running)
        self.ask(Question(202, "PUT", f"{talk}/pause"))
        self.ask(Question(202, "PUT", f"{talk}/resume"))
        self.worker.until(f"{talk}/status", is_running)
        self.ask(Question(200, "PATCH", f"{talk}/config", {"user": self.setting.file("in_a_name")}))
        self.worker.until(f"{talk}/status", is_running)
        self.ask(Question(200, "PUT", f"{talk}/config", self.talkative(**{"fails.in": "offsets"})))
        self.ask(Question(500, "GET", f"{talk}/offsets"))
        for path in (talk, stream):
            self.ask(Question(204, "PUT", f"{path}/stop"))
        self.ask(Question(500, "DELETE", f"{talk}/offsets"))
        self.ask(Question(200, "GET", f"{stream}/offsets"))
        self.ask(Question(200, "DELETE", f"{stream}/offsets"))
        self._lose_the_token(talk)
        for name in self.names:
            self.ask(Question(200, "GET", self._at(name, "status")))
            self.ask(Question(204, "DELETE", self._at(name)))

    def _lose_the_token(self, path: str) -> None:
        """Have Vault refuse the worker, which says so."""
        denied = f"${{vault:{self.setting.mount}x/data/orders:password}}"
        self.ask(Question(400, "PATCH", f"{path}/config", {"secret": denied}))
        token = self.setting.findings.canaries["vault token"]
        self.setting.vault.write("auth/token/revoke", token=token)
        body = {"secret": self.setting.in_vault}
        self.ask(Question(400, "PATCH", f"{path}/config", body))
        self.ask(Question(202, "POST", f"{self._at('copy')}/restart?includeTasks=true"))
        self.worker.until(f"{self._at('copy')}/status", lambda status: "FAILED" in str(status))
