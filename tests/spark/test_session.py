"""Sessions, each in a process of its own: where the secret arrives, and where it is not seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from configproviders.testing import CANARY

pytestmark = pytest.mark.spark

InAProcess = Callable[..., str]

SETUP = """
import glob, json, logging, os, sys
from pathlib import Path
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from configproviders import ConfigException
from configproviders.spark import create_session, resolve_conf, resolve_options
from configproviders.testing import StaticConfigProvider

def builder():
    return SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")

def command_lines():
    return "".join(
        Path(file).read_text(errors="replace") for file in glob.glob("/proc/[0-9]*/cmdline")
        if Path(file).exists()
    )
"""


@pytest.fixture(autouse=True)
def secrets(tmp_path: Path) -> None:
    (tmp_path / "s.properties").write_text(f"key={CANARY}\nregion=eu-{CANARY}\n")


def test_a_secret_arrives_in_the_session_and_is_on_no_command_line(
    in_a_process: InAProcess, tmp_path: Path
) -> None:
    (tmp_path / "job.properties").write_text(
        "config.providers=secrets\n"
        "config.providers.secrets.class=file\n"
        "spark.hadoop.fs.x.apikey=${secrets:s.properties:key}\n"
        "spark.hadoop.topology.script.file.name=${secrets:s.properties:key}\n"
        "spark.hive.metastore.dsn=${secrets:s.properties:key}\n"
        "spark.sql.shuffle.partitions=3\n"
        "spark.eventLog.enabled=true\n"
        "spark.eventLog.compress=false\n"
        f"spark.eventLog.dir={tmp_path}/events\n"
    )
    (tmp_path / "events").mkdir()

    out = in_a_process(
        SETUP
        + """
configured = builder().config("spark.my.dsn", "$<secrets:s.properties:region>")
logging.basicConfig(level=logging.DEBUG, filename="debug.log")
spark = create_session(configured, "job.properties")
logging.getLogger().setLevel(logging.WARNING)
conf = spark.sparkContext.getConf()
print(json.dumps({
    "hadoop": spark.sparkContext._jsc.hadoopConfiguration().get("fs.x.apikey"),
    "runtime": spark.conf.get("spark.my.dsn"),
    "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
    "providers": [key for key, _ in conf.getAll() if "config.providers" in key],
    "set": {row.key: row.value for row in spark.sql("SET").collect()},
    "regex": conf.get("spark.redaction.regex"),
    "command lines": command_lines(),
    "rows": spark.range(10).repartition(2).count(),
}))
spark.stop()
"""
    )

    import json

    seen = json.loads(out)
    assert seen["hadoop"] == CANARY
    assert seen["runtime"] == f"eu-{CANARY}"
    assert seen["partitions"] == "3"
    assert seen["providers"] == []
    assert seen["rows"] == 10
    assert seen["set"]["spark.hadoop.fs.x.apikey"] == "*********(redacted)"
    assert seen["set"]["spark.my.dsn"] == "*********(redacted)"
    assert "(?i)secret|password|token" in seen["regex"]
    assert "spark.app" in seen["command lines"] or "pyspark-shell" in seen["command lines"]
    assert CANARY not in seen["command lines"]
    assert CANARY not in (tmp_path / "debug.log").read_text()
    logs = [file for file in (tmp_path / "events").rglob("*") if file.is_file()]
    assert logs
    assert all(b"spark.my.dsn" in file.read_bytes() or "status" in file.name for file in logs)
    assert all(CANARY.encode() not in file.read_bytes() for file in logs)


def test_a_running_session_takes_plain_entries_but_no_new_secret(in_a_process: InAProcess) -> None:
    out = in_a_process(
        SETUP
        + """
one = create_session(builder(), {"spark.a": "${file:s.properties:key}"})
again = {"spark.a": "${file:s.properties:key}", "spark.plain": True, "spark.redaction.regex": "x"}
two = create_session(builder(), again)
print(one is two, two.conf.get("spark.plain"))
print("shown" if "canary-" in str(two.sql("SET").collect()) else "redacted")
try:
    create_session(builder(), {"spark.b": "${file:s.properties:key}", "spark.c": "x"})
except ConfigException as error:
    print(error)
