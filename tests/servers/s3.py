"""Whether a request to S3 was signed with a secret access key, which moto does not ask."""

from __future__ import annotations

import re
from typing import Any

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/"
    r"aws4_request, ?SignedHeaders=(?P<names>[^,]+), ?Signature=(?P<signature>\w+)"
)


def is_signed_with(secret_key: str, environ: dict[str, Any]) -> bool:
    """Compare the signature of the WSGI request *environ* with the one that it ought to have."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    authorization = _AUTHORIZATION.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
    if authorization is None:
        return False
    request = AWSRequest(
        environ["REQUEST_METHOD"],
        url=f"http://{environ['HTTP_HOST']}{environ['RAW_URI']}",
        headers={name: _header(environ, name) for name in authorization["names"].split(";")},
    )
    request.context["timestamp"] = environ["HTTP_X_AMZ_DATE"]
    auth = S3SigV4Auth(
        Credentials(authorization["key"], secret_key),
        authorization["service"],
        authorization["region"],
    )
    text = auth.string_to_sign(request, auth.canonical_request(request))
    return bool(auth.signature(text, request) == authorization["signature"])


def _header(environ: dict[str, Any], name: str) -> str:
    name = name.upper().replace("-", "_")
    return str(environ[name if name in {"CONTENT_LENGTH", "CONTENT_TYPE"} else f"HTTP_{name}"])
