"""What is said of configs that do not fit together, all at once; nothing runs for it."""

from __future__ import annotations

import pytest

from configproviders.data import SecretText
from configproviders.errors import UnsupportedOperation
from configproviders.worker.connector import Connector
from configproviders.worker.connectors.file_stream import (
    FileStreamSinkConnector,
    FileStreamSourceConnector,
)
from configproviders.worker.connectors.jdbc import JdbcSourceConnector
from configproviders.worker.connectors.kafka import KafkaSinkConnector, KafkaSourceConnector
from configproviders.worker.connectors.pipeline import SparkPipelineConnector

PIPELINE = {
    "name": "orders",
    "connector.class": "SparkPipeline",
    "tasks.max": "2",
    "source.format": "jdbc",
    "source.options.url": "jdbc:postgresql://db/orders",
    "source.options.dbtable": "orders",
    "sink.format": "parquet",
    "sink.options.path": "/data/orders",
}
STREAM = {
    **PIPELINE,
    "mode": "streaming",
    "source.format": "json",
    "source.schema": "n BIGINT",
    "checkpoint.location": "/checkpoint",
}
JDBC = {
    "connection.url": "jdbc:postgresql://db/orders",
    "connection.user": "reader",
    "connection.password": "secret",
    "table.whitelist": "orders,customers",
    "sink.format": "parquet",
    "sink.options.path": "/data/{table}",
}
KAFKA_SOURCE = {
    "kafka.bootstrap.servers": "broker:9092",
    "kafka.security.protocol": "SASL_SSL",
    "topics": "orders",
    "checkpoint.location": "/checkpoint",
    "sink.format": "parquet",
    "sink.options.path": "/data/orders",
}
KAFKA_SINK = {
    "kafka.bootstrap.servers": "broker:9092",
    "topic": "orders",
    "source.format": "json",
    "source.options.path": "/data/orders",
}
FILE_SOURCE = {
    "path": "/spool",
    "checkpoint.location": "/checkpoint",
    "sink.format": "parquet",
    "sink.options.path": "/data/orders",
}
FILE_SINK = {"path": "/data", "source.format": "rate", "checkpoint.location": "/checkpoint"}

RIGHT: list[tuple[type[Connector], dict[str, str]]] = [
    (SparkPipelineConnector, PIPELINE),
    (SparkPipelineConnector, STREAM),
    (SparkPipelineConnector, {**PIPELINE, "spark.sql.shuffle.partitions": "1", "owner": "team"}),
    (JdbcSourceConnector, JDBC),
    (KafkaSourceConnector, KAFKA_SOURCE),
    (KafkaSinkConnector, KAFKA_SINK),
    (FileStreamSourceConnector, FILE_SOURCE),
    (FileStreamSinkConnector, FILE_SINK),
]


@pytest.mark.parametrize(("connector", "config"), RIGHT)
def test_what_fits_together_is_right(connector: type[Connector], config: dict[str, str]) -> None:
    assert connector.config_def.errors(config) == {}
    assert connector().validate(config) == {}


@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ({"source.option.password": "x"}, "source.option.password", "'source.options.<name>'"),
        ({"sink.mod": "append"}, "sink.mod", "did you mean 'sink.mode'"),
        ({"transform.script": "x"}, "transform.script", "no setting named 'transform.script'"),
        ({"source.options.": "x"}, "source.options.", "no setting named"),
        ({"modes": "batch"}, "modes", "did you mean 'mode'"),
        ({"shedule.interval.ms": "1"}, "shedule.interval.ms", "'schedule.interval.ms'"),
        ({"mode": "streaming"}, "checkpoint.location", "mode=streaming needs it"),
        ({"mode": "streaming"}, "source.format", "Spark reads no stream of jdbc"),
        ({"mode": "schedule"}, "schedule.interval.ms", "mode=schedule needs it"),
        ({"schedule.interval.ms": "5"}, "schedule.interval.ms", "it is for mode=schedule"),
        ({"trigger.interval.ms": "5"}, "trigger.interval.ms", "it is for mode=streaming"),
        ({"checkpoint.location": "/c"}, "checkpoint.location", "it is for mode=streaming"),
        ({"sink.mode": "update"}, "sink.mode", "a batch is written with append or overwrite"),
        (
            {"transform.sql": "SELECT 1", "transform.function": "m:f"},
            "transform.function",
            "exclude each other",
        ),
        ({"source.tables": "a,b"}, "source.options.dbtable", "write {table} for the name"),
        ({"source.tables": "a,b"}, "sink.options.path", "write {table} for the name"),
        ({"source.tables": "a,b", "sink.table": "t"}, "sink.table", "write {table}"),
        ({"source.tables": "a,a"}, "source.tables", "a table is there twice"),
        ({"source.tables": "a,"}, "source.tables", "or has no name"),
        ({"source.tables": "a", "source.options.query": "q"}, "source.tables", "exclude"),
    ],
)
def test_what_does_not_fit_is_said(more: dict[str, str], key: str, message: str) -> None:
    found = SparkPipelineConnector().validate({**PIPELINE, **more})

    assert message in " ".join(found[key])


