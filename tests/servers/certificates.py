"""Certificates for servers and clients on loopback, signed by an authority of the tests' own."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID_FOR = dt.timedelta(days=1)
_LOOPBACK = x509.SubjectAlternativeName(
    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
)


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the files are, all PEM; those of keys are for their owner alone."""

    ca: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path


def make_certificates(directory: Path, *, client: str = "orders") -> Certificates:
    """Make an authority, a server's certificate for loopback, and one of a *client*, for a day."""
    ca = _Authority()
    (directory / "ca.pem").write_bytes(ca.certificate.public_bytes(serialization.Encoding.PEM))
    server, server_key = ca.issue(directory, "server", "localhost", ExtendedKeyUsageOID.SERVER_AUTH)
    own, own_key = ca.issue(directory, "client", client, ExtendedKeyUsageOID.CLIENT_AUTH)
    return Certificates(directory / "ca.pem", server, server_key, own, own_key)


class _Authority:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("configproviders tests")
        self.certificate = (
            _dated(self._key.public_key())
            .subject_name(self._name)
            .issuer_name(self._name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_MAY_SIGN, critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def issue(
        self, directory: Path, file: str, subject: str, use: x509.ObjectIdentifier
    ) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            _dated(key.public_key())
            .subject_name(_named(subject))
            .issuer_name(self._name)
            .add_extension(_LOOPBACK, critical=False)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .add_extension(signer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        made = directory / f"{file}.pem"
        made.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return made, _write_key(directory / f"{file}-key.pem", key)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _dated(key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID_FOR)
        .not_valid_after(now + _VALID_FOR)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
        output.write(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
    return file


_MAY_SIGN = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
