"""Logging in with AWS IAM: Vault asks the STS of a moto server who we are."""

from __future__ import annotations

import logging
import traceback
import uuid
from pathlib import Path

import pytest
from providers.vault.conftest import password
from servers.moto import run_moto
from servers.vault import Vault

from configproviders.errors import LookupDenied

pytestmark = pytest.mark.vault


def test_what_the_chain_of_aws_says_is_not_passed_on(
    server: Vault, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(
        '[default]\ncredential_process = sh -c "echo canary-process >&2; exit 1"\n'
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(LookupDenied, match="boto3 finds no AWS credentials") as caught:
        password(server, mount, {"vault.auth.method": "aws"})

    assert "canary-process" not in "".join(traceback.format_exception(caught.value))


def test_signing_for_aws_logs_no_session_token(
    server: Vault,
    mount: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, f"canary-{name}")

    with caplog.at_level(logging.DEBUG), pytest.raises(LookupDenied):
        password(server, mount, {"vault.auth.method": "aws"})

    assert "canary-" not in caplog.text


def aws_user(url: str) -> tuple[str, dict[str, str]]:
    import boto3

    iam = boto3.client(
        "iam",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="administrator",
        aws_secret_access_key="administrator",
    )
    name = f"orders-{uuid.uuid4().hex}"
    arn = iam.create_user(UserName=name)["User"]["Arn"]
    return arn, iam.create_access_key(UserName=name)["AccessKey"]


@pytest.mark.aws
@pytest.mark.parametrize("region", [None, "eu-west-1"])
def test_aws_iam_signs_at_login_with_what_the_chain_has(
    server: Vault,
    mount: str,
    policy: str,
    region: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    auth = server.enable("aws")
    with run_moto() as aws:
        user, key = aws_user(aws.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        server.write(
            f"auth/{auth}/config/client",
            sts_endpoint=aws.url,
            iam_server_id_header_value="vault.example.org",
        )
        server.write(
            f"auth/{auth}/role/orders",
            auth_type="iam",
            bound_iam_principal_arn=user,
            resolve_aws_unique_ids=False,
            token_policies=policy,
        )
        settings = {
            "vault.auth.method": "awsiam",
            "aws.mount": auth,
            "aws.role": "orders",
            "vault.aws.server.id": "vault.example.org",
        } | ({"vault.aws.region": region} if region else {})

        assert password(server, mount, settings) == "s3cr3t"

        request = aws.requests[-1]

    assert (request.action, request.region) == ("GetCallerIdentity", region or "us-east-1")
    assert key["SecretAccessKey"] not in request.body
