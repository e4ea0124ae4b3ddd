from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from servers.certificates import Certificates, make_certificates


def test_server_and_client_know_each_other_by_their_certificates(tmp_path: Path) -> None:
    made = make_certificates(tmp_path, client="orders")

    assert subject_seen(made, "127.0.0.1") == "CN=orders"
    assert subject_seen(made, "localhost") == "CN=orders"
    with pytest.raises(ssl.SSLCertVerificationError):
        subject_seen(made, "example.org")


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)

    assert made.server_key.stat().st_mode & 0o777 == 0o600
    assert made.client_key.stat().st_mode & 0o777 == 0o600


def subject_seen(made: Certificates, host: str) -> str:
    """Return whom the server sees, when a client asks for *host*."""
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=made.ca)
    server.load_cert_chain(made.server, made.server_key)
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cafile=made.ca)
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    client.load_cert_chain(made.client, made.client_key)
    seen: list[str] = []

    def accept() -> None:
        try:
            with server.wrap_socket(listener.accept()[0], server_side=True) as connection:
                shown = connection.getpeercert(binary_form=True) or b""
                seen.append(x509.load_der_x509_certificate(shown).subject.rfc4514_string())
        except ssl.SSLError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            with (
                socket.create_connection(listener.getsockname(), timeout=10) as raw,
                client.wrap_socket(raw, server_hostname=host) as connection,
            ):
                connection.recv(1)
        finally:
            thread.join()
    return seen[0]
