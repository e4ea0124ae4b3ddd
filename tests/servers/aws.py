"""What a test does with AWS besides asking the provider: names of its own, stored values, calls."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from botocore.stub import Stubber

from configproviders import ConfigProvider
from configproviders.data import ConfigData
from configproviders.errors import ConfigException
from configproviders.providers.aws import SecretsManagerConfigProvider, SsmConfigProvider

from .moto import Moto, Request

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

HOME = "eu-west-1"
ABROAD = "us-east-2"


class Aws:
    """The server, as one test sees it: *key* is the access key of its environment."""

    def __init__(self, moto: Moto, key: str) -> None:
        self.moto = moto
        self.key = key
        self._count = 0
        self._start = len(moto.requests)

    def name(self, suffix: str = "") -> str:
        """Return a name that no other test has."""
        self._count += 1
        return f"{self.key}/{self._count}{suffix}"

    def secret(
        self, value: str | bytes | Mapping[str, Any], name: str = "", region: str = HOME
    ) -> tuple[str, str]:
        """Store a secret; return its name and its ARN."""
        name = name or self.name()
        client = _secrets_manager(self.moto, region)
        with _unlogged():
            if isinstance(value, bytes):
                return name, client.create_secret(Name=name, SecretBinary=value)["ARN"]
            text = value if isinstance(value, str) else json.dumps(value)
            return name, client.create_secret(Name=name, SecretString=text)["ARN"]

    def secret_without_value(self) -> str:
        """Make a secret that holds nothing yet."""
        return _secrets_manager(self.moto, HOME).create_secret(Name=self.name())["Name"]

    def secrets(self, count: int, region: str = HOME) -> dict[str, str]:
        """Store *count* secrets; return their texts by their names."""
        values = {self.name(): f"text {number}" for number in range(count)}
        for name, value in values.items():
            self.secret(value, name, region)
        return values

    def put_secret(self, name: str, value: str, stages: tuple[str, ...] = ()) -> str:
        """Store another version of a secret; return its id."""
        client = _secrets_manager(self.moto, HOME)
        with _unlogged():
            return client.put_secret_value(
                SecretId=name, SecretString=value, VersionStages=stages or ("AWSCURRENT",)
            )["VersionId"]

    def delete_secret(self, name: str) -> None:
        """Schedule a secret for deletion."""
        _secrets_manager(self.moto, HOME).delete_secret(SecretId=name)

    def restore_secret(self, name: str) -> None:
        """Take that back."""
        _secrets_manager(self.moto, HOME).restore_secret(SecretId=name)

    def parameter(
        self, value: str, name: str = "", *, kind: Any = "SecureString", region: str = HOME
    ) -> str:
        """Store a parameter, or another version of it; return its name."""
        name = name or f"/{self.name()}"
        client = _ssm(self.moto, region)
        with _unlogged():
            client.put_parameter(Name=name, Value=value, Type=kind, Overwrite=True)
        return name

    def delete_parameter(self, name: str) -> None:
        """Delete a parameter at once."""
        _ssm(self.moto, HOME).delete_parameter(Name=name)

    def label(self, name: str, version: int, label: str) -> None:
        """Put a label on a version of a parameter."""
        _ssm(self.moto, HOME).label_parameter_version(
            Name=name, ParameterVersion=version, Labels=[label]
        )

    def queue(self, name: str = "", region: str = HOME) -> str:
        """Make a queue; return its URL."""
        name = name or self.name().replace("/", "-")
        return _sqs(self.moto, region).create_queue(QueueName=name)["QueueUrl"]

    def send(self, queue: str, *bodies: str) -> None:
        """Send messages to a queue."""
        with _unlogged():
            for body in bodies:
                _sqs(self.moto, HOME).send_message(QueueUrl=queue, MessageBody=body)

    def left_in(self, queue: str) -> int:
        """Count the messages in a queue, and those that were received and not deleted."""
        attributes = _sqs(self.moto, HOME).get_queue_attributes(
            QueueUrl=queue,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )["Attributes"]
        return sum(map(int, attributes.values()))

    @property
    def requests(self) -> list[Request]:
        """What the server was asked during the test, but for setting it up."""
        return [each for each in self.moto.requests[self._start :] if each.access_key != "admin"]

    @property
    def actions(self) -> list[str]:
        """The actions among :attr:`requests`."""
        return [each.action for each in self.requests]


def secrets_manager(**settings: str) -> SecretsManagerConfigProvider:
    """Return a provider with *settings*, whose dots are written as underscores."""
    provider = SecretsManagerConfigProvider()
    provider.configure(_dotted(settings))
    return provider


def ssm(**settings: str) -> SsmConfigProvider:
    """Return a provider with *settings*, whose dots are written as underscores."""
    provider = SsmConfigProvider()
    provider.configure(_dotted(settings))
    return provider


def ask(provider: ConfigProvider, *paths: str) -> dict[str, ConfigData | ConfigException]:
    """Ask for all keys at *paths*, in the calls that the provider makes of them."""
    answers: dict[str, ConfigData | ConfigException] = {}
    for batch in provider.batches(paths):
        answers.update(provider.get_many(dict.fromkeys(batch)))
    return answers


def values(answers: Mapping[str, ConfigData | ConfigException]) -> dict[str, str]:
    """Return the whole text at each path of *answers*."""
    return {
        path: answer.data["value"]
        for path, answer in answers.items()
        if isinstance(answer, ConfigData)
    }


def look_up(provider: ConfigProvider, reference: str) -> str:
    """Return what ``<path>:<key>``, or ``<key>`` alone, stands for."""
    first, colon, rest = reference.partition(":")
    path, key = provider.locate(first, rest) if colon else provider.locate("", first)
    return provider.get(path, {key}).data[key]


def stubbed(provider: SecretsManagerConfigProvider | SsmConfigProvider) -> Stubber:
    """Return what answers in the place of AWS, for what the server cannot do."""
    stubber = Stubber(provider._clients.of(HOME))
    stubber.activate()
    return stubber


@contextmanager
def answering(answers: Mapping[str, object]) -> Iterator[str]:
    """Run a server that answers each action as *answers* says, in bytes or JSON; give its URL.

    It says what the SDK would take for no answer of AWS, and what its stub refuses to say.
    """

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            action = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
            answer = answers[action or body.partition("Action=")[2].partition("&")[0]]
            said = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  As it is there.
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep what the tests store out of the logs in which they look for it."""
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@cache
def _secrets_manager(moto: Moto, region: str) -> SecretsManagerClient:
    return moto.secrets_manager(region)


@cache
def _ssm(moto: Moto, region: str) -> SSMClient:
    return moto.ssm(region)


@cache
def _sqs(moto: Moto, region: str) -> SQSClient:
    return moto.sqs(region)


def _dotted(settings: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in settings.items()}
