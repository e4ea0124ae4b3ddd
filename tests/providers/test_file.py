from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from configproviders import (
    ConfigException,
    ConfigProvider,
    ConfigTransformer,
    FileConfigProvider,
    properties,
)
from configproviders.errors import LookupDenied, LookupFailed, MalformedText
from configproviders.testing import CANARY, ConfigProviderContract, Serve

Settled = Callable[..., Path]
AsNobody = Callable[[], AbstractContextManager[None]]


class TestFileConfigProvider(ConfigProviderContract):
    registry_name = "file"

    @pytest.fixture
    def serve(self, settled: Settled) -> Serve:
        return lambda values: (FileConfigProvider(), str(settled("secrets.properties", values)))

    @pytest.fixture
    def refused(self, settled: Settled, tmp_path: Path) -> tuple[ConfigProvider, str, str]:
        (tmp_path / "allowed").mkdir()
        outside = settled("outside.properties", {"key": CANARY})
        provider = FileConfigProvider()
        provider.configure({"allowed.paths": str(tmp_path / "allowed")})
        return provider, str(outside), "key"


def test_data_is_a_dict_of_str(settled: Settled) -> None:
    file = settled("a.properties", "testKey=testResult\ntestKey2=testResult2\n")

    assert FileConfigProvider().get(str(file)).data == {
        "testKey": "testResult",
        "testKey2": "testResult2",
    }


def test_a_path_object_is_taken_too(settled: Settled) -> None:
    file = settled("a.properties", "key=value")

    assert FileConfigProvider().get(file).data == {"key": "value"}  # type: ignore[arg-type]  # Text is promised, a path works.


def test_an_empty_path_holds_nothing_and_the_message_shows_the_right_form() -> None:
    data = FileConfigProvider().get("", {"password"})

    assert data.data == {}
    assert "${file:/path/of/the/file:password}" in str(data.errors["password"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.json",
            '{"db": {"user": "no", "port": 1.10, "on": true, "hosts": ["a", "b"], "x": null}}',
        ),
        ("a.yaml", "db:\n  user: no\n  port: 1.10\n  on: true\n  hosts: [a, b]\n  x: null\n"),
        ("a.YML", "db: {user: no, port: 1.10, 'on': true, hosts: [a, b], x: ~}"),
        ("a.toml", '[db]\nuser = "no"\nport = 1.10\non = true\nhosts = ["a", "b"]\n'),
    ],
)
def test_other_formats_are_known_by_suffix_and_keys_are_dotted(
    settled: Settled, name: str, text: str
) -> None:
    data = FileConfigProvider().get(str(settled(name, text))).data

    assert data == {
        "db.user": "no",
        "db.port": "1.10",
        "db.on": "true",
        "db.hosts.0": "a",
        "db.hosts.1": "b",
    }


def test_a_byte_order_mark_is_not_part_of_the_first_key(settled: Settled) -> None:
    file = settled("a.properties", "\ufeffuser=u\n")

    assert FileConfigProvider().get(str(file)).data == {"user": "u"}


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.properties", b"fine=1\nbad=\\u12x4" + CANARY.encode(), "a.properties: line 2: "),
        ("a.properties", b"fine=1\nbad=\xe9" + CANARY.encode(), "a.properties: line 2: not UTF-8"),
        ("a.json", b'{"a": "' + CANARY.encode() + b'", }', "a.json: line 1: column "),
        ("a.json", b'["' + CANARY.encode() + b'"]', "a.json: the top level is not a mapping"),
        ("a.json", b"[" * 100_000, "a.json: nested too deeply"),
        ("a.yaml", b"a: 1\npassword: *" + CANARY.encode(), "a.yaml: line 2: column "),
        ("a.yaml", b"a: " + b"[" * 100_000, "a.yaml: nested too deeply"),
        ("a.yaml", b"a: &a [*a]", "a.yaml: more than 100,000 values"),
        ("a.yaml", b"base: &b {x: 1}\nc:\n  <<: *b", "a.yaml: line 3: merge keys"),
        ("a.yaml", b"a: 1\n? [b]\n: 2", "a.yaml: line 2: a key is not text"),
        ("a.toml", b"a = " + b"9" * 5000, "a.toml: the end, or a number"),
        ("a.toml", b"a = 1\nb = " + CANARY.encode(), "a.toml: line 2: column "),
        ("a.json", b'{"a.b": "1", "a": {"b": "2"}}', "a.json: key 'a.b' stands twice"),
    ],
)
def test_a_broken_file_names_file_and_line_and_quotes_nothing(
    tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(MalformedText) as caught:
        FileConfigProvider().get(str(tmp_path / name))

    assert place in str(caught.value)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("leaf", ["lol", "[]", "{}", "~"])
def test_a_yaml_bomb_is_an_error(settled: Settled, leaf: str) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 10))
    file = settled("bomb.yaml", f"l0: &l0 {leaf}\n{levels}")

    with pytest.raises(MalformedText, match="more than 100,000 values"):
        FileConfigProvider().get(str(file))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", json.dumps({"k" * 300_000: list(range(20_000))}), "16 MiB of text"),
        ("a.yaml", f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 20_000}]", "16 MiB of text"),
        ("a.toml", "a." * 20_000 + "b = 1", "nested too deeply"),
    ],
)
def test_a_small_file_that_would_fill_the_memory_is_an_error(
    settled: Settled, name: str, text: str, reason: str
) -> None:
    with pytest.raises(MalformedText, match=reason):
        FileConfigProvider().get(str(settled(name, text)))


