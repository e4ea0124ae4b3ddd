"""AWS on loopback: moto in a thread, with a record of every request that arrives."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import boto3

from .s3 import is_signed_with

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

ADMIN = "admin"
_CREDENTIAL = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/")


class Admin(TypedDict):
    """What a client is made with."""

    region_name: str
    endpoint_url: str
    aws_access_key_id: str
    aws_secret_access_key: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server got it."""

    service: str
    region: str
    action: str
    access_key: str
    body: str


@dataclass(slots=True, eq=False)
class Moto:
    """A running server; ``requests`` grows with each one.

    It refuses what is not signed with the secret access key that stands in ``secret_keys`` under
    its access key, and lets in all others.
    """

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    secret_keys: dict[str, str] = field(default_factory=dict, repr=False)

    def create_bucket(self, name: str, region: str) -> None:
        """Make a bucket of S3."""
        client = boto3.client("s3", **self._as_admin(region))
        client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": region})

    def secrets_manager(self, region: str) -> SecretsManagerClient:
        """Return a client to set up secrets with."""
        return boto3.client("secretsmanager", **self._as_admin(region))

    def ssm(self, region: str) -> SSMClient:
        """Return a client to set up parameters with."""
        return boto3.client("ssm", **self._as_admin(region))

    def sqs(self, region: str) -> SQSClient:
        """Return a client to set up queues with."""
        return boto3.client("sqs", **self._as_admin(region))

    def _as_admin(self, region: str) -> Admin:
        return {
            "region_name": region,
            "endpoint_url": self.url,
            "aws_access_key_id": ADMIN,
            "aws_secret_access_key": ADMIN,
        }


@contextmanager
def run_moto() -> Iterator[Moto]:
    """Run a server on a free port of loopback."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002  Werkzeug's name.
            pass

    moto = Moto()
    app = _recording(DomainDispatcherApplication(create_backend_app), moto)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    moto.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="moto")
    thread.start()
    try:
        yield moto
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _recording(app: Callable[..., Any], moto: Moto) -> Callable[..., Any]:
    def recorded(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        key, region, service = signed.groups() if signed else ("", "", "")
        text = body.decode("utf-8", "replace")
        named = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        asked = re.search(r"Action=(\w+)", text)
        action = named or (asked[1] if asked else "")
        moto.requests.append(Request(service, region, action, key, text))
        if key in moto.secret_keys and not is_signed_with(moto.secret_keys[key], environ):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SignatureDoesNotMatch</Code></Error>"]
        return app(environ, start_response)

    return recorded
