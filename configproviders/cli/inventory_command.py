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
from ..errors import ConfigException, printable, shorten
from ..output import encode
from ..provider import ConfigProvider
from ..reference import find_all
from ..usage import check_place, leading_to, tracing_settings
from .inputs import BAD_INPUT, DONE, Parser, formatter, open_sources
from .status_line import StatusLine
from .terminal import print_bytes, say, show_table, some

_SUFFIXES = (".properties", ".json", ".yaml", ".yml", ".toml")
_PARQUET = ".parquet"
_BAR = 20  # Characters.
_EPILOG = """\
In a directory, files are read whose names end in .properties, .json, .yaml, .yml or .toml; hidden
directories are passed over, links are followed. What cannot be read is named, and the rest is
shown. A directory with .parquet files is read by Spark on this machine, and what has a scheme, such
as s3a://, by the Spark that is set up here; it has a row for each entry.

Nobody is asked for any value. PLACE is taken for what its provider means by it: for one of
--providers, or else for the provider of ours that has this name. Where no setting of Vault says
whether data/ stands behind a mount (vault.kv.version), it may; mounts are of one part unless
vault.prefix.depth says how many.

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
    if arguments.providers is not None and arguments.who_uses is None:
        parser.error("--providers goes with --who-uses: without it nobody is asked what is meant")
    if sys.stdout is None:
        raise ConfigException("standard output is closed")
    unread: list[str] = []
    with ExitStack() as opened, StatusLine() as status:
        providers = _providers(arguments, opened)
        paths = _config_files(arguments.input, unread)
        progress = _Progress(status)
        if paths is None:
            rows, read = _rows_of_parquet(arguments, providers, progress)
        else:
            rows, read = _rows_of_files(paths, unread, arguments.who_uses, providers, progress)
    for message in unread:
        say(printable(message))
    _FORMATS[arguments.format](rows)
    say(_summary(rows, read))
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


def _summary(rows: Sequence[Row], read: str) -> str:
    configs, places = {row.config for row in rows}, {row[2:4] for row in rows}
    found = f"{some(len(rows), 'reference')} in {some(len(configs), 'config')}"
    found = f"{found}, {some(len(places), 'location')}"
    return found if rows else f"{found}; {read} read"


def _providers(arguments: argparse.Namespace, opened: ExitStack) -> dict[str, ConfigProvider]:
    file, place = arguments.providers, arguments.who_uses
    if place is None:
        return {}
    settings = {} if file is None else _settings_in(file)
    providers = open_sources({file or "--who-uses": tracing_settings(settings, place)}, opened)
    check_place(place, providers)
    return providers


def _settings_in(file: str) -> dict[str, str]:
    from ..spark._resolution import split_submitted

    settings, _ = split_submitted(read_configs(file))
    if not any(settings.values()):
        raise ConfigException(f"{printable(shorten(file))}: declares no config.providers")
    return settings


def _config_files(top: str, unread: list[str]) -> list[str] | None:
    """Return the configs at *top*, or none if it is Parquet; add to *unread* what cannot be read.

    Raises :class:`ConfigException` if it is both.
    """
    if "://" in top or top.rstrip("/").endswith(_PARQUET):
        return None
    if not os.path.isdir(top):
        return [top]
    below = list(_files(top, unread))
    configs = [path for path in below if path.lower().endswith(_SUFFIXES)]
    if not any(path.endswith(_PARQUET) for path in below):
        return list(_regular(configs, unread))
    if configs:
        raise ConfigException(f"{shorten(top)!r} holds configs and Parquet: name one of them")
    return None


def _files(top: str, unread: list[str]) -> Iterator[str]:
    """Yield the files below *top* in order, links followed, each directory once."""

    def cannot(error: OSError) -> None:
        unread.append(f"cannot read {error.filename!r}: {error.strerror}")

    seen = set()
    for directory, inner, files in os.walk(top, onerror=cannot, followlinks=True):
        if (real := os.path.realpath(directory)) in seen:
            inner.clear()
            continue
        seen.add(real)
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (os.path.join(directory, name) for name in sorted(files))


def _regular(paths: Iterable[str], unread: list[str]) -> Iterator[str]:
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path):  # A pipe may never be written to.
            unread.append(f"cannot read {path!r}: it is not a file")
        else:
            yield path


class _Progress:
    """Shows a bar of how much is done, in a terminal alone."""

    def __init__(self, status: StatusLine) -> None:
        self._status = status
        self._start = time.monotonic()
        self._is_seen = sys.stderr is not None and sys.stderr.isatty()

    def show(self, done: int, total: int, unit: str) -> None:
        if self._is_seen:
            seconds = time.monotonic() - self._start
            bar = "#" * (_BAR * done // max(total, 1))
            self._status.show(
                lambda: f"[{bar:.<{_BAR}}] {done:,} of {total:,} {unit}, {seconds:.0f} s"
            )

    def begin(self, what: str) -> None:
        if self._is_seen:
            self._status.show(lambda: what)


def _rows_of_files(
    paths: Sequence[str],
    unread: list[str],
    place: str | None,
    providers: Mapping[str, ConfigProvider],
    progress: _Progress,
) -> tuple[list[Row], str]:
    """Return the rows, and how many files were read; add to *unread* those that were not."""
    found, read = [], 0
    for number, path in enumerate(paths):
        progress.show(number, len(paths), "files")
        try:
            by_key = find_all(read_configs(path))
        except ConfigException as error:
            unread.append(str(error))
            continue
        read += 1
        found += [(path, key, each) for key, references in by_key.items() for each in references]
    if place is not None:
        leading = leading_to(place, {each.text for _, _, each in found}, providers)
        found = [row for row in found if row[2].text in leading]
    return [Row(config, key, *each[:3]) for config, key, each in found], f"{read:,} files"


def _rows_of_parquet(
    arguments: argparse.Namespace, providers: Mapping[str, ConfigProvider], progress: _Progress
) -> tuple[list[Row], str]:
    from ..spark.bulk.inventory import read_inventory

    progress.begin("Spark starts")
    rows, read = read_inventory(
        arguments.input,
        arguments.columns,
        arguments.who_uses,
        providers,
        show=lambda done, total: progress.show(done, total, "tasks"),
    )
    return [Row(*row) for row in rows], f"{read:,} rows"


def _show_as_table(rows: Iterable[Row]) -> None:
    header = tuple(name.replace("_", " ").upper() for name in Row._fields)
    show_table([header, *rows])


def _show_as_json(rows: Iterable[Row]) -> None:
    import json

    document = [row._asdict() for row in rows]
    print_bytes(encode(json.dumps(document, indent=2) + "\n"))


def _show_as_csv(rows: Iterable[Row]) -> None:
    import csv
    import io

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    print_bytes(text.getvalue().encode(errors="backslashreplace"))


_FORMATS = {"table": _show_as_table, "json": _show_as_json, "csv": _show_as_csv}
