"""A connector that the tests name, and a worker around a runner that runs nothing."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from worker.doubles import InstantRunner

from configproviders import ConfigProvider, ConfigTransformer
from configproviders.config_def import INT, PASSWORD, STRING, ConfigDef, ConfigKey
from configproviders.testing import CANARY, StaticConfigProvider
from configproviders.worker.connector import Connector, Task
from configproviders.worker.herder import Herder
from configproviders.worker.lifecycle import Lifecycle
from configproviders.worker.plugins import Plugins
from configproviders.worker.reload import SecretUse
from configproviders.worker.stores.memory import MemoryStore
from configproviders.worker.validation import Validation
from configproviders.worker.worker import Worker
from configproviders.worker.worker_config import WorkerConfig

REFERENCE = "${static:orders:password}"
CLASS = f"{__name__}:OrdersConnector"
CONFIG = {"connector.class": CLASS, "table": "orders", "password": REFERENCE}
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


class OrdersTask(Task):
    def run(self) -> None: ...


class OrdersConnector(Connector):
    config_def = ConfigDef(
        (
            ConfigKey("table", STRING, "orders", "high", "What is read."),
            ConfigKey("rate", INT, 1, "high", "How often."),
            ConfigKey("password", PASSWORD, None, "high", "Of the user."),
        )
    )
    type = "source"
    task_class = OrdersTask


class InstantWorker(Worker):
    """A worker with all its parts but Spark; ``static`` is its one provider."""

    def __init__(self, **entries: str) -> None:
        settings = {name.replace("_", "."): text for name, text in entries.items()}
        self.config = WorkerConfig.of(settings)
        provider = StaticConfigProvider({"orders": {"password": CANARY, "rate": CANARY}})
        providers: dict[str, ConfigProvider] = {"static": provider}
        self.plugins = Plugins([__name__])
        self.validation = Validation(self.plugins, ConfigTransformer(providers))
        self.runner = InstantRunner()
        store = MemoryStore()
        self.herder = Herder(Lifecycle(store, self.runner), store, self.runner)

    def close(self) -> None:
        self.herder.close()

    def secrets(self, name: str) -> list[SecretUse]:
        self.herder.info(name)
        return [SecretUse(REFERENCE, ("password",), MOMENT, None)]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> str:
        """The message of an error, which has the shape of all errors."""
        assert self.json.keys() == {"error_code", "message"}
        assert self.json["error_code"] == self.status
        message: str = self.json["message"]
        return message


@dataclass(frozen=True)
class Client:
    """Sends what it is told to, byte for byte."""

    url: str

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send *body* as it is if it is bytes, else as JSON."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent = {"Content-Type": "application/json", **sent}
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        with closing(connection):
            connection.putrequest(method, path, skip_host="Host" in sent)
            for name, value in sent.items():
                connection.putheader(name, value)
            if body is not None and "Transfer-Encoding" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
