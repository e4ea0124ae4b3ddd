"""JSON web tokens (RFC 7519), signed with a key of the tests' own."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


class Signer:
    """Signs tokens with a P-256 key that it makes (``ES256``, RFC 7518 §3.4)."""

    def __init__(self) -> None:
        """Make the key."""
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def public_key(self) -> str:
        """The key to check tokens with, as PEM."""
        return (
            self._key.public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            .decode()
        )

    def sign(self, claims: Mapping[str, object]) -> str:
        """Return a token that claims *claims*."""
        head = _encoded(json.dumps({"alg": "ES256", "typ": "JWT"}).encode())
        signed = f"{head}.{_encoded(json.dumps(dict(claims)).encode())}"
        signature = self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
        numbers = b"".join(n.to_bytes(32, "big") for n in decode_dss_signature(signature))
        return f"{signed}.{_encoded(numbers)}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
