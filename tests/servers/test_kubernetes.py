from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from servers.certificates import make_certificates
from servers.kubernetes import Cluster, ServiceAccount, kubernetes

ORDERS = ServiceAccount("shop", "orders", uid="1-2-3")
REVIEWER = ServiceAccount("kube-system", "vault")


def review(
    cluster: Cluster, token: str, reviewer: str, context: ssl.SSLContext | None = None
) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{cluster.url}/apis/authentication.k8s.io/v1/tokenreviews",
        json.dumps({"kind": "TokenReview", "spec": {"token": token, "audiences": ["a"]}}).encode(),
        {"Authorization": f"Bearer {reviewer}"},
    )
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        status: dict[str, Any] = json.load(answer)["status"]
        return status


def test_a_token_is_reviewed_until_it_is_revoked() -> None:
    with kubernetes() as cluster:
        token, reviewer = cluster.issue(ORDERS), cluster.issue(REVIEWER)

        good = review(cluster, token, reviewer)
        cluster.revoke(token)
        bad = review(cluster, token, reviewer)

    assert good["authenticated"]
    assert good["user"]["username"] == "system:serviceaccount:shop:orders"
    assert good["user"]["uid"] == "1-2-3"
    assert good["audiences"] == ["a"]
    assert not bad["authenticated"]
    assert cluster.reviews == 2


def test_only_who_has_a_token_may_ask() -> None:
    with kubernetes() as cluster, pytest.raises(urllib.error.HTTPError, match="401"):
        review(cluster, cluster.issue(ORDERS), "made up")


def test_it_answers_with_tls_too(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    context = ssl.create_default_context(cafile=made.ca)

    with kubernetes(made) as cluster:
        token = cluster.issue(ORDERS)

        assert review(cluster, token, token, context)["authenticated"]
