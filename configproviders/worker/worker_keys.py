"""The settings of a worker, and those of Kafka Connect's that mean nothing here."""

from __future__ import annotations

import re
from datetime import timedelta

from ..config_def import (
    LIST,
    MILLISECONDS,
    STRING,
    WHOLE_NUMBER,
    ConfigDef,
    ConfigKey,
    ConfigType,
    between,
    not_empty,
)
from .listener import Listener, listeners
from .response_header import response_headers

_PORT = between(1, 65535)
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def _modules(names: tuple[str, ...]) -> None:
    if not all(map(_DOTTED.fullmatch, names)):
        raise ValueError("write names of modules or packages, separated by commas")


LISTENERS = ConfigKey(
    "listeners",
    ConfigType("list of listeners", listeners, "LIST"),
    (Listener("127.0.0.1", 8083),),
    "high",
    "Where the REST API listens: http://host:port, several with commas between. Without a host it"
    " is every interface. There is no authentication: whoever reaches it may do everything.",
    validator=not_empty,
)
ADMIN_LISTENERS = ConfigKey(
    "admin.listeners",
    ConfigType("list of listeners", listeners, "LIST"),
    None,
    "medium",
    "Where /admin is served: unset, with everything else; empty, nowhere; else there and nowhere"
    " else.",
)
ALLOWED_HOSTS = ConfigKey(
    "rest.allowed.hosts",
    LIST,
    (),
    "medium",
    "Names that requests may have in their Host header, besides addresses, localhost, the name of"
    " this machine, rest.advertised.host.name and the hosts of listeners; * allows all. Others are"
    " refused, so that no web page can reach the API under a name of its own.",
)
ADVERTISED_HOST = ConfigKey(
    "rest.advertised.host.name",
    STRING,
    None,
    "low",
    "The host by which others know this worker; it is part of worker_id.",
)
ADVERTISED_PORT = ConfigKey(
    "rest.advertised.port",
    WHOLE_NUMBER,
    None,
    "low",
    "The port by which others know this worker; it is part of worker_id.",
    validator=_PORT,
)
ALLOW_ORIGIN = ConfigKey(
    "access.control.allow.origin",
    LIST,
    (),
    "low",
    "Origins whose web pages may use the API, with * for any part of a name; none if empty.",
)
ALLOW_METHODS = ConfigKey(
    "access.control.allow.methods",
    LIST,
    (),
    "low",
    "Methods that web pages of other origins may use; GET, POST and HEAD if empty.",
)
RESPONSE_HEADERS = ConfigKey(
    "response.http.headers.config",
    ConfigType("list of headers", response_headers, "LIST"),
    (),
    "low",
    "Headers that each answer gets: [set|add|setDate|addDate] Name: value, separated by commas.",
)
ALLOWED_MODULES = ConfigKey(
    "plugin.allowed.modules",
    LIST,
    (),
    "high",
    "Modules, or packages with all that is in them, whose code a connector's config may name; none"
    " if empty. Connectors that are installed under an entry point need no mention.",
    validator=_modules,
)
STORAGE = ConfigKey(
    "config.storage.file.filename",
    STRING,
    "connectors.db",
    "high",
    "The SQLite file that keeps the connectors; it is made if there is none. A relative path"
    " begins at the working directory.",
    validator=not_empty,
)
CLUSTER_ID = ConfigKey(
    "cluster.id",
    STRING,
    "",
    "low",
    "What GET / answers as kafka_cluster_id.",
)
SETTLE = ConfigKey(
    "reload.settle.ms",
    MILLISECONDS,
    timedelta(seconds=1),
    "medium",
    "Connectors restart at a random moment within this time after their secret has changed.",
)
CONCURRENCY = ConfigKey(
    "launch.concurrency",
    WHOLE_NUMBER,
    8,
    "medium",
    "How many connectors start or restart at the same time.",
    validator=between(1, 1000),
)
SHUTDOWN = ConfigKey(
    "task.shutdown.graceful.timeout.ms",
    MILLISECONDS,
    timedelta(seconds=20),
    "medium",
    "How long tasks may take to stop before their Spark jobs are cancelled.",
)
BACKOFF = ConfigKey(
    "retry.backoff.ms",
    MILLISECONDS,
    timedelta(seconds=1),
    "medium",
    "How long to wait before a connector is started again that a backend failed; twice as long"
    " after each time.",
)
MAX_BACKOFF = ConfigKey(
    "retry.backoff.max.ms",
    MILLISECONDS,
    timedelta(seconds=60),
    "medium",
    "The longest such wait.",
)

WORKER_KEYS = ConfigDef(
    (
        LISTENERS,
        ADMIN_LISTENERS,
        ALLOWED_HOSTS,
        ADVERTISED_HOST,
        ADVERTISED_PORT,
        ALLOW_ORIGIN,
        ALLOW_METHODS,
        RESPONSE_HEADERS,
        ALLOWED_MODULES,
        STORAGE,
        CLUSTER_ID,
        SETTLE,
        CONCURRENCY,
        SHUTDOWN,
        BACKOFF,
        MAX_BACKOFF,
    )
)
"""In the order of the documentation."""

WITHOUT_EFFECT = (
    "auto.include.jmx.reporter",
    "bootstrap.servers",
    "client.dns.lookup",
    "client.id",
    "connect.protocol",
    "connections.max.idle.ms",
    "exactly.once.source.support",
    "group.id",
    "heartbeat.interval.ms",
    "metric.reporters",
    "plugin.discovery",
    "plugin.path",
    "rebalance.timeout.ms",
    "receive.buffer.bytes",
    "request.timeout.ms",
    "rest.advertised.listener",
    "scheduled.rebalance.max.delay.ms",
    "security.protocol",
    "security.providers",
    "send.buffer.bytes",
    "session.timeout.ms",
    "worker.sync.timeout.ms",
    "worker.unsync.backoff.ms",
)
"""Settings of Kafka Connect's worker that are accepted, and do nothing here."""

PREFIXES_WITHOUT_EFFECT = (
    "admin.",
    "config.storage.",
    "connector.client.",
    "consumer.",
    "header.converter",
    "inter.worker.",
    "internal.",
    "key.converter",
    "listeners.https.",
    "metadata.",
    "metrics.",
    "offset.",
    "producer.",
    "reconnect.backoff.",
    "sasl.",
    "socket.connection.setup.",
    "ssl.",
    "status.storage.",
    "topic.",
    "value.converter",
)
"""How more of them begin."""

OURS = ("admin.listener", "config.storage.file")
"""How some of ours begin that would pass for one of those if they were misspelt."""

REFUSED = {
    "rest.extension.classes": "extensions of the REST API are not run here, and one that guards it"
    " would be missed: put a proxy in front, and leave this out",
}
"""Settings of Kafka Connect's worker that must not be passed over, and why."""
