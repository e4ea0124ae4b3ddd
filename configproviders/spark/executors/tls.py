"""TLS between driver and executors: a certificate per application, which executors pin.

Nobody has to trust an authority: the handle carries the certificate, and its key never leaves the
memory of the driver.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from ...errors import ConfigException

_BEFORE, _AFTER = timedelta(days=1), timedelta(days=3650)  # Clocks differ; streams run for years.


def server_context() -> tuple[ssl.SSLContext, str]:
    """Return what the driver serves with, made anew, and the certificate to pin, as PEM."""
    certificate, key = _self_signed()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0  # No session is resumed: each connection is one question.
    with _readable(certificate) as certificate_file, _readable(key) as key_file:
        context.load_cert_chain(certificate_file, key_file)
    return context, certificate.decode("ascii")


def client_context(certificate: str) -> ssl.SSLContext:
    """Return what an executor asks with: only who has the key of *certificate* is spoken to."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # It is this certificate, wherever the driver is.
    context.load_verify_locations(cadata=certificate)
    return context


def _self_signed() -> tuple[bytes, bytes]:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError:
        raise ConfigException(
            "DriverSecrets needs the package cryptography: pip install 'configproviders[spark]'"
        ) from None
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "configproviders driver")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _AFTER)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@contextmanager
def _readable(pem: bytes) -> Iterator[str]:
    """Give *pem* a path, since ``ssl`` takes nothing else; a pipe leaves no file, whatever ends."""
    reader, writer = os.pipe()
    try:
        with open(writer, "wb") as output:
            output.write(pem)
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)
