from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from configproviders import ConfigException, UnresolvedError
from configproviders.registry import load_providers
from configproviders.spark.cleaning import clean
from configproviders.testing import CANARY
from configproviders.worker.listener import Listener
from configproviders.worker.response_header import ResponseHeader
from configproviders.worker.worker_config import WorkerConfig
from configproviders.worker.worker_keys import WORKER_KEYS


def refused(entries: Mapping[str, str]) -> str:
    with pytest.raises(ConfigException) as caught:
        WorkerConfig.of(entries)
    return str(caught.value)


def test_nothing_set_is_a_worker_on_loopback_that_allows_nothing() -> None:
    config = WorkerConfig.of({})

    assert config.listeners == (Listener("127.0.0.1", 8083),)
    assert config.admin_listeners is None
    assert config.plugin_allowed_modules == ()
    assert config.config_storage_file_filename == "connectors.db"
    assert config.config_providers == {}
    assert config.allowed_hosts == ("localhost", "127.0.0.1")
    assert config.warnings == []


def test_durations_are_read_in_milliseconds() -> None:
    config = WorkerConfig.of(
        {
            "reload.settle.ms": "1",
            "task.shutdown.graceful.timeout.ms": "2",
            "retry.backoff.ms": "3",
            "retry.backoff.max.ms": "4",
        }
    )

    assert [
        config.reload_settle,
        config.task_shutdown_graceful_timeout,
        config.retry_backoff,
        config.retry_backoff_max,
    ] == [timedelta(milliseconds=number) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("text", "host", "port", "url"),
    [
        ("http://127.0.0.1:8083", "127.0.0.1", 8083, "http://127.0.0.1:8083"),
        (" HTTP://LocalHost:0/ ", "localhost", 0, "http://localhost:0"),
        ("http://:80", "", 80, "http://127.0.0.1:80"),
        ("http://[::1]:80", "::1", 80, "http://[::1]:80"),
        ("http://my_host.a-b:65535", "my_host.a-b", 65535, "http://my_host.a-b:65535"),
    ],
)
def test_a_listener_is_a_host_and_a_port(text: str, host: str, port: int, url: str) -> None:
    config = WorkerConfig.of({"listeners": text})

    assert config.listeners == (Listener(host, port),)
    assert config.listeners[0].url == url


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it must not be empty"),
        ("https://127.0.0.1:8443", "put a proxy in front"),
        ("ftp://127.0.0.1:21", "no such protocol"),
        ("http://127.0.0.1", "write http://host:port"),
        ("http://127.0.0.1:65536", "write http://host:port"),
        ("http://127.0.0.1:١", "write http://host:port"),
        ("http://user:word@127.0.0.1:80", "write http://host:port"),
        ("http://127.0.0.1:80/path", "write http://host:port"),
        ("8083", "write http://host:port"),
    ],
)
def test_a_listener_that_cannot_be_is_an_error(text: str, words: str) -> None:
    said = refused({"listeners": text})

    assert said.startswith("setting 'listeners' ")
    assert words in said


def test_several_listeners_stand_with_commas_between() -> None:
    config = WorkerConfig.of({"listeners": "http://127.0.0.1:1, http://[::1]:2"})

    assert config.listeners == (Listener("127.0.0.1", 1), Listener("::1", 2))


@pytest.mark.parametrize(
    ("text", "listeners"), [("", ()), ("http://127.0.0.1:9", (Listener("127.0.0.1", 9),))]
)
def test_admin_endpoints_are_nowhere_or_elsewhere(
    text: str, listeners: tuple[Listener, ...]
) -> None:
    assert WorkerConfig.of({"admin.listeners": text}).admin_listeners == listeners


@pytest.mark.parametrize("key", ["listeners", "admin.listeners"])
@pytest.mark.parametrize("host", ["", "0.0.0.0", "[::]", "worker.example"])
def test_listening_beyond_the_machine_is_warned_of_and_allows_the_name_of_the_machine(
    key: str, host: str
) -> None:
    config = WorkerConfig.of({key: f"http://{host}:8083"})

    assert "no authentication" in config.warnings[0]
    assert {"localhost", socket.gethostname().lower()} <= set(config.allowed_hosts)
    assert "*" not in config.allowed_hosts


