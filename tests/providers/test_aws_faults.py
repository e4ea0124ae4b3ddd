"""What is between us and AWS breaks: the answer is right, or one of our errors says why not."""

from __future__ import annotations

import pytest
from servers.aws import Aws, ask, secrets_manager, ssm, values
from servers.fault_proxy import AWS_ERRORS, FaultProxy
from servers.faults import Fault, HalfAnswer, Reset, ResetInBody, Status, WrongJson

from configproviders.errors import ProviderUnavailable

pytestmark = pytest.mark.aws

FAULTS = [HalfAnswer(), Reset(), ResetInBody(), Status(503), Status(429), WrongJson()]


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_a_broken_answer_is_an_error_for_each_that_was_asked_for(aws: Aws, fault: Fault) -> None:
    names, parameters = list(aws.secrets(2)), [aws.parameter("text") for _ in range(2)]

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS, faults={fault: 1.0}) as proxy:
        answers = ask(secrets_manager(endpoint=proxy.url, retry_max="0"), *names)
        answers |= ask(ssm(endpoint=proxy.url, retry_max="0"), *parameters)

    assert [type(each) for each in answers.values()] == [ProviderUnavailable] * 4
    assert "text" not in repr(answers)


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_what_breaks_once_is_overcome_by_trying_again(aws: Aws, fault: Fault) -> None:
    secrets = aws.secrets(2)

    with FaultProxy(aws.moto.url, errors=AWS_ERRORS) as proxy:
        proxy.script = [fault]
        answers = ask(secrets_manager(endpoint=proxy.url, retry_max="1"), *secrets)

    assert values(answers) == secrets
