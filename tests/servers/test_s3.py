from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from servers.moto import Moto

pytestmark = pytest.mark.aws

BUCKET = "signed"
OBJECT = {"Bucket": BUCKET, "Key": "a folder/ä+b~c"}


@pytest.fixture(scope="module")
def s3(moto: Moto) -> Moto:
    """Have a bucket, and a key whose secret is known."""
    moto.create_bucket(BUCKET, "eu-west-1")
    moto.secret_keys["SIGNS"] = "made/up+secret"
    return moto


def client(s3: Moto, access_key: str, secret_key: str) -> Any:
    return boto3.client(
        "s3",
        "eu-west-1",
        endpoint_url=s3.url,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
    )


def test_who_signs_with_the_secret_of_the_key_is_let_in(s3: Moto) -> None:
    signs = client(s3, "SIGNS", "made/up+secret")

    signs.put_object(**OBJECT, Body=b"text")

    assert signs.get_object(**OBJECT)["Body"].read() == b"text"
    assert signs.list_objects_v2(Bucket=BUCKET, Prefix="a f")["KeyCount"] == 1


def test_who_signs_with_another_secret_is_refused(s3: Moto) -> None:
    signs_wrongly = client(s3, "SIGNS", "another")

    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        signs_wrongly.list_objects_v2(Bucket=BUCKET)


def test_a_key_whose_secret_is_not_known_is_let_in(s3: Moto) -> None:
    assert client(s3, "UNKNOWN", "any").list_objects_v2(Bucket=BUCKET)["Name"] == BUCKET
