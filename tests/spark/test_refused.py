"""What is refused before a JVM starts, and what is allowed."""

from __future__ import annotations

import pytest
from spark.programs import SETUP, InAProcess

from configproviders.testing import CANARY

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("secret_file")]


def test_what_would_come_too_late_or_be_changed_is_refused_before_a_jvm_starts(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
live = {"live": StaticConfigProvider({"p": {"k": "pre${user.name}post"}})}
keys = ["spark.driver.memory", "spark.executorEnv.A", "spark.hadoop.fs.x.key", "jdbc.password"]
for some in (keys[:2], keys[2:3], keys[3:]):
    try:
        create_session(builder(), dict.fromkeys(some, "${live:p:k}"), providers=live)
    except ConfigException as error:
        print(error)
print(SparkContext._jvm)
"""
    )

    first, memory, executor, hadoop, option, jvm = out.splitlines()
    assert first == "no reference may stand there, unless allow_leaks names the key:"
    seen = "it would be seen in the command line of the driver, from which it is taken; write the"
    assert memory.strip().startswith(f"spark.driver.memory: {seen} value itself")
    seen = "it would be seen in the environment of each executor and its Python workers; resolve it"
    assert executor.strip().startswith(f"spark.executorEnv.A: {seen} on the executors with")
    assert hadoop.startswith("spark.hadoop.fs.x.key: the value holds '${…}', which Hadoop or Spark")
    assert option.startswith("jdbc.password: no secret is set under a key that does not begin with")
    assert "post" not in out
    assert jvm == "None"


def test_what_is_allowed_to_leak_is_delivered_and_logged(in_a_process: InAProcess) -> None:
    out = in_a_process(
        SETUP
        + """
logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
leaks = {"spark.executorEnv.A": "${file:s.properties:key}"}
spark = create_session(builder(), leaks, allow_leaks=leaks)
print(len(spark.sparkContext.getConf().get("spark.executorEnv.A")))
"""
    )

    warning, length = out.splitlines()
    assert warning.startswith("WARNING spark.executorEnv.A: a secret is seen in the environment of")
    assert length == str(len(CANARY))
