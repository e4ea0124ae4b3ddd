"""What is asked of a server, and what an answer is that is not Vault's."""

from __future__ import annotations

import json
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from providers.vault.conftest import Configured

from configproviders import ConfigException
from configproviders.errors import ProviderUnavailable

pytestmark = pytest.mark.vault


class HeadersAsFields(BaseHTTPRequestHandler):
    """Answers with the headers of the request, as if they were a secret."""

    def do_GET(self) -> None:
        content = json.dumps({"data": dict(self.headers)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  The name is not ours.
        pass


def test_a_namespace_is_asked_for(configured: Configured) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), HeadersAsFields) as echo:
        threading.Thread(target=echo.serve_forever).start()
        settings = {"vault.addr": f"http://127.0.0.1:{echo.server_port}", "vault.token": "t"}
        provider = configured(settings, **{"vault.namespace": "team/orders"})

        found = provider.get("secret/data/db", ["X-Vault-Namespace", "X-Vault-Request"]).data

        echo.shutdown()

    assert found == {"X-Vault-Namespace": "team/orders", "X-Vault-Request": "true"}


def test_a_server_that_is_not_there_is_named(configured: Configured) -> None:
    settings = {"vault.addr": "http://127.0.0.1:9", "vault.token": "t", "retry.max": "1"}

    with pytest.raises(ProviderUnavailable, match=r"127\.0\.0\.1:9 cannot be reached"):
        configured(settings).get("secret/data/db")


@pytest.mark.parametrize(
    "address",
    [
        "http://admin:s3cr3t@127.0.0.1:9",
        "http://admin:s3cr3t/@127.0.0.1",
        "http://s3cr3t.€:8200",
        "http://host:s3cr3t",
        "http://[::s3cr3t",
        "http://s3cr3t..b",
        "ftp://s3cr3t",
        "s3cr3t",
    ],
)
@pytest.mark.parametrize("setting", ["vault.addr", "vault.proxy"])
def test_what_is_no_address_is_an_error_that_does_not_show_it(
    configured: Configured, setting: str, address: str
) -> None:
    provider = configured({"vault.token": "t", "retry.max": "0", setting: address})

    with pytest.raises(ConfigException) as caught:
        provider.get("secret/data/db")

    assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))


class Odd(BaseHTTPRequestHandler):
    """Answers with what the test says."""

    status = 200
    content = b""
    headers_sent: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        self.send_response(self.status)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  The name is not ours.
        pass


@pytest.mark.parametrize(
    ("status", "content", "headers"),
    [
        (200, b"", {}),
        (200, b"{}", {}),
        (200, b"<html>", {}),
        (304, b"", {}),
        (403, b"<html>a firewall", {}),
        (404, b"<html>a balancer", {}),
        (200, b'{"data": {"k": "' + b"x" * (1 << 25) + b'"}}', {}),
        (307, b"", {"Location": "http://[::1"}),
        (307, b"", {"Location": "http://a..b/"}),
        (503, b'{"errors": []}', {"Retry-After": "Wed, 21 Oct 12345 07:28:00 GMT"}),
    ],
    ids=range(10),
)
def test_what_is_not_vaults_answer_is_taken_for_none(
    configured: Configured, status: int, content: bytes, headers: dict[str, str]
) -> None:
    handler = type("It", (Odd,), {"status": status, "content": content, "headers_sent": headers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as odd:
        threading.Thread(target=odd.serve_forever).start()
        address = f"http://127.0.0.1:{odd.server_port}"
        provider = configured({"vault.addr": address, "vault.token": "t", "retry.max": "1"})

        with pytest.raises(ProviderUnavailable):
            provider.get("secret/data/db")

        odd.shutdown()


def test_a_retry_after_that_is_no_time_is_passed_over(configured: Configured) -> None:
    class Once(Odd):
        asked: ClassVar[list[str]] = []
        headers_sent: ClassVar[dict[str, str]] = {"Retry-After": "soon"}
        content = b'{"data": {"k": "v"}}'

        def do_GET(self) -> None:
            self.asked.append(self.path)
            self.status = 200 if len(self.asked) > 1 else 503
            super().do_GET()

    with ThreadingHTTPServer(("127.0.0.1", 0), Once) as odd:
        threading.Thread(target=odd.serve_forever).start()
        settings = {"vault.addr": f"http://127.0.0.1:{odd.server_port}", "vault.token": "t"}

        assert configured(settings, **{"retry.base.ms": "5"}).get("a/data/b").data == {"k": "v"}

        odd.shutdown()
