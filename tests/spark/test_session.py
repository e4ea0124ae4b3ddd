"""Sessions, each in a process of its own: where the secret arrives, and where it is not seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from spark.programs import SETUP, InAProcess

from configproviders.testing import CANARY

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("secret_file")]


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


def test_no_frame_of_a_start_that_fails_has_a_value_among_its_locals(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
many = {f"spark.x{number}.dsn": "${file:s.properties:key}" for number in range(200)}
logs = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": "file:/not/there"}
try:
    create_session(builder(), many | logs)
except Exception as error:
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    print("".join(report.format()))
"""
    )

    assert "FileNotFoundException" in out
    assert "many = " in out
    assert CANARY not in out


def test_a_key_that_may_be_seen_at_the_launch_is_hidden_where_spark_can(
    in_a_process: InAProcess,
) -> None:
    out = in_a_process(
        SETUP
        + """
value = "seen-by-all"  # Other tests look for theirs on all command lines meanwhile.
live = {"live": StaticConfigProvider({"p": {"k": value}})}
leaks = {"spark.driver.extraJavaOptions": "-Dx=${live:p:k}"}
spark = create_session(builder(), leaks, providers=live, allow_leaks=leaks)
create_session(builder(), leaks, providers=live, allow_leaks=leaks)
print(value in str(spark.sql("SET").collect()), value in command_lines())
print(spark.sparkContext._jvm.System.getProperty("x"))
"""
    )

    assert out.splitlines() == ["False True", "seen-by-all"]


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
