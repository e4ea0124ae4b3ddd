"""Which way Vault's events come: TLS, a proxy, a standby."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from providers.vault.conftest import Configured, eventually
from providers.vault.listening import WRITTEN, Watching, settings
from servers.certificates import Certificates, make_certificates
from servers.crossing import hand_on
from servers.vault_events import VaultEvents, vault_events


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return make_certificates(tmp_path)


@pytest.fixture
def secured(certificates: Certificates) -> Iterator[VaultEvents]:
    """Run a server with TLS that wants a certificate of the client's."""
    with vault_events("t", tls=certificates) as running:
        yield running


@pytest.fixture
def known(secured: VaultEvents, certificates: Certificates) -> dict[str, str]:
    """Return the settings that it lets in."""
    return {
        **settings(secured),
        "vault.ssl.ca": str(certificates.ca),
        "vault.ssl.cert": str(certificates.client),
        "vault.ssl.key": str(certificates.client_key),
    }


def test_tls_with_a_certificate_of_the_client(
    secured: VaultEvents, known: dict[str, str], configured: Configured
) -> None:
    watching = Watching()

    configured(known, **{"vault.ssl.server.name": "localhost"}).listen(watching)
    secured.wait_for(1)
    secured.send(WRITTEN)

    assert watching.wait_for(2)("secret/db")


def test_tls_without_a_check(
    secured: VaultEvents, known: dict[str, str], configured: Configured
) -> None:
    del known["vault.ssl.ca"]

    configured(known, **{"vault.ssl.verify.enabled": "false"}).listen(Watching())

    secured.wait_for(1)


def test_a_standby_sends_on_to_the_active_server(
    events: VaultEvents, configured: Configured
) -> None:
    with vault_events("t") as standby:
        standby.moved_to = events.address

        configured(settings(standby)).listen(Watching())

        events.wait_for(1)
        assert standby.statuses == [307]


def test_nobody_is_sent_on_out_of_tls(
    secured: VaultEvents,
    known: dict[str, str],
    events: VaultEvents,
    configured: Configured,
    caplog: pytest.LogCaptureFixture,
) -> None:
    secured.moved_to = events.address

    configured(known).listen(Watching())
    eventually(lambda: bool(caplog.records))

    assert "does not send its events: it answers with 307" in caplog.messages[0]
    assert events.asked == []


@pytest.mark.parametrize(
    "changed", [{"vault.ssl.server.name": "vault.example.org"}, {"vault.ssl.ca": ""}]
)
def test_a_certificate_that_is_not_accepted_is_said(
    secured: VaultEvents,
    known: dict[str, str],
    configured: Configured,
    caplog: pytest.LogCaptureFixture,
    changed: dict[str, str],
) -> None:
    configured(known | changed).listen(Watching())
    eventually(lambda: bool(caplog.records))

    assert "its certificate is not accepted: see vault.ssl.ca" in caplog.messages[0]
    assert secured.asked == []


class ProxyServer(ThreadingHTTPServer):
    connected: str = ""


class Proxy(BaseHTTPRequestHandler):
    """Connects whoever asks for it, and stays in between."""

    server: ProxyServer

    def do_CONNECT(self) -> None:
        self.server.connected = self.path
        host, _, port = self.path.partition(":")
        with socket.create_connection((host, int(port))) as other:
            self.send_response(200)
            self.end_headers()
            hand_on(self.connection, other)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  The name is not ours.
        pass


def test_it_goes_through_the_proxy(
    secured: VaultEvents, known: dict[str, str], configured: Configured
) -> None:
    with ProxyServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,)).start()
        provider = configured(known, **{"vault.proxy": f"http://127.0.0.1:{proxy.server_port}"})
        provider.listen(Watching())
        secured.wait_for(1)
        provider.close()
        proxy.shutdown()

    assert proxy.connected == secured.address.removeprefix("https://")


def test_a_proxy_that_it_does_not_pass_is_said(
    events: VaultEvents, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    configured(settings(events), **{"vault.proxy": "https://127.0.0.1:9"}).listen(Watching())
    eventually(lambda: bool(caplog.records))

    assert "Vault's events pass no proxy with https: use http" in caplog.messages[0]


def test_a_namespace_that_is_no_header_is_not_sent(
    events: VaultEvents, configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    configured(settings(events), **{"vault.namespace": "a\r\nX-Other: b"}).listen(Watching())
    eventually(lambda: bool(caplog.records))

    assert "does not send its events: InvalidHeader" in caplog.messages[0]
    assert events.asked == []


def test_a_forked_child_leaves_the_connection_to_its_parent(
    secured: VaultEvents, known: dict[str, str], configured: Configured
) -> None:
    watching = Watching()
    provider = configured(known)
    stop = provider.listen(watching)
    watching.wait_for(1)
    secured.wait_for(1)
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:  # Whatever happens here, pytest must not go on in two processes.
        try:
            own = Watching()
            assert stop
            stop()
            provider.listen(own)
            own.wait_for(1)
            provider.close()
            os.write(writing, b"told")
        finally:
            os._exit(0)
    os.close(writing)
    told = os.read(reading, 10)
    os.waitpid(child, 0)
    os.close(reading)
    secured.wait_for(1)
    secured.send(WRITTEN)

    assert told == b"told"
    assert watching.wait_for(2)("secret/db")
    assert len(secured.asked) == 2
