# PYTHON_ARGCOMPLETE_OK
"""``resolve-config``: a config in, the same config with values for references out."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import NoReturn

from . import __version__, formats, reports
from .config_file import read_configs
from .errors import (
    ConfigException,
    LookupDenied,
    UnresolvedError,
    printable,
)
from .lookups import LOOKUP_CONCURRENCY
from .output import FORMATS, encode, environment, render, write
from .provider import ConfigProvider
from .registry import open_providers, split_settings
from .transformer import ConfigTransformer, unresolved_among

DONE, UNRESOLVED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
_WORDS_TO_COME = ("doctor", "help", "inventory", "lint", "scan", "watch")
_EXAMPLES = """\
examples:
  resolve-config job.properties                        print it with values for references
  resolve-config --check job.properties                what is found, what is missing; no value
  resolve-config --policy job.properties               what Vault and IAM must allow for it
  resolve-config job.properties -- ./job.sh            run a command with them in its environment

exit codes: 0 done, 1 a reference is unresolved or refused, 2 bad usage or bad input
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``resolve-config`` with *argv*, by default the process's; return its exit code.

    With a command after ``--`` and nothing wrong, it does not return: the command takes over the
    process.
    """
    own, command = _split(list(sys.argv[1:] if argv is None else argv))
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    try:
        arguments = parser.parse_args(own)
        _refuse_bad_usage(parser, arguments, command)
        return _run(arguments, command)
    except UnresolvedError as error:
        _say(f"{arguments.input}: {error}")
        return UNRESOLVED
    except ConfigException as error:
        _say(str(error))
        return _code(error)
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED


def _code(error: ConfigException) -> int:
    return UNRESOLVED if isinstance(error, LookupDenied) else BAD_INPUT


def _split(argv: list[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in argv:
        return argv, None
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resolve-config",
        usage="resolve-config [options] INPUT [-- COMMAND ...]",
        description="Print a config with the values that its references, ${provider:path:key},"
        " stand for.",
        epilog=_EXAMPLES,
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", metavar="INPUT", help="properties, JSON, YAML or TOML by suffix; - is stdin")
    add(
        "--input-format",
        choices=formats.FORMATS,
        help="what INPUT is, if its name does not say",
    )
    add("--providers", metavar="FILE", help="take config.providers… from this file too")
    add("--no-input-providers", action="store_true", help="refuse config.providers… in INPUT")
    add("--allow-unresolved", action="store_true", help="leave unknown references as typed")
    add("-o", "--output", metavar="FILE", help="write FILE (mode 0600) whole or not at all")
    add("--format", choices=FORMATS, help="what to print or write; properties if not given")
    add("--resolve-secrets", action="store_true", help="with --format spark: resolve references")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--check", action="store_true", help="look all up; print a table, no value")
    act.add_argument("--plan", action="store_true", help="print what would be asked; ask nothing")
    act.add_argument(
        "--policy",
        action="store_true",
        help="print the least Vault and IAM policies that allow it; ask nothing",
    )
    add("--online", action="store_true", help="with --policy: ask for what the settings leave out")
    add(
        "--lookup-concurrency",
        metavar="N",
        type=int,
        default=LOOKUP_CONCURRENCY,
        help=f"how many lookups may wait at the same time; {LOOKUP_CONCURRENCY} if not given",
    )
    add("--version", action="version", version=f"resolve-config {__version__}")
    return parser


def _is_report(arguments: argparse.Namespace) -> bool:
    return bool(arguments.check or arguments.plan or arguments.policy)


def _formatter(prog: str) -> argparse.HelpFormatter:
    # argparse makes one for each option, and imports shutil and all compressors to learn the width.
    try:
        width = os.get_terminal_size().columns
    except OSError:
        width = 80
    return argparse.RawDescriptionHelpFormatter(prog, width=width)


def _refuse_bad_usage(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, command: list[str] | None
) -> None:
    word, act = arguments.input, _is_report(arguments)
    if word in _WORDS_TO_COME:
        parser.error(f"{word!r} is not a command yet; a file of that name is written ./{word}")
    if command == []:
        parser.error("no command after --")
    if (command or act) and (arguments.output or arguments.format):
        parser.error("-o and --format do not go with --check, --plan, --policy or a command")
    if command and act:
        parser.error("a command after -- does not go with --check, --plan or --policy")
    if arguments.online and not arguments.policy:
        parser.error("--online goes with --policy")
    if arguments.resolve_secrets and arguments.format != "spark":
        parser.error("--resolve-secrets goes with --format spark")


def _run(arguments: argparse.Namespace, command: list[str] | None) -> int:
    settings, configs = split_settings(
        read_configs(arguments.input, text_format=arguments.input_format)
    )
    if settings and arguments.no_input_providers:
        raise LookupDenied(
            f"{arguments.input}: {next(iter(settings))!r} is refused by --no-input-providers"
        )
    if arguments.format == "spark":
        configs = _spark_entries(configs)
        if not arguments.resolve_secrets:
            return _deliver(configs, arguments)
        _say("warning: Spark makes each entry a system property of the driver: values can be seen")
    with ExitStack() as opened:
        providers = _providers(arguments, settings, opened)
        transformer = ConfigTransformer(providers, concurrency=arguments.lookup_concurrency)
        if _is_report(arguments):
            return _report(arguments, transformer, providers, configs)
        result = transformer.transform(configs, strict=not arguments.allow_unresolved)
    for each in result.unresolved:
        _say(f"left as typed: {each}")
    if stale := result.stale_keys:
        _say(f"stale values, since a backend failed: {printable(', '.join(stale))}")
    if command:
        _become(command, environment(result.data))
    return _deliver(result.data, arguments)


def _providers(
    arguments: argparse.Namespace, settings: Mapping[str, str], opened: ExitStack
) -> dict[str, ConfigProvider]:
    sources = {arguments.input: settings}
    if arguments.providers:
        sources[arguments.providers] = read_configs(arguments.providers)
    try:
        return opened.enter_context(open_providers(*sources.values()))
    except ConfigException as error:
        raise ConfigException(f"{' and '.join(sources)}: {error}") from error


def _spark_entries(configs: Mapping[str, str]) -> dict[str, str]:
    others = [key for key in configs if not key.startswith("spark.")]
    if others:
        _say(f"left out, since spark-submit reads only spark.*: {printable(', '.join(others))}")
    return {key: value for key, value in configs.items() if key.startswith("spark.")}


def _report(
    arguments: argparse.Namespace,
    transformer: ConfigTransformer,
    providers: Mapping[str, ConfigProvider],
    configs: Mapping[str, str],
) -> int:
    plan = transformer.plan(configs)
    if arguments.plan:
        report = reports.show_plan(plan)
    elif arguments.check:
        report = reports.check(transformer, plan, providers)
    else:
        report = reports.policies(plan, providers, online=arguments.online)
    _show_table(report.table)
    _print_bytes(encode(report.text))
    for note in report.notes:
        _say(note)
    for name, error in report.failures.items():
        _say(f"provider {name!r}: {error}")
    unresolved = unresolved_among(report.outcomes)
    if unresolved:
        _say(str(UnresolvedError(unresolved)))
    fatal = [each for each in unresolved if not arguments.allow_unresolved or each.is_failure]
    return max([UNRESOLVED if fatal else DONE, *map(_code, report.failures.values())])


def _show_table(rows: Sequence[Sequence[str]]) -> None:
    table = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(row, widths, strict=True)
        line = "  ".join(_coloured(cell) + " " * (width - len(cell)) for cell, width in cells)
        _print_bytes(encode(f"{line.rstrip()}\n"))


def _coloured(cell: str) -> str:
    colour = {"found": 32, "stale": 33, "missing": 31, "refused": 31, "failed": 31}.get(cell)
    wanted = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return f"\x1b[{colour}m{cell}\x1b[0m" if colour and wanted else cell


def _deliver(configs: Mapping[str, str], arguments: argparse.Namespace) -> int:
    content = encode(render(configs, arguments.format or "properties"))
    if arguments.output in {None, "-"}:
        _print_bytes(content)
    else:
        write(content, arguments.output)
    return DONE


def _print_bytes(content: bytes) -> None:
    if sys.stdout is None:
        raise ConfigException("standard output is closed: name a file with -o")
    sys.stdout.flush()
    try:
        os.set_blocking(sys.stdout.fileno(), True)
        # Past the buffer, which would try, and fail, a second time when the process ends.
        while content:
            content = content[os.write(sys.stdout.fileno(), content) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ConfigException(f"cannot write to standard output: {error.strerror}") from error


def _become(command: list[str], variables: Mapping[str, str]) -> NoReturn:
    replaced = [
        name for name in variables if os.environ.get(name, variables[name]) != variables[name]
    ]
    if replaced:
        _say(f"replaced in the environment: {', '.join(replaced)}")
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, {**os.environ, **variables})  # noqa: S606  It is asked for.
    except OSError as error:
        raise ConfigException(f"cannot run {command[0]!r}: {error.strerror}") from error


def _say(message: str) -> None:
    with suppress(OSError, AttributeError):  # Nobody listens: stderr is full, or closed.
        os.write(sys.stderr.fileno(), f"resolve-config: {message}\n".encode(errors="replace"))
