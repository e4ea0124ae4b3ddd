from __future__ import annotations

import pytest
from servers.kafka_broker import kafka_broker
from servers.processes import accepts

pytestmark = pytest.mark.spark


def test_a_broker_answers_and_ends_with_its_block() -> None:
    with kafka_broker() as broker:
        assert broker.answers()

    assert not accepts(broker.port)