@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ({"source.schema": ""}, "source.schema", "a stream of json needs it, as in 'id BIGINT'"),
        ({"sink.mode": "complete"}, "sink.mode", "a stream to parquet is written with append"),
        ({"sink.mode": "ignore", "sink.format": "jdbc"}, "sink.mode", "append or update or comple"),
        ({"source.tables": "a"}, "source.tables", "a stream has one source"),
        ({"sink.options.checkpointLocation": "/c"}, "checkpoint.location", "write it here"),
    ],
)
def test_what_does_not_fit_a_stream_is_said(more: dict[str, str], key: str, message: str) -> None:
    found = SparkPipelineConnector().validate({**STREAM, **more})

    assert message in " ".join(found[key])


def test_files_of_which_spark_finds_the_schema_need_none() -> None:
    config = {**STREAM, "spark.sql.streaming.schemaInference": "true"}
    del config["source.schema"]

    assert SparkPipelineConnector().validate(config) == {}


def test_tables_that_are_no_tables_of_a_database_need_a_place_for_their_name() -> None:
    config = {**PIPELINE, "source.format": "json", "source.tables": "a"}
    del config["source.options.dbtable"]

    found = SparkPipelineConnector().validate(config)

    assert found["source.tables"] == ["write {table} in source.options.path"]


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:derby:memory:orders;create=true",
        "jdbc:derby:/data/orders",
        "jdbc:h2:mem:orders",
        "JDBC:H2:~/orders",
        "jdbc:hsqldb:file:orders",
    ],
)
@pytest.mark.parametrize("source", ["jdbc", "org.apache.spark.sql.jdbc"])
def test_a_database_within_the_worker_is_refused_since_its_sql_runs_java(
    url: str, source: str
) -> None:
    config = {**PIPELINE, "source.format": source, "source.options.URL": url}
    del config["source.options.url"]

    found = SparkPipelineConnector().validate(config)

    assert "would run in the worker itself" in " ".join(found["source.options.url"])


@pytest.mark.parametrize("url", ["jdbc:derby://db/orders", "jdbc:h2:tcp://db/orders"])
def test_such_a_database_on_a_server_is_not(url: str) -> None:
    assert SparkPipelineConnector().validate({**PIPELINE, "source.options.url": url}) == {}


@pytest.mark.parametrize(
    "key", ["transform.sql", "source.select", "sink.select", "source.schema", "sink.table"]
)
def test_no_secret_may_stand_where_spark_shows_it(key: str) -> None:
    found = SparkPipelineConnector().validate({**PIPELINE, key: SecretText("x")})

    assert found[key] == ["no reference may stand there: Spark shows it in plans, logs and paths"]


def test_no_secret_may_be_an_option_that_a_catalog_would_keep() -> None:
    config = {**PIPELINE, "sink.options.password": SecretText("x")}

    found = SparkPipelineConnector().validate({**config, "sink.table": "orders"})

    assert list(found) == ["sink.options.password"]
    assert SparkPipelineConnector().validate(config) == {}


def test_all_is_said_at_once() -> None:
    config = {**PIPELINE, "mode": "streaming", "sink.mode": "ignore", "sink.formt": "x"}

    found = SparkPipelineConnector().validate(config)

    assert found.keys() == {"checkpoint.location", "source.format", "sink.mode", "sink.formt"}


@pytest.mark.parametrize(
    ("connector", "config", "key", "message"),
    [
        (JdbcSourceConnector, {**JDBC, "table.whitelist": ""}, "table.whitelist", "name tables"),
        (JdbcSourceConnector, {**JDBC, "query": "SELECT 1"}, "table.whitelist", "exclude each"),
        (JdbcSourceConnector, {**JDBC, "table.whitelist": "a,a"}, "table.whitelist", "twice"),
        (JdbcSourceConnector, {**JDBC, "source.format": "csv"}, "source.format", "no setting"),
        (JdbcSourceConnector, {**JDBC, "poll.interval.ms": "0"}, "poll.interval.ms", "needs it"),
        (KafkaSourceConnector, {**KAFKA_SOURCE, "topics": ""}, "topics", "either topics or"),
        (KafkaSourceConnector, {**KAFKA_SOURCE, "topics.regex": "o.*"}, "topics", "either topics"),
        (KafkaSinkConnector, {**KAFKA_SINK, "topics": "t"}, "topics", "did you mean 'topic'"),
        (KafkaSinkConnector, {**KAFKA_SINK, "mode": "streaming"}, "source.schema", "needs it"),
        (FileStreamSourceConnector, {**FILE_SOURCE, "format": "csv"}, "schema", "needs it"),
        (FileStreamSourceConnector, {**FILE_SOURCE, "mode": "batch"}, "mode", "did you mean"),
    ],
)
def test_a_thin_connector_speaks_of_its_own_settings(
    connector: type[Connector], config: dict[str, str], key: str, message: str
) -> None:
    found = connector().validate(config)

    assert message in " ".join(found[key])