def test_yaml_s_own_types_are_text(settled: Settled) -> None:
    file = settled("a.yaml", "a: !!bool hunter2\nb: !!int ''\nc: !!timestamp x\nd: 'null'\n")

    assert FileConfigProvider().get(str(file)).data == {
        "a": "hunter2",
        "b": "",
        "c": "x",
        "d": "null",
    }


def test_a_file_of_100_megabytes_is_an_error_that_says_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "huge.properties"
    with file.open("wb") as sparse:
        sparse.truncate(100 * 1024 * 1024)

    with pytest.raises(LookupFailed, match="larger than 16 MiB"):
        FileConfigProvider().get(str(file))


def test_a_missing_file_a_directory_a_pipe_and_a_loop_of_links_are_errors(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    provider = FileConfigProvider()

    for name, reason in {
        "missing": "No such file or directory",
        ".": "Is a directory",
        "pipe": "it is not a regular file",
        "loop": "Too many levels of symbolic links",
    }.items():
        with pytest.raises(LookupFailed, match=reason):
            provider.get(str(tmp_path / name))


def test_without_permission_the_error_says_denied(
    public_directory: Path, as_nobody: AsNobody
) -> None:
    file = public_directory / "a.properties"
    file.write_text(f"key={CANARY}")
    with as_nobody():
        assert FileConfigProvider().get(str(file)).data == {"key": CANARY}

    file.chmod(0)

    with as_nobody(), pytest.raises(LookupDenied, match="Permission denied"):
        FileConfigProvider().get(str(file))


@pytest.fixture
def read() -> list[str]:
    """List the files that the provider opens from now on: it alone opens without blocking."""
    names: list[str] = []

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(flags := arguments[2], int) and flags & os.O_NONBLOCK:
            names.append(str(arguments[0]))

    sys.addaudithook(listen)
    return names


def test_a_parsed_file_is_kept_until_it_changes_on_disk(settled: Settled, read: list[str]) -> None:
    file = settled("a.properties", "key=one")
    provider = FileConfigProvider()

    for _ in range(3):
        assert provider.get(str(file)).data == {"key": "one"}
    assert read.count(str(file)) == 1

    os.utime(file)
    provider.get(str(file))
    assert read.count(str(file)) == 2


def test_a_change_that_keeps_inode_size_and_time_of_the_content_is_seen(settled: Settled) -> None:
    file = settled("a.properties", "key=one")
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    provider = FileConfigProvider()
    provider.get(str(file))

    settled("a.properties", "key=two")
    os.utime(file, ns=times)

    assert provider.get(str(file)).data == {"key": "two"}


def test_closing_forgets_what_was_read(settled: Settled, read: list[str]) -> None:
    file = settled("a.properties", "key=one")
    provider = FileConfigProvider()
    provider.get(str(file))

    provider.close()
    provider.get(str(file))

    assert read.count(str(file)) == 2


def test_a_file_that_is_no_properties_file_does_not_get_its_lines_into_a_message(
    settled: Settled,
) -> None:
    transformer = ConfigTransformer({"file": FileConfigProvider()})

    for secret in ("passw0rd!", f"-----BEGIN KEY-----\n{CANARY}==\n-----END KEY-----\n"):
        file = settled("raw", secret)
        with pytest.raises(ConfigException) as caught:
            transformer.transform({"p": f"${{file:{file}:password}}"}, strict=True)
        assert "no key 'password' at" in str(caught.value)
        assert not any(line in str(caught.value) for line in (CANARY, "passw0rd"))


def test_a_file_written_a_moment_ago_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.properties"
    provider = FileConfigProvider()

    for turn in range(100):
        file.write_text(f"key={turn:04}")
        assert provider.get(str(file)).data == {"key": f"{turn:04}"}


def test_a_file_replaced_while_it_is_read_is_never_half_old_half_new(tmp_path: Path) -> None:
    file, spare = tmp_path / "a.properties", tmp_path / "spare"
    texts = [properties.dumps({str(key): word * 200 for key in range(500)}) for word in "ab"]
    file.write_text(texts[0])
    done = threading.Event()

    def replace() -> None:
        for turn in range(300):
            spare.write_text(texts[turn % 2])
            spare.replace(file)
        done.set()

    writer = threading.Thread(target=replace)
    writer.start()
    provider, seen = FileConfigProvider(), set()
    while not done.is_set():
        values = set(provider.get(str(file)).data.values())
        seen |= values
        assert len(values) == 1
    writer.join()
    assert len(seen) == 2
