"""Which secrets share a call, and that none suffers from its neighbours."""

from __future__ import annotations

import pytest
from servers.aws import ABROAD, HOME, Aws, ask, secrets_manager, values

from configproviders import ConfigTransformer
from configproviders.errors import PathNotFound

pytestmark = pytest.mark.aws


def test_forty_five_secrets_are_three_calls(aws: Aws) -> None:
    secrets = aws.secrets(45)

    assert values(ask(secrets_manager(), *secrets)) == secrets
    assert aws.actions == ["BatchGetSecretValue"] * 3


def test_the_transformer_makes_as_few_calls(aws: Aws) -> None:
    secrets = aws.secrets(21)
    config = {name: f"${{sm:{name}}}" for name in secrets}

    result = ConfigTransformer({"sm": secrets_manager()}).transform(config, strict=True)

    assert result.data == secrets
    assert sorted(aws.actions) == ["BatchGetSecretValue", "GetSecretValue"]


def test_names_arns_and_arns_without_suffix_go_together(aws: Aws) -> None:
    (a, _), (_, b), (_, c) = aws.secret("a"), aws.secret("b"), aws.secret("c")

    answers = ask(secrets_manager(), a, b, c[:-7])

    assert values(answers) == {a: "a", b: "b", c[:-7]: "c"}
    assert aws.actions == ["BatchGetSecretValue"]


def test_regions_do_not_share_a_call(aws: Aws) -> None:
    near, far = aws.secrets(2), [aws.secret("far", region=ABROAD)[1] for _ in range(2)]

    ask(secrets_manager(), *near, *far)

    assert [(each.region, each.action) for each in aws.requests] == [
        (HOME, "BatchGetSecretValue"),
        (ABROAD, "BatchGetSecretValue"),
    ]


def test_pinned_versions_are_asked_for_one_by_one(aws: Aws) -> None:
    current = aws.secrets(2)
    pinned = [f"{name}?stage=AWSPREVIOUS" for name in current]
    for name in current:
        aws.put_secret(name, "newer")

    answers = ask(secrets_manager(), *current, *pinned)

    assert list(values(answers).values()) == ["newer", "newer", *current.values()]
    assert aws.actions == ["BatchGetSecretValue", "GetSecretValue", "GetSecretValue"]


def test_the_same_secret_with_two_ttls_is_asked_for_once(aws: Aws) -> None:
    name, _ = aws.secret("text")

    answers = ask(secrets_manager(), name, f"{name}?ttl=5", f"{name}?stage=AWSCURRENT")

    assert set(values(answers).values()) == {"text"}
    assert aws.actions == ["GetSecretValue"]


def test_one_that_is_missing_does_not_harm_its_neighbours(aws: Aws) -> None:
    name, _ = aws.secret("text")
    gone, _ = aws.secret("gone")
    aws.delete_secret(gone)

    answers = ask(secrets_manager(), name, gone, "not/there", "no name at all")

    assert values(answers) == {name: "text"}
    assert isinstance(answers["not/there"], PathNotFound)
    assert isinstance(answers["no name at all"], PathNotFound)
    assert "scheduled for deletion" in str(answers[gone])
    assert aws.actions == ["BatchGetSecretValue"]


def test_one_without_any_value_does_not_harm_its_neighbours(aws: Aws) -> None:
    name, _ = aws.secret("text")
    empty = aws.secret_without_value()

    answers = ask(secrets_manager(), name, empty)

    assert values(answers) == {name: "text"}
    assert isinstance(answers[empty], PathNotFound)