print(two.conf.get("spark.c", "not set"))
"""
    )

    assert out.splitlines()[:2] == ["True true", "redacted"]
    assert "spark.b: a SparkContext is running and takes no secrets any more" in out
    assert out.splitlines()[-1] == "not set"
    assert CANARY not in out


def test_a_conf_can_be_used_without_its_secret_reaching_a_command_line(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
mine = {"live": StaticConfigProvider({"p": {"k": "from-a-live-provider"}})}
conf = SparkConf().setMaster("local[1]").setAppName("x").set("spark.ui.enabled", "false")
conf.set("spark.secret.a", "${file:s.properties:key}")
conf.set("spark.redaction.regex", "mine-too")
resolved = resolve_conf(conf, {"spark.live": "${live:p:k}", "config.providers": "file",
    "config.providers.file.class": "file"}, providers=mine)
context = SparkContext(conf=resolved)
print(context.getConf().get("spark.live"), len(context.getConf().get("spark.secret.a")))
print(conf.get("spark.secret.a"))
print(context.getConf().get("spark.redaction.regex"))
print("from-a-live" in command_lines(), "canary-" in command_lines())
"""
    )

    lines = out.splitlines()
    assert lines[0] == f"from-a-live-provider {len(CANARY)}"
    assert lines[1] == "${file:s.properties:key}"
    assert "(?i)secret|password" in lines[2]
    assert "mine-too" in lines[2]
    assert lines[3] == "False False"


def test_an_unresolved_reference_stops_before_a_jvm_starts(in_a_process: InAProcess) -> None:
    out = in_a_process(
        SETUP
        + """
try:
    create_session(builder().config("spark.a", "${file:s.properties:kee}"), {"spark.b": "${v:x:y}"})
except ConfigException as error:
    print(error)
print(SparkContext._jvm)
"""
    )

    assert "spark.a: ${file:s.properties:kee}: no key 'kee'" in out
    assert "spark.b: ${v:x:y}: no config provider named 'v'" in out
    assert out.splitlines()[-1] == "None"


def test_what_would_come_too_late_or_be_changed_is_refused_before_a_jvm_starts(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
live = {"live": StaticConfigProvider({"p": {"k": "pre${user.name}post"}})}
for key in ("spark.driver.memory", "spark.jars", "spark.hadoop.fs.x.key"):
    try:
        create_session(builder(), {key: "${live:p:k}"}, providers=live)
    except ConfigException as error:
        print(error)
print(SparkContext._jvm)
"""
    )

    memory, jars, hadoop, jvm = out.splitlines()
    reason = "no reference may stand there, since Spark takes it from the command line of the JVM"
    assert memory.startswith(f"spark.driver.memory: {reason}")
    assert jars.startswith(f"spark.jars: {reason}")
    assert hadoop.startswith("spark.hadoop.fs.x.key: the value holds '${', which Hadoop would")
    assert "post" not in out
    assert jvm == "None"


def test_a_value_that_spark_refuses_is_not_quoted(in_a_process: InAProcess) -> None:
    out = in_a_process(
        SETUP
        + """
import traceback
try:
    create_session(builder(), {"spark.driver.port": "${file:s.properties:key}"})
except ConfigException:
    print(traceback.format_exc())
"""
    )

    assert "ConfigException: spark.driver.port: Spark does not take the value: " in out
    assert CANARY not in out


@pytest.mark.parametrize(
    ("configs", "environ"),
    [
        ({"spark.remote": "sc://localhost"}, {}),
        ({"spark.api.mode": "connect"}, {}),
        ({}, {"SPARK_REMOTE": "sc://localhost"}),
        ({}, {"SPARK_API_MODE": "connect"}),
    ],
)
def test_spark_connect_is_refused_with_the_reason(
    in_a_process: InAProcess, configs: dict[str, str], environ: dict[str, str]
) -> None:
    out = in_a_process(
        SETUP
        + f"""
configs = {configs!r} | {{"spark.a": "${{file:s.properties:key}}"}}
for act in (lambda: create_session(SparkSession.builder, configs),
            lambda: resolve_conf(SparkConf(), configs)):
    try:
        act()
    except ConfigException as error:
        print(error)
""",
        **environ,
    )

    refusal = "spark.a: Spark Connect would send the values to a server that shows them"
    assert [line.startswith(refusal) for line in out.splitlines()] == [True, True]