@pytest.mark.parametrize("host", ["localhost", "127.1.2.3", "[::1]"])
def test_listening_on_loopback_is_not_warned_of(host: str) -> None:
    assert WorkerConfig.of({"listeners": f"http://{host}:0"}).warnings == []


def test_hosts_that_are_allowed_come_to_the_workers_own() -> None:
    config = WorkerConfig.of(
        {
            "listeners": "http://:8083",
            "rest.advertised.host.name": "Connect.Example",
            "rest.allowed.hosts": "a.example,B.example",
        }
    )

    named = {"localhost", "connect.example", "a.example", "b.example"}
    assert set(config.allowed_hosts) == {*named, socket.gethostname().lower()}


def test_the_worker_is_known_by_what_is_advertised() -> None:
    plain = WorkerConfig.of({"listeners": "http://127.0.0.1:0"})
    advertised = WorkerConfig.of(
        {"rest.advertised.host.name": "connect.example", "rest.advertised.port": "443"}
    )

    assert plain.worker_id(4711) == "127.0.0.1:4711"
    assert advertised.worker_id(4711) == "connect.example:443"


def test_headers_are_read_as_kafka_connect_writes_them() -> None:
    text = 'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store",setDate Expires: 0'

    config = WorkerConfig.of({"response.http.headers.config": text})

    assert config.response_http_headers_config == (
        ResponseHeader("set", "X-Frame-Options", "DENY"),
        ResponseHeader("add", "Cache-Control", "no-cache, no-store"),
        ResponseHeader("setDate", "Expires", "0"),
    )


@pytest.mark.parametrize(
    "text",
    ["X-A: b", "put X-A: b", "set X A: b", "set X-A: b\r\nX-B: c", "addDate X-A: b", "set a"],
)
def test_a_header_that_cannot_be_is_an_error(text: str) -> None:
    assert "response.http.headers.config" in refused({"response.http.headers.config": text})


@pytest.mark.parametrize("text", ["*", "os.", ".os", "os:system", "a b"])
def test_code_is_allowed_by_names_of_modules_alone(text: str) -> None:
    assert "write names of modules" in refused({"plugin.allowed.modules": text})


def test_all_that_is_wrong_is_said_at_once_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    file.write_text("listners=http://127.0.0.1:1\nlaunch.concurrency=0\nreload.settle.ms=soon\n")

    with pytest.raises(ConfigException) as caught:
        WorkerConfig.read(str(file))

    first, *others = str(caught.value).splitlines()
    assert first == f"{file}: 3 settings are wrong"
    assert others == [
        "  no setting named 'listners'; did you mean 'listeners' or 'admin.listeners'?",
        "  setting 'reload.settle.ms' is not a number of milliseconds: write digits, 12 at most",
        "  setting 'launch.concurrency' cannot be that: value must be from 1 to 1000",
    ]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigException, match="No such file"):
        WorkerConfig.read(str(tmp_path / "worker.properties"))


def test_settings_of_kafkas_worker_are_accepted_and_said_to_do_nothing() -> None:
    config = WorkerConfig.of(
        {
            "bootstrap.servers": "localhost:9092",
            "group.id": "connect",
            "config.storage.topic": "connect-configs",
            "offset.flush.interval.ms": "10000",
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "key.converter.schemas.enable": "false",
            "producer.acks": "all",
            "plugin.path": "/opt",
        }
    )

    assert len(config.ignored) == 8
    assert config.warnings == [f"settings without effect here: {', '.join(config.ignored)}"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("admin.listener", "admin.listeners"),
        ("config.storage.file.name", "config.storage.file.filename"),
        ("plugin.allowed.module", "plugin.allowed.modules"),
        ("bootstrap.server", "bootstrap.servers"),
    ],
)
def test_a_misspelt_setting_is_an_error_that_asks_what_is_meant(name: str, meant: str) -> None:
    assert f"did you mean '{meant}'" in refused({name: "x"})


