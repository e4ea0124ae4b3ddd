"""``resolve-config inventory``: the references of many configs, and who uses a place."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from ..config_file import read_configs
from ..errors import ConfigException, printable
from ..output import encode
from ..provider import ConfigProvider
from ..reference import find_all
from ..registry import SETTING, SHORT_NAMES
from ..usage import leading_to, tracing_settings
from .inputs import BAD_INPUT, DONE, Parser, formatter, open_sources
from .status_line import StatusLine
from .terminal import print_bytes, say, show_table

_SUFFIXES = (".properties", ".json", ".yaml", ".yml", ".toml")
_PARQUET = ".parquet"
_EPILOG = """\
In a directory, files are read whose names end in .properties, .json, .yaml, .yml or .toml; hidden
directories are passed over. What cannot be read is named, and the rest is shown. Parquet is read
by Spark on this machine, and what has a scheme, such as s3a://, by the Spark that is set up here;
it has a row for each entry.

Nobody is asked for any value. PLACE is taken for what its provider means by it: for one of
--providers, or else for the provider of ours that has this name. Where no setting of Vault says
whether data/ stands behind a mount (vault.kv.version, vault.prefix.depth), it may.

examples:
  resolve-config inventory /etc/connectors
  resolve-config inventory /etc/connectors --who-uses vault:secret/data/db
  resolve-config inventory configs.parquet --columns topic,name,value --format csv

exit codes: 0 done, 2 bad usage, or something cannot be read
"""


class Row(NamedTuple):
    """One reference: the config and the key it stands under, and what it asks for."""

    config: str
    config_key: str
    provider: str
    path: str
    key: str


def inventory(own: Sequence[str], command: list[str] | None) -> int:
    """Run ``resolve-config inventory`` with the arguments *own*; return the exit code.

    Raises :class:`ConfigException` if nothing can be read.
    """
    parser = inventory_parser()
    arguments = parser.parse_args(own)
    if command is not None:
        parser.error("a command after -- does not go with inventory")
    if arguments.providers and not arguments.who_uses:
        parser.error("--providers goes with --who-uses: without it nobody is asked what is meant")
    with ExitStack() as opened, StatusLine() as status:
        providers = _providers(arguments, opened)
        progress = _Progress(status)
        if _is_parquet(arguments.input):
            rows, unread = _rows_of_parquet(arguments, providers, progress), 0
        else:
            rows, unread = _rows_of_files(arguments, providers, progress)
    _FORMATS[arguments.format](rows)
    configs, places = {row.config for row in rows}, {row[2:4] for row in rows}
    say(f"{len(rows):,} references in {len(configs):,} configs, {len(places):,} locations")
    return BAD_INPUT if unread else DONE


def inventory_parser() -> argparse.ArgumentParser:
    """Return the parser for what stands behind ``inventory``."""
    parser = Parser(
        prog="resolve-config inventory",
        usage="resolve-config inventory [options] CONFIG_DIR_OR_PARQUET",
        description="List the references of many configs, or who uses a place.",
        epilog=_EPILOG,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", metavar="CONFIG_DIR_OR_PARQUET", help="a directory, a file, or Parquet")
    add("--who-uses", metavar="PLACE", help="only what leads to PROVIDER:PATH or PROVIDER:PATH:KEY")
    add("--providers", metavar="FILE", help="take config.providers... from this file")
    add("--format", choices=_FORMATS, default="table", help="how to print it; table if not given")
    add(
        "--columns",
        metavar="ID,KEY,VALUE",
        type=_three_names,
        default=("id", "key", "value"),
        help="the columns of Parquet; id,key,value if not given",
    )
    return parser


def _three_names(text: str) -> tuple[str, str, str]:
    match [name.strip() for name in text.split(",")]:
        case [identity, key, value] if identity and key and value:
            return identity, key, value
    raise argparse.ArgumentTypeError("write three names with commas between them")


def _providers(arguments: argparse.Namespace, opened: ExitStack) -> dict[str, ConfigProvider]:
    if not arguments.who_uses:
        return {}
    name = arguments.who_uses.partition(":")[0]
    if arguments.providers:
        place, settings = arguments.providers, read_configs(arguments.providers)
    elif name in SHORT_NAMES:
        place, settings = "--who-uses", {SETTING: name, f"{SETTING}.{name}.class": name}
    else:
        return {}
    return open_sources({place: tracing_settings(settings)}, opened)


def _is_parquet(path: str) -> bool:
    if "://" in path or path.rstrip("/").endswith(_PARQUET):
        return True
    try:
        return any(name.endswith(_PARQUET) for name in os.listdir(path))
    except OSError:
        return False  # It is a file, or it is named when it is read.


class _Progress:
    """Shows how much is done, in a terminal alone."""

    def __init__(self, status: StatusLine) -> None:
        self._status = status
        self._start = time.monotonic()
        self._is_seen = sys.stderr is not None and sys.stderr.isatty()

    def show(self, done: int, total: int, unit: str) -> None:
        if self._is_seen:
            seconds = time.monotonic() - self._start
            self._status.show(lambda: f"{done:,} of {total:,} {unit}, {seconds:.0f} s")

    def say(self, message: str) -> None:
        self._status.say(message)


def _rows_of_files(
    arguments: argparse.Namespace, providers: Mapping[str, ConfigProvider], progress: _Progress
) -> tuple[list[Row], int]:
    """Return the rows, and how many files and directories could not be read."""
    unread: list[str] = []
    paths = list(_config_files(arguments.input, unread))
    found = []
    for number, path in enumerate(paths):
        progress.show(number, len(paths), "files")
        try:
            by_key = find_all(read_configs(path))
        except ConfigException as error:
            unread.append(str(error))
            continue
        found += [(path, key, each) for key, references in by_key.items() for each in references]
    for message in unread:
        progress.say(printable(message))
    if place := arguments.who_uses:
        leading = leading_to(place, {each.text for _, _, each in found}, providers)
        found = [row for row in found if row[2].text in leading]
    return [Row(config, key, *each[:3]) for config, key, each in found], len(unread)


def _config_files(top: str, unread: list[str]) -> Iterator[str]:
    """Yield the files below *top*, or itself, in order; say in *unread* what cannot be listed."""

    def cannot(error: OSError) -> None:
        unread.append(f"cannot read {error.filename!r}: {error.strerror}")

    if not os.path.isdir(top):
        yield top
        return
    for directory, inner, files in os.walk(top, onerror=cannot):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        names = (name for name in sorted(files) if name.lower().endswith(_SUFFIXES))
        yield from (os.path.join(directory, name) for name in names)


def _rows_of_parquet(
    arguments: argparse.Namespace, providers: Mapping[str, ConfigProvider], progress: _Progress
) -> list[Row]:
    from ..spark.bulk.inventory import read_inventory

    rows = read_inventory(
        arguments.input,
        arguments.columns,
        arguments.who_uses,
        providers,
        show=lambda done, total: progress.show(done, total, "tasks"),
    )
    return [Row(*row) for row in rows]


def _show_as_table(rows: Iterable[Row]) -> None:
    header = tuple(name.replace("_", " ").upper() for name in Row._fields)
    show_table([header, *rows])


def _show_as_json(rows: Iterable[Row]) -> None:
    import json

    document = [row._asdict() for row in rows]
    print_bytes(encode(json.dumps(document, indent=2, ensure_ascii=False) + "\n"))


def _show_as_csv(rows: Iterable[Row]) -> None:
    import csv
    import io

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    print_bytes(encode(text.getvalue()))


_FORMATS = {"table": _show_as_table, "json": _show_as_json, "csv": _show_as_csv}