@pytest.mark.parametrize(
    ("connector", "config"),
    [
        (JdbcSourceConnector(), {**JDBC, "query": ""}),
        (KafkaSourceConnector(), {**KAFKA_SOURCE, "topics.regex": ""}),
    ],
    ids=["jdbc", "kafka"],
)
def test_an_empty_setting_is_as_one_that_is_not_given(
    connector: SparkPipelineConnector, config: dict[str, str]
) -> None:
    given = {key: text for key, text in config.items() if text}

    assert connector.validate(config) == {}
    assert connector.pipeline(config) == connector.pipeline(given)


def test_nobody_reads_a_checkpoint_where_no_spark_runs() -> None:
    with pytest.raises(UnsupportedOperation, match="no Spark application runs"):
        SparkPipelineConnector().offsets(STREAM)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/orders",
        "jdbc:postgresql://reader:secret@db/orders",
        "jdbc:postgresql://db/orders?user=reader&password=secret",
        "jdbc:sqlserver://db;Password=secret",
    ],
)
def test_a_url_with_credentials_is_refused_and_not_quoted(url: str) -> None:
    found = JdbcSourceConnector().validate({**JDBC, "connection.url": url})
    of_pipeline = SparkPipelineConnector().validate({**PIPELINE, "source.options.url": url})

    assert list(found) == ["connection.url"]
    assert list(of_pipeline) == ["source.options.url"]
    assert "secret" not in f"{found}{of_pipeline}"


@pytest.mark.parametrize(
    ("connector", "key"),
    [
        (SparkPipelineConnector, "source.options.password"),
        (SparkPipelineConnector, "sink.options.password"),
        (JdbcSourceConnector, "connection.password"),
        (JdbcSourceConnector, "sink.options.password"),
        (KafkaSourceConnector, "kafka.sasl.jaas.config"),
        (KafkaSinkConnector, "kafka.ssl.key.password"),
    ],
)
def test_a_password_is_known_as_one(connector: type[Connector], key: str) -> None:
    keys = {each.name: each for each in connector.config_def.expanded({key: "x"})}

    assert keys[key].type.kind == "PASSWORD"


@pytest.mark.parametrize(("connector", "config"), RIGHT)
def test_a_connector_has_a_version_and_a_type(
    connector: type[Connector], config: dict[str, str]
) -> None:
    assert connector.version()[0].isdigit()
    assert connector.type == ("sink" if "Sink" in connector.__name__ else "source")


IAM = {
    "kafka.sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "kafka.sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMHandler",
}
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required username='a';"


@pytest.mark.parametrize(
    "option",
    [
        "driver",
        "connectionProvider",
        "kafka.interceptor.classes",
        "kafka.metric.reporters",
        "kafka.sasl.login.callback.handler.class",
        "kafka.ssl.engine.factory.class",
        "spark.sql.parquet.output.committer.class",
    ],
)
@pytest.mark.parametrize("side", ["source", "sink"])
def test_no_option_may_name_code_to_load(side: str, option: str) -> None:
    key = f"{side}.options.{option}"

    said = SparkPipelineConnector().validate({**PIPELINE, key: "com.example.Code"})

    assert said == {key: ["it names code to load, which is not for a connector's config to say"]}


@pytest.mark.parametrize(
    "text", ["com.sun.security.auth.module.JndiLoginModule required;", f"{LOGIN} x.LoginModule a;"]
)
def test_a_login_to_kafka_is_by_its_own_modules(text: str) -> None:
    said = KafkaSourceConnector().validate({**KAFKA_SOURCE, "kafka.sasl.jaas.config": text})

    assert [list(each) for each in said.values()] == [
        ["it names code to load, which is not for a connector's config to say"]
    ]


@pytest.mark.parametrize("login", [{"kafka.sasl.jaas.config": LOGIN}, IAM], ids=["scram", "iam"])
def test_a_login_to_kafka_by_a_known_module_is_right(login: dict[str, str]) -> None:
    assert KafkaSourceConnector().validate({**KAFKA_SOURCE, **login}) == {}


@pytest.mark.parametrize("key", ["source.format", "sink.format"])
def test_a_format_is_no_class(key: str) -> None:
    said = SparkPipelineConnector().validate({**PIPELINE, key: "org.apache.spark.sql.jdbc"})

    assert any("names code to load" in each for each in said[key])


@pytest.mark.parametrize("option", ["compression", "url", "dbtable", "partitionColumn"])
def test_no_secret_may_be_an_option_that_is_shown(option: str) -> None:
    key = f"source.options.{option}"

    said = SparkPipelineConnector().validate({**PIPELINE, key: SecretText("jdbc:x")})

    assert any("no reference may stand there" in each for each in said[key])


def test_no_url_may_name_code_to_load() -> None:
    url = "jdbc:postgresql://db/orders?socketFactory=com.example.Code"

    said = JdbcSourceConnector().validate({**JDBC, "connection.url": url})

    assert list(said) == ["connection.url"]


def test_what_is_misspelt_is_said_beside_what_cannot_be_read() -> None:
    said = SparkPipelineConnector().validate({**PIPELINE, "mode": "often", "sink.mod": "append"})

    assert list(said) == ["sink.mod"]
