"""What is there before: a context that runs, other threads, a submitted conf, Spark's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from spark.programs import SETUP, InAProcess

from configproviders.spark._resolution import ours_among
from configproviders.testing import CANARY

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("secret_file")]
TOP = Path(__file__).parents[2]


def test_a_running_session_takes_plain_entries_but_no_new_secret(in_a_process: InAProcess) -> None:
    out = in_a_process(
        SETUP
        + """
one = create_session(builder(), {"spark.a": "${file:s.properties:key}"})
again = {"spark.a": "${file:s.properties:key}", "spark.plain": True, "spark.redaction.regex": "x"}
two = create_session(builder(), again)
print(one is two, two.conf.get("spark.plain"))
print("shown" if "canary-" in str(two.sql("SET").collect()) else "redacted")
for key in ("spark.executorEnv.A", "spark.b"):
    try:
        create_session(builder(), {key: "${file:s.properties:key}", "spark.c": "x"})
    except ConfigException as error:
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        print("".join(report.format()))
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
