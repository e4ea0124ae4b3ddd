from __future__ import annotations

import datetime as dt
import itertools
import logging
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import moto.sts.models
import pytest
from servers.aws import ABROAD, HOME, Aws, answering, ask, look_up, secrets_manager, ssm

from configproviders import ConfigException
from configproviders.errors import ProviderUnavailable
from configproviders.providers.aws import SecretsManagerConfigProvider, SsmConfigProvider
from configproviders.testing import CANARY

pytestmark = pytest.mark.aws

ROLE = "arn:aws:iam::123456789012:role/reader"


def test_static_keys_are_used_with_their_session_token(aws: Aws) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager(
        aws_auth_method="credentials",
        aws_access_key="STATIC",
        aws_secret_key="made-up",
        aws_session_token="token",
    )

    assert look_up(provider, name) == "text"
    assert [request.access_key for request in aws.requests] == ["STATIC"]


def test_a_profile_gives_keys_and_region(
    aws: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")
    (tmp_path / "config").write_text(f"[profile team]\nregion = {ABROAD}\n")
    (tmp_path / "credentials").write_text(
        "[team]\naws_access_key_id = TEAM\naws_secret_access_key = made-up\n"
    )
    name, _ = aws.secret("text", region=ABROAD)

    assert look_up(secrets_manager(aws_profile="team"), name) == "text"
    assert [(each.access_key, each.region) for each in aws.requests] == [("TEAM", ABROAD)]


def test_a_profile_that_is_not_there_is_an_error_that_says_where_to_look(aws: Aws) -> None:
    with pytest.raises(ProviderUnavailable, match=r"no such profile; check aws.profile"):
        secrets_manager(aws_profile="nobody").get("db")


@pytest.mark.parametrize(
    ("setting", "environ", "region"),
    [
        ("us-west-1", {"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "eu-north-1"}, "us-west-1"),
        ("", {"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "eu-north-1"}, "us-west-2"),
        ("", {"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-north-1"}, "eu-north-1"),
    ],
)
def test_the_region_is_that_of_the_setting_and_then_of_the_environment(
    aws: Aws,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    environ: dict[str, str],
    region: str,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    ask(ssm(region=setting), "/not/there")

    assert [request.region for request in aws.requests] == [region]


def test_without_any_region_an_arn_still_works_and_a_name_says_what_to_set(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")
    _, arn = aws.secret("text")
    provider = secrets_manager()

    assert look_up(provider, arn) == "text"
    with pytest.raises(ProviderUnavailable, match=r"set aws.region or AWS_REGION, or write the f"):
        provider.get("db")


def test_an_endpoint_can_be_given(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _ = aws.secret("text")
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    assert look_up(secrets_manager(endpoint_override=aws.moto.url), name) == "text"


def test_a_role_is_assumed_once_with_session_name_and_external_id(aws: Aws) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager(
        aws_sts_role_arn=ROLE, aws_sts_session_name="orders", aws_sts_external_id="partner-7"
    )

    provider.get(name)
    provider.get(name)

    assert aws.actions == ["AssumeRole", "GetSecretValue", "GetSecretValue"]
    assert "RoleSessionName=orders" in aws.requests[0].body
    assert "ExternalId=partner-7" in aws.requests[0].body
    assert aws.requests[0].access_key == aws.key
    assert aws.requests[1].access_key.startswith("ASIA")


def test_a_role_is_assumed_again_before_its_session_ends(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager(aws_sts_role_arn=ROLE)
    # Sessions of an hour that are nearly over.
    earlier = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=57)
    monkeypatch.setattr(moto.sts.models, "utcnow", lambda: earlier.replace(tzinfo=None))
    provider.get(name)
    monkeypatch.undo()
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.moto.url)

    provider.get(name)

    first, second = [each.access_key for each in aws.requests if each.action == "GetSecretValue"]
    assert aws.actions == ["AssumeRole", "GetSecretValue"] * 2
    assert first != second


def test_a_role_works_where_arns_alone_say_the_region(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")
    _, arn = aws.secret("text", region=ABROAD)

    assert look_up(secrets_manager(aws_sts_role_arn=ROLE), arn) == "text"
    assert [request.region for request in aws.requests] == [ABROAD, ABROAD]


def test_without_credentials_the_error_says_so_and_later_ones_are_found(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ProviderUnavailable, match="no AWS credentials found; set"):
        provider.get(name)

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", aws.key)

    assert look_up(provider, name) == "text"


def test_nothing_is_looked_for_before_the_first_call(aws: Aws) -> None:
    provider = secrets_manager(aws_sts_role_arn=ROLE, aws_profile="nobody")

    assert provider.locate("db", "password") == ("db", "password")
    assert provider.batches(["a", "b"]) == [["a", "b"]]
    assert aws.requests == []


def test_threads_share_one_client_per_region(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _ = aws.secret("text")
    made: list[object] = []
    client = boto3.Session.client

    def counted(*args: object, **named: object) -> object:
        made.append(args)
        return client(*args, **named)  # type: ignore[call-overload]  # Whatever it is.

    monkeypatch.setattr(boto3.Session, "client", counted)
    provider = secrets_manager()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: provider.get(name), range(16)))

    assert len(made) == 1


def test_an_endpoint_that_nobody_answers_at_is_unavailable(aws: Aws) -> None:
    provider = secrets_manager(endpoint="http://127.0.0.1:9", retry_max="0")

    with pytest.raises(ProviderUnavailable, match=r"AWS cannot be reached.*\(EndpointConn"):
        provider.get("db")


def test_no_attempt_starts_after_the_deadline(aws: Aws) -> None:
    seconds = itertools.chain([0.0], itertools.repeat(30.1))
    provider = SsmConfigProvider(clock=lambda: next(seconds))

    with pytest.raises(ProviderUnavailable, match=r"no answer within timeout.ms"):
        provider.get("/app/db")

    assert aws.requests == []


def test_attempts_timeouts_and_connections_come_from_the_settings(aws: Aws) -> None:
    provider = secrets_manager(retry_max="4", timeout_ms="10000")

    config: Any = provider._clients.of(HOME).meta.config

    assert config.retries == {"mode": "standard", "total_max_attempts": 5}
    assert (config.connect_timeout, config.read_timeout) == (2.0, 2.0)
    assert config.max_pool_connections == 32


def test_a_closed_provider_starts_anew_when_it_is_asked(aws: Aws) -> None:
    name, _ = aws.secret("text")
    provider = secrets_manager()
    provider.get(name)

    provider.close()

    assert provider._clients._clients == {}
    assert look_up(provider, name) == "text"


def test_without_boto3_the_error_says_what_to_install(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(ProviderUnavailable, match=r"pip install 'configproviders\[aws\]'"):
        secrets_manager().get("db")


def test_no_debug_log_of_the_sdk_shows_a_secret_a_token_or_a_signature(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    names = [aws.secret({"password": f"{CANARY}-{number}"})[0] for number in range(2)]
    parameter = aws.parameter(f"{CANARY}-3")
    settings = {
        "aws_access_key": "AKIDSHOWN",
        "aws_secret_key": f"{CANARY}-key",
        "aws_session_token": f"{CANARY}-token",
        "aws_sts_role_arn": ROLE,
        "aws_sts_external_id": f"{CANARY}-id",
    }

    with caplog.at_level(logging.DEBUG):
        shown = [repr(secrets_manager(**settings)), repr(ask(secrets_manager(**settings), *names))]
        shown += [repr(ask(ssm(**settings), parameter, "/not/there"))]

    assert "urllib3" in caplog.text
    assert CANARY not in "".join(shown) + caplog.text
    assert "SessionToken" not in caplog.text
    assert "Signature=" not in caplog.text


def test_what_others_do_with_botocore_is_still_logged(
    aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    name, _ = aws.secret("text")
    secrets_manager().get(name)

    with caplog.at_level(logging.DEBUG):
        boto3.client("sts", region_name=HOME).get_caller_identity()

    assert "Response body" in caplog.text


def test_an_error_holds_no_text_of_the_sdk_however_deep(
    aws: Aws, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://user:{CANARY}@127.0.0.1:9")

    with caplog.at_level(logging.DEBUG), pytest.raises(ProviderUnavailable) as caught:
        secrets_manager(retry_max="0").get("db")

    assert CANARY not in "".join(shown(caught.value)) + caplog.text


@pytest.mark.parametrize("start", [b"<", b"<html>"])
def test_an_answer_of_sts_that_cannot_be_read_is_shown_nowhere(
    aws: Aws,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    start: bytes,
) -> None:
    said = start + f"<SecretAccessKey>{CANARY}</SecretAccessKey".encode()

    with answering({"AssumeRole": said, "GetCallerIdentity": said}) as url, caplog.at_level(10):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        with pytest.raises(ProviderUnavailable) as read:
            secrets_manager(aws_sts_role_arn=ROLE).get("db")
        with pytest.raises(ProviderUnavailable) as asked:
            ssm().policy({"/app/db": {""}}, online=True)

    assert CANARY not in "".join([*shown(read.value), *shown(asked.value)]) + caplog.text
    assert "Refreshing temporary credentials failed" in caplog.text


def shown(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield from traceback.format_exception(error)
        yield repr(vars(error))
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"aws_auth_method": "credentials"}, "needs aws.access.key and aws.secret.key"),
        ({"aws_access_key": "A"}, "go together: set both"),
        ({"aws_session_token": "A"}, "aws.session.token goes with"),
        ({"endpoint": "localhost"}, "'endpoint' is not a URL: write http:// or https://"),
        ({"endpoint": "http://u:p@h"}, "write neither user nor password into it"),
        (
            {"file_write": "true"},
            "'file.write' is not .*no secret is written to a file here; leave",
        ),
        ({"timeout_ms": "0"}, "timeout.ms is 0"),
        ({"secret_type": "json", "use_json": "false"}, "'secret.type' and 'use.json' differ"),
        ({"aws_regoin": "x"}, "did you mean 'aws.region'"),
    ],
)
def test_a_wrong_setting_is_an_error(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigException, match=message):
        secrets_manager(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"aws.auth.method": "DEFAULT", "file.dir": "/tmp", "file.write": "false"},
        {"polling.enabled": "true", "thread.count": "3"},
        {"retry.count": "3", "retry.interval.seconds": "10", "timeout.seconds": "30"},
        {"region": "eu-west-1", "endpoint": "http://localhost", "NotFoundStrategy": "ignore"},
        {"region_name": "eu-west-1", "profile_name": "a", "role_arn": ROLE},
        {"use.json": "true", "secret.prefix": "a/", "endpoint.override": "http://localhost"},
    ],
)
def test_the_settings_of_other_providers_are_taken(settings: dict[str, str]) -> None:
    for provider in (SecretsManagerConfigProvider(), SsmConfigProvider()):
        provider.configure(settings)


def test_seconds_of_others_are_seconds_here() -> None:
    assert secrets_manager(timeout_seconds="7")._settings.timeout.total_seconds() == 7
    assert secrets_manager(timeout_ms="7")._settings.timeout.total_seconds() == 0.007
