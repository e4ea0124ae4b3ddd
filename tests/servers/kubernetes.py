"""An answerer of Kubernetes' TokenReview on loopback: no Kubernetes, but what Vault asks of one.

It knows one call, ``POST /apis/authentication.k8s.io/v1/tokenreviews``, and the tokens of service
accounts that it issued itself. As the real one, it wants to be asked by somebody with such a token.
https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
"""

from __future__ import annotations

import json
import ssl
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from servers.certificates import Certificates
from servers.jwt import Signer

_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_LIFETIME = 3600  # Seconds.


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Who a token stands for."""

    namespace: str
    name: str
    uid: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def user(self) -> dict[str, object]:
        """How a review names it."""
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{self.namespace}"]
        return {
            "username": f"system:serviceaccount:{self.namespace}:{self.name}",
            "uid": self.uid,
            "groups": [*groups, "system:authenticated"],
        }


class Cluster:
    """The tokens that are good, for whom, and how often that was asked."""

    def __init__(self) -> None:
        """Know no token yet, nor where it listens."""
        self.url = ""
        self.signer = Signer()
        self.reviews = 0
        self._accounts: dict[str, ServiceAccount] = {}

    def issue(self, account: ServiceAccount, *, audience: str = "vault") -> str:
        """Return a new token of *account*, with the claims of one that is mounted into a pod."""
        now = int(time.time())
        token = self.signer.sign(
            {
                "iss": self.url,
                "aud": [audience],
                "sub": account.user["username"],
                "iat": now,
                "nbf": now,
                "exp": now + _LIFETIME,
                "jti": str(uuid.uuid4()),
                "kubernetes.io": {
                    "namespace": account.namespace,
                    "serviceaccount": {"name": account.name, "uid": account.uid},
                },
            }
        )
        self._accounts[token] = account
        return token

    def revoke(self, token: str) -> None:
        """Have *token* no longer be good."""
        del self._accounts[token]

    def knows(self, token: str) -> bool:
        """Tell whether *token* is good."""
        return token in self._accounts

    def review(self, spec: dict[str, Any]) -> dict[str, object]:
        """Return the status of a review."""
        self.reviews += 1
        account = self._accounts.get(spec["token"])
        if account is None:
            return {"authenticated": False, "error": "the token is not known"}
        audiences = spec.get("audiences") or [self.url]
        return {"authenticated": True, "user": account.user, "audiences": audiences}


@contextmanager
def kubernetes(certificates: Certificates | None = None) -> Iterator[Cluster]:
    """Answer on a free port of loopback, with TLS if there are *certificates*."""
    cluster = Cluster()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Reviewer, cluster)) as server:
        if certificates is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates.server, certificates.server_key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "http" if certificates is None else "https"
        cluster.url = f"{scheme}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="kubernetes")
        thread.start()
        try:
            yield cluster
        finally:
            server.shutdown()
            thread.join()


class _Reviewer(BaseHTTPRequestHandler):
    def __init__(self, cluster: Cluster, *arguments: Any) -> None:
        self._cluster = cluster
        super().__init__(*arguments)  # It answers, too.

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        caller = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not self._cluster.knows(caller):
            self._answer(401, _failure(401, "Unauthorized"))
        elif self.path != _REVIEWS:
            self._answer(404, _failure(404, "NotFound"))
        else:
            self._answer(201, {**body, "status": self._cluster.review(body["spec"])})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  The name is not ours.
        """Say nothing."""

    def _answer(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _failure(code: int, reason: str) -> dict[str, object]:
    head = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
    return {**head, "message": reason, "reason": reason, "code": code}
