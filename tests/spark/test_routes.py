from __future__ import annotations

import traceback

import pytest

from configproviders import ConfigException
from configproviders.spark import Route, Way, resolve_options, route
from configproviders.spark.routes import stream_route
from configproviders.testing import CANARY, StaticConfigProvider

LIVE = {"live": StaticConfigProvider({"p": {"k": CANARY, "odd": f"{CANARY}${{user.name}}"}})}


@pytest.mark.parametrize(
    ("key", "way"),
    [
        ("spark.hadoop.fs.s3a.secret.key", Way.HADOOP),
        ("spark.sql.catalog.pg.password", Way.SPARK_CONF),
        ("spark.ssl.keyPassword", Way.SPARK_CONF),
        ("password", Way.OPTION),
        ("kafka.sasl.jaas.config", Way.OPTION),
        ("fs.azure.account.key.x", Way.OPTION),
    ],
)
def test_a_key_goes_the_way_that_shows_it_to_fewest(key: str, way: Way) -> None:
    assert route(key) == Route(way)


@pytest.mark.parametrize(
    "key",
    [
        "spark.driver.extraJavaOptions",
        "spark.executor.extraJavaOptions",
        "spark.yarn.am.extraJavaOptions",
        "spark.executorEnv.PASSWORD",
        "spark.kubernetes.driverEnv.PASSWORD",
        "spark.jars.packages",
        "spark.redaction.string.regex",
        "spark.job.description",
        "spark.app.name",
        "spark.network.crypto.keyLength",
        "spark.authenticate.secret",
        "spark.sql.catalog.pg.url",
        "spark.sql.catalog.pg.sessionInitStatement",
        "spark.hadoop.javax.jdo.option.ConnectionURL",
        "path",
        "url",
        "URL",
        "dbTable",
        "query",
        "dbtable",
        "sessionInitStatement",
    ],
)
def test_what_every_way_shows_is_refused_with_place_and_alternative(key: str) -> None:
    refused = route(key)

    assert refused.is_refused
    assert refused.instead


@pytest.mark.parametrize("master", ["yarn", "k8s://https://example.org"])
def test_what_writes_spark_conf_down_changes_the_route(master: str) -> None:
    configs = {"spark.master": master}

    assert route("spark.my.dsn", configs).is_refused
    assert route("spark.hadoop.fs.s3a.secret.key", configs) == Route(Way.HADOOP)
    assert route("spark.sql.catalog.pg.password", configs) == Route(Way.RUNTIME)


@pytest.mark.parametrize("key", ["spark.hadoop.fs.s3a.secret.key", "spark.sql.catalog.pg.x"])
def test_a_conf_alone_takes_nothing_later_and_is_written_down_whole(key: str) -> None:
    assert route(key, before_context=True) == Route(Way.SPARK_CONF)
    assert route(key, {"spark.master": "yarn"}, before_context=True).is_refused


@pytest.mark.parametrize(
    ("scheme", "key"),
    [
        ("s3a", "spark.hadoop.fs.s3a.secret.key"),
        ("abfss", "spark.hadoop.fs.azure.account.key.x"),
        ("gs", "spark.hadoop.google.cloud.auth.x"),
    ],
)
@pytest.mark.parametrize("place", ["spark.files", "spark.jars", "spark.eventLog.dir"])
def test_what_the_start_of_the_context_reads_is_set_before(
    place: str, scheme: str, key: str
) -> None:
    configs = {place: f"{scheme}://here/it", "spark.eventLog.enabled": "true"}

    assert route(key, configs) == Route(Way.SPARK_CONF)
    assert route(key, {place: "file:/here"}) == Route(Way.HADOOP)


def test_the_file_system_of_the_event_log_is_needed_before_the_context_runs() -> None:
    configs = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": "s3a://logs/here"}

    assert route("spark.hadoop.fs.s3a.secret.key", configs).way is Way.SPARK_CONF
    assert route("spark.hadoop.fs.azure.account.key.x", configs).way is Way.HADOOP
    configs |= {"spark.master": "yarn"}
    assert route("spark.hadoop.fs.s3a.secret.key", configs).is_refused


def test_streams_from_files_log_their_options() -> None:
    assert stream_route("fs.s3a.secret.key", "JSON").is_refused
    assert stream_route("kafka.ssl.key.password", "kafka") == Route(Way.OPTION)
    with pytest.raises(ConfigException, match=r"fs\.k: it would be seen in the log, where"):
        resolve_options({"fs.k": "${live:p:k}"}, providers=LIVE, stream_format="csv")


def test_options_that_are_shown_are_refused_unless_allowed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    options = {"url": "jdbc:x:${live:p:k}", "query": "SELECT '${live:p:k}'", "user": "${live:p:k}"}

    with pytest.raises(ConfigException) as refused:
        resolve_options(options, providers=LIVE, allow_leaks={"query"})
    resolved = resolve_options(options, providers=LIVE, allow_leaks={"query", "url"})

    head, url = str(refused.value).splitlines()
    assert head.endswith("unless allow_leaks names the key:")
    assert url.startswith("  url: it would be seen in errors of the driver, which quote the URL;")
    assert resolved["url"] == f"jdbc:x:{CANARY}"
    assert "url: a secret is seen in errors" in caplog.text
    assert CANARY not in caplog.text + str(refused.value) + repr(resolved)


@pytest.mark.parametrize(
    "options",
    [
        {"fs.x.key": "${live:p:odd}"},
        {"url": "${live:p:k}", "password": "${live:p:k}"},
        {"password": "${live:p:k}", "user": "${live:p:missing}"},
    ],
)
def test_no_frame_of_a_refusal_has_a_value_among_its_locals(options: dict[str, str]) -> None:
    with pytest.raises(ConfigException) as refused:
        resolve_options(options, providers=LIVE)

    report = traceback.TracebackException.from_exception(refused.value, capture_locals=True)
    assert "options = " in "".join(report.format())
    assert CANARY not in "".join(report.format())


def test_one_text_is_no_set_of_keys() -> None:
    with pytest.raises(ConfigException, match="allow_leaks is a set of keys, not one text"):
        resolve_options({"url": "${live:p:k}"}, providers=LIVE, allow_leaks="url")


def test_options_that_hadoop_would_change_are_refused_and_others_go_unharmed() -> None:
    with pytest.raises(ConfigException, match=r"fs\.x\.key: the value holds '\$\{…\}'") as refused:
        resolve_options({"fs.x.key": "${live:p:odd}"}, providers=LIVE)

    assert CANARY not in str(refused.value)
    resolved = resolve_options({"password": "${live:p:odd}"}, providers=LIVE)
    assert resolved["password"] == f"{CANARY}${{user.name}}"
