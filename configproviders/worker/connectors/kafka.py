"""Topics of Kafka: :class:`KafkaSourceConnector` and :class:`KafkaSinkConnector`.

::

    connector.class=KafkaSourceConnector
    kafka.bootstrap.servers=broker:9092
    topics=orders
    checkpoint.location=/var/lib/orders/checkpoint
    sink.format=parquet
    sink.options.path=/data/orders

Spark's format ``kafka`` has to be on the class path of the worker:
``spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:<version>`` in its config; 4.2.0
works with Spark 4.3.0. What stands under ``kafka.`` goes to Kafka's client, with its names:
``kafka.security.protocol=SASL_SSL``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from ...config_def import (
    LIST,
    NO_DEFAULT,
    PASSWORD,
    STRING,
    ConfigDef,
    ConfigKey,
    not_empty,
    one_of,
)
from ..connector import ConnectorType
from . import _settings as settings
from .pipeline import SparkPipelineConnector

_KAFKA = "Kafka"
_SERVERS = ConfigKey(
    "kafka.bootstrap.servers",
    STRING,
    NO_DEFAULT,
    "high",
    "Brokers to begin with: host:port, separated by commas.",
    validator=not_empty,
    group=_KAFKA,
    width="LONG",
    display_name="Bootstrap servers",
)
_CLIENT = ConfigKey(
    "kafka.<name>",
    STRING,
    None,
    "medium",
    "A setting of Kafka's client, consumer or producer.",
    group=_KAFKA,
    width="LONG",
)
_SECRETS = tuple(
    ConfigKey(f"kafka.{name}", PASSWORD, None, "medium", doc, group=_KAFKA, width="LONG")
    for name, doc in {
        "sasl.jaas.config": "How the client logs in, with user and password.",
        "ssl.key.password": "The password of the private key of the client.",
        "ssl.keystore.password": "The password of the file with the key of the client.",
        "ssl.truststore.password": "The password of the file with the certificates to trust.",
    }.items()
)
_TOPICS = ConfigKey(
    "topics",
    LIST,
    (),
    "high",
    "The topics to read.",
    group=_KAFKA,
    width="LONG",
    display_name="Topics",
)
_TOPICS_REGEX = ConfigKey(
    "topics.regex",
    STRING,
    None,
    "high",
    "The topics to read, as a regular expression of Java, in the place of topics.",
    group=_KAFKA,
    width="LONG",
    display_name="Topics regex",
)
_TOPIC = ConfigKey(
    "topic",
    STRING,
    NO_DEFAULT,
    "high",
    "The topic to write to.",
    validator=not_empty,
    group=_KAFKA,
    width="LONG",
    display_name="Topic",
)
_OFFSET_RESET = ConfigKey(
    "auto.offset.reset",
    one_of("earliest", "latest"),
    "earliest",
    "medium",
    "Where the first start begins; later ones go on from the checkpoint.",
    group=_KAFKA,
    width="SHORT",
    display_name="Auto offset reset",
)
_COLUMNS = (
    "CAST(key AS STRING) AS key, CAST(value AS STRING) AS value, topic, partition, offset,"
    " timestamp"
)
_JSON = "to_json(struct(*)) AS value"


class KafkaSourceConnector(SparkPipelineConnector):
    """Reads topics, and writes them to any sink: key and value as text, and where they were."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        (
            *(_SERVERS, *_SECRETS, _CLIENT, _TOPICS, _TOPICS_REGEX, _OFFSET_RESET),
            *settings.SOURCE_OPTIONS,
            replace(settings.SOURCE_SELECT, default=_COLUMNS),
            *settings.TRANSFORM,
            *settings.SINK,
            replace(settings.MODE, default=settings.STREAMING),
            *settings.INTERVALS,
        )
    )
    renamed: ClassVar[Mapping[str, str]] = {
        "kafka.": "source.options.kafka.",
        "topics": "source.options.subscribe",
        "topics.regex": "source.options.subscribePattern",
        "auto.offset.reset": "source.options.startingOffsets",
    }
    preset: ClassVar[Mapping[str, str]] = {
        "source.format": "kafka",
        "source.options.startingOffsets": "earliest",
        "source.select": _COLUMNS,
        settings.MODE.name: settings.STREAMING,
    }

    def validate(self, config: Mapping[str, str]) -> Mapping[str, Collection[str]]:
        """Return what is wrong with a pipeline, and with the choice of topics."""
        found = dict(super().validate(config))
        options = settings.options_of(config, settings.SOURCE_OPTIONS_PREFIX)
        given = [bool(_TOPICS.read(config)), bool(_TOPICS_REGEX.read(config)), "assign" in options]
        if given.count(True) != 1:
            said = "give either topics or topics.regex"
            found[_TOPICS.name] = [*found.get(_TOPICS.name, ()), said]
        return found


class KafkaSinkConnector(SparkPipelineConnector):
    """Writes what comes from any source to a topic, at least once.

    By default the value is a JSON object of all columns; ``sink.select`` says what is the key and
    what the value: ``id AS key, name AS value``. Both are text or binary.
    """

    type: ClassVar[ConnectorType] = "sink"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        (
            *(_SERVERS, *_SECRETS, _CLIENT, _TOPIC, *settings.SINK_OPTIONS),
            *settings.SOURCE,
            *settings.TRANSFORM,
            replace(settings.SINK_SELECT, default=_JSON),
            *settings.RUN,
        )
    )
    renamed: ClassVar[Mapping[str, str]] = {
        "kafka.": "sink.options.kafka.",
        "topic": "sink.options.topic",
    }
    preset: ClassVar[Mapping[str, str]] = {
        "sink.format": "kafka",
        "sink.select": _JSON,
    }
