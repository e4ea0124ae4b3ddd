"""The options that all of ``resolve-config`` has, and the input and providers that they name."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import NoReturn

from ..errors import ConfigException, LookupDenied, printable
from ..formats import FORMATS
from ..lookups import LOOKUP_CONCURRENCY
from ..provider import ConfigProvider
from ..registry import open_providers, split_settings
from ..transformer import ConfigTransformerResult
from .terminal import say

DONE, UNRESOLVED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def exit_code(error: ConfigException) -> int:
    """Return the exit code for *error*: was something refused, or is it wrong?"""
    return UNRESOLVED if isinstance(error, LookupDenied) else BAD_INPUT


def new_parser(prog: str, usage: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Return a parser with the options for the input and its references."""
    parser = Parser(
        prog=prog,
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", metavar="INPUT", help="properties, JSON, YAML or TOML by suffix; - is stdin")
    add("--input-format", choices=FORMATS, help="what INPUT is, if its name does not say")
    add(
        "--providers",
        metavar="FILE",
        type=_file_name,
        help="take config.providers... from this file too",
    )
    add("--no-input-providers", action="store_true", help="refuse config.providers... in INPUT")
    add("--allow-unresolved", action="store_true", help="leave unknown references as typed")
    add(
        "-o",
        "--output",
        metavar="FILE",
        type=_file_name,
        help="write FILE (mode 0600) whole or not at all",
    )
    add(
        "--lookup-concurrency",
        metavar="N",
        type=int,
        default=LOOKUP_CONCURRENCY,
        help=f"how many lookups may wait at the same time; {LOOKUP_CONCURRENCY} if not given",
    )
    return parser


def split_input(
    configs: Mapping[str, str], arguments: argparse.Namespace
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings for providers in *configs*, and the rest; raise if they are refused."""
    settings, others = split_settings(configs)
    if settings and arguments.no_input_providers:
        raise LookupDenied(
            f"{printable(arguments.input)}: {next(iter(settings))!r} is refused by"
            " --no-input-providers"
        )
    return settings, others


def open_sources(
    sources: Mapping[str, Mapping[str, str]], opened: ExitStack
) -> dict[str, ConfigProvider]:
    """Return the providers that the files of *sources*, by name, declare; *opened* closes them."""
    try:
        return opened.enter_context(open_providers(*sources.values()))
    except ConfigException as error:
        raise ConfigException(f"{' and '.join(map(printable, sources))}: {error}") from error


def say_what_is_odd(result: ConfigTransformerResult[str]) -> None:
    """Name what was left as typed, and what is stale."""
    for each in result.unresolved:
        say(f"left as typed: {each}")
    if stale := result.stale_keys:
        say(f"stale values, since a backend failed: {printable(', '.join(stale))}")


class Parser(argparse.ArgumentParser):
    """Shows what it refuses without control characters."""

    def error(self, message: str) -> NoReturn:
        """Print *message* with the usage, and exit with 2."""
        super().error(printable(message))


def _file_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def formatter(prog: str) -> argparse.HelpFormatter:
    """Return what lays out help, as wide as the terminal is."""
    # argparse makes one for each option, and imports shutil and all compressors to learn the width.
    try:
        width = os.get_terminal_size().columns
    except OSError:
        width = 80
    return argparse.RawDescriptionHelpFormatter(prog, width=width)
