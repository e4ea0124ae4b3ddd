"""Sessions, each in a process of its own: where the secret arrives, and where it is not seen."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

from configproviders.spark._resolution import ours_among
from configproviders.testing import CANARY

pytestmark = pytest.mark.spark

InAProcess = Callable[..., str]
TOP = Path(__file__).parents[2]

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
        "spark.sql.catalog.pg.pass=${secrets:s.properties:key}\n"
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
everything = dict(conf.getAll()) | spark.conf.getAll
print(json.dumps({
    "in confs": [key for key in everything if "apikey" in key],
    "catalog": spark.conf.get("spark.sql.catalog.pg.pass"),
    "catalog of another": spark.newSession().conf.get("spark.sql.catalog.pg.pass"),
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
    assert seen["in confs"] == []
    assert seen["catalog"] == CANARY
    assert seen["catalog of another"] == CANARY
    assert seen["hadoop"] == CANARY
    assert seen["runtime"] == f"eu-{CANARY}"
    assert seen["partitions"] == "3"
    assert seen["providers"] == []
    assert seen["rows"] == 10
    assert seen["set"]["spark.sql.catalog.pg.pass"] == "*********(redacted)"
    assert "spark.hadoop.fs.x.apikey" not in seen["set"]
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
    assert "spark.b: a SparkContext is running that takes no secrets any more" in out
    assert out.splitlines()[-1] == "not set"
    assert CANARY not in out


def test_a_running_context_takes_what_hadoop_reads_if_it_redacts_that(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
running = builder().getOrCreate()
one = create_session(builder().config("spark.driver.memory", "3g"), {
    "spark.hadoop.fs.x.secret.key": "${file:s.properties:key}"})
hadoop = one.sparkContext._jsc.hadoopConfiguration()
print(one is running, len(hadoop.get("fs.x.secret.key")))
both = {"spark.hadoop.fs.x.password": "${file:s.properties:key}",
    "spark.hadoop.fs.azure.account.key.x": "${file:s.properties:key}"}
try:
    create_session(builder(), both)
except ConfigException as error:
    print(error)
print(hadoop.get("fs.x.password"))
"""
    )

    ignored, taken, refused, nothing = out.splitlines()
    end = "the JVM or context that runs already does not take any more: spark.driver.memory"
    assert ignored == f"WARNING {end}"
    assert taken == f"True {len(CANARY)}"
    assert refused.startswith("spark.hadoop.fs.azure.account.key.x: a SparkContext is running that")
    assert nothing == "None"


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


def test_a_submitted_reference_is_resolved_in_the_job(tmp_path: Path) -> None:
    (tmp_path / "job.properties").write_text(
        "spark.master=local[1]\nspark.ui.enabled=false\nspark.my.dsn=${it:s.properties:key}\n"
        "spark.hadoop.fs.x.key=${it:s.properties:key}\nspark.theirs=${system:x}\n"
        "spark.config.providers=it\nspark.config.providers.it.class=file\n"
    )
    (tmp_path / "job.py").write_text(
        SETUP
        + """
spark = create_session(SparkSession.builder)
conf = spark.sparkContext.getConf()
print(len(conf.get("spark.my.dsn")), conf.get("spark.theirs"))
print(len(spark.sparkContext._jsc.hadoopConfiguration().get("fs.x.key")))
print("canary-" in command_lines())
"""
    )
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"

    done = subprocess.run(
        [submit, "--properties-file", "job.properties", "job.py"],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=False,
    )

    lines = done.stdout.splitlines()
    assert lines == [f"{len(CANARY)} ${{system:x}}", str(len(CANARY)), "False"], done.stderr
    assert CANARY not in done.stderr


def test_of_what_was_submitted_all_is_ours_but_spark_s_own_syntax() -> None:
    submitted = {
        "spark.a": "${vault:secret/x:key}",
        "spark.b": "plain ${no.colon}",
        "spark.c": "${env:HOME}",
        "spark.executor.extraJavaOptions": "-Dx=${env:HOME} ${system:user.name}",
        "spark.d": "${system:user.name}",
    }

    assert ours_among(submitted).keys() == {"spark.a", "spark.c"}


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

    assert "ConfigException: Spark does not start: " in out
    assert '*********(redacted)\' in the config "spark.driver.port" is invalid' in out
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


def test_options_are_redacted_in_sessions_of_other_threads_and_later_ones(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
from concurrent.futures import ThreadPoolExecutor

def start(name):
    return create_session(builder(), {f"spark.{name}.dsn": "${file:s.properties:key}"})

with ThreadPoolExecutor(2) as threads:
    tries = [threads.submit(start, name) for name in ("one", "two")]
    started = [each.result() for each in tries if each.exception() is None]
    refused = [str(each.exception()) for each in tries if each.exception() is not None]
    spark = started[0]
    threads.submit(resolve_options, {"my.DSN": "${file:s.properties:key}"}).result()
print(len(started), len(refused), "takes no secrets any more" in refused[0])
options = resolve_options({"other.dsn": "${file:s.properties:key}"})
for session in (spark, spark.newSession()):
    regex = session.conf.get("spark.sql.redaction.options.regex")
    print("(?i)url" in regex, "DSN" in regex, "other" in regex)
theirs = {"spark.sql.redaction.options.regex": "theirs"}
regex = create_session(builder(), theirs).conf.get("spark.sql.redaction.options.regex")
print("theirs" in regex, "(?i)url" in regex)
try:
    create_session(builder(), {"spark.x": "1", "spark.sql.redaction.options.regex": "(?x) a # b"})
except ConfigException as error:
    print(error)
"""
    )

    one, *sessions, both, broken = out.splitlines()
    assert one == "1 1 True"
    assert sessions == ["True True True"] * 2
    assert both == "True True"
    assert broken.startswith("spark.sql.redaction.options.regex is a pattern that does not compile")


def test_a_key_that_may_be_seen_at_the_launch_is_hidden_where_spark_can(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
leaks = {"spark.driver.extraJavaOptions": "-Dx=${file:s.properties:key}"}
spark = create_session(builder(), leaks, allow_leaks=leaks)
create_session(builder(), leaks, allow_leaks=leaks)
print("canary-" in str(spark.sql("SET").collect()), "canary-" in command_lines())
print(spark.sparkContext._jvm.System.getProperty("x")[:7])
"""
    )

    assert out.splitlines() == ["False True", "canary-"]


def test_what_spark_reads_from_its_own_files_changes_the_routes(
    in_a_process: InAProcess, tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master k8s://https://127.0.0.1:1\n")

    out = in_a_process(
        SETUP
        + """
try:
    create_session(SparkSession.builder, {"spark.my.dsn": "${file:s.properties:key}"})
except ConfigException as error:
    print(error)
""",
        SPARK_CONF_DIR=str(tmp_path),
    )

    assert "spark.my.dsn: it would be seen in ConfigMaps of Kubernetes" in out