def test_a_guard_that_would_not_run_is_an_error() -> None:
    assert "put a proxy in front" in refused({"rest.extension.classes": "org.Basic"})


def test_settings_of_the_session_stay_as_they_are() -> None:
    spark = {"spark.master": "local[2]", "spark.hadoop.fs.s3a.secret.key": "${vault:a:b}"}

    config = WorkerConfig.of(spark)

    assert config.spark == spark
    assert "s3a" not in repr(config)


def test_providers_do_not_come_by_way_of_spark() -> None:
    assert "write it without 'spark.'" in refused({"spark.config.providers": "env"})


CLASSES = {
    "file": "allowed.paths",
    "directory": "allowed.paths",
    "env": "allowlist.pattern",
    "org.apache.kafka.common.config.provider.FileConfigProvider": "allowed.paths",
    "configproviders.providers.env:EnvVarConfigProvider": "allowlist.pattern",
}


@pytest.mark.parametrize(("class_name", "setting"), CLASSES.items(), ids=CLASSES)
def test_what_reads_the_machine_must_say_what_it_may_read(class_name: str, setting: str) -> None:
    entries = {"config.providers": "p", "config.providers.p.class": f" {class_name} "}

    said = refused(entries)

    assert said == f"config.providers.p.param.{setting} is missing: say what, or * for all"


@pytest.mark.parametrize(("class_name", "setting"), CLASSES.items(), ids=CLASSES)
def test_an_asterisk_allows_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, class_name: str, setting: str
) -> None:
    entries = {
        "config.providers": "p",
        "config.providers.p.class": class_name,
        f"config.providers.p.param.{setting}": " * ",
    }

    config = WorkerConfig.of(entries)

    (tmp_path / "key").write_text("key=1")
    monkeypatch.setenv("key", "1")
    (provider,) = load_providers(config.config_providers).values()
    paths = {"allowlist.pattern": ""}
    path = paths.get(setting, str(tmp_path if class_name == "directory" else tmp_path / "key"))
    with provider:
        assert provider.get(path, ["key"]).data


def test_what_is_allowed_reaches_the_provider(tmp_path: Path) -> None:
    entries = {
        "config.providers": "p",
        "config.providers.p.class": "file",
        "config.providers.p.param.allowed.paths": str(tmp_path),
    }

    assert WorkerConfig.of(entries).config_providers == entries


def test_a_provider_that_there_is_not_is_an_error() -> None:
    entries = {"config.providers": "p", "config.providers.p.class": "valt"}

    assert "did you mean 'vault'" in refused(entries)


def provided(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "worker.secrets").write_text(f"modules={CANARY.replace('-', '_')}\nbad={CANARY}")
    return {
        "config.providers": "file",
        "config.providers.file.class": "file",
        "config.providers.file.param.allowed.paths": str(tmp_path),
    }


def test_references_of_the_worker_itself_are_resolved_and_cleaned_from_then_on(
    tmp_path: Path,
) -> None:
    entries = provided(tmp_path) | {
        "plugin.allowed.modules": f"${{file:{tmp_path}/worker.secrets:modules}}"
    }

    config = WorkerConfig.of(entries)

    value = CANARY.replace("-", "_")
    assert config.plugin_allowed_modules == (value,)
    assert value not in clean(f"it is {value}")


def test_a_reference_without_a_value_is_an_error(tmp_path: Path) -> None:
    entries = provided(tmp_path) | {"cluster.id": f"${{file:{tmp_path}/worker.secrets:absent}}"}

    with pytest.raises(UnresolvedError, match="no key 'absent'"):
        WorkerConfig.of(entries)


def test_nothing_shows_what_a_reference_stood_for(tmp_path: Path) -> None:
    reference = f"${{file:{tmp_path}/worker.secrets:bad}}"
    names = [key.name for key in WORKER_KEYS]

    for name in names:
        try:
            shown = repr(WorkerConfig.of(provided(tmp_path) | {name: reference}))
        except ConfigException as error:
            shown = str(error)
        assert CANARY not in shown
