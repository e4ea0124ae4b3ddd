# PYTHON_ARGCOMPLETE_OK
"""``resolve-config``: a config in, the same config with values for references out."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NoReturn

from .. import __version__, reports
from ..config_file import read_configs
from ..errors import ConfigException, UnresolvedError, printable
from ..output import FORMATS, encode, environment, render, write
from ..provider import ConfigProvider
from ..transformer import ConfigTransformer, unresolved_among
from .inputs import (
    BROKEN_PIPE,
    DONE,
    INTERRUPTED,
    UNRESOLVED,
    exit_code,
    new_parser,
    open_sources,
    say_what_is_odd,
    split_input,
)
from .overwriting import refuse_output_among
from .terminal import print_bytes, say, show_table

_WATCH, _INVENTORY = "watch", "inventory"
_WORDS_TO_COME = ("doctor", "help", "lint", "scan")
_EXAMPLES = """\
examples:
  resolve-config job.properties                        print it with values for references
  resolve-config --check job.properties                what is found, what is missing; no value
  resolve-config --policy job.properties               what Vault and IAM must allow for it
  resolve-config job.properties -- ./job.sh            run a command with them in its environment
  resolve-config watch job.properties -o job.resolved  keep a file fresh; see watch --help

exit codes: 0 done, 1 a reference is unresolved or refused, 2 bad usage or bad input
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``resolve-config`` with *argv*, by default the process's; return its exit code.

    With a command after ``--`` and nothing wrong, it does not return: the command takes over the
    process.
    """
    own, command = _split(list(sys.argv[1:] if argv is None else argv))
    _complete()
    try:
        if own[:1] == [_WATCH]:
            from .watch_command import watch  # Here, as only this word needs threads and a logger.

            return watch(own[1:], command)
        if own[:1] == [_INVENTORY]:
            from .inventory_command import inventory

            return inventory(own[1:], command)
        return _resolve(own, command)
    except ConfigException as error:
        say(printable(str(error)))
        return exit_code(error)
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED


def _complete() -> None:
    """Answer a shell that asks how the line goes on, and end."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    parser, words = _parser(), int(os.environ["_ARGCOMPLETE"])
    word = os.environ.get("COMP_LINE", "").split()[words : words + 1]
    if word in ([_WATCH], [_INVENTORY]):
        from .inventory_command import inventory_parser
        from .watch_command import watch_parser

        os.environ["_ARGCOMPLETE"] = str(words + 1)  # So many words are not the parser's.
        parser = watch_parser() if word == [_WATCH] else inventory_parser()
    argcomplete.autocomplete(parser)


def _resolve(own: Sequence[str], command: list[str] | None) -> int:
    parser = _parser()
    arguments = parser.parse_args(own)
    _refuse_bad_usage(parser, arguments, command)
    try:
        return _run(arguments, command)
    except UnresolvedError as error:
        say(f"{printable(arguments.input)}: {error}")
        return UNRESOLVED


def _split(argv: list[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in argv:
        return argv, None
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "resolve-config",
        "resolve-config [options] INPUT [-- COMMAND ...]\n"
        "       resolve-config watch [options] INPUT\n"
        "       resolve-config inventory [options] CONFIG_DIR_OR_PARQUET",
        "Print a config with the values that its references, ${provider:path:key}, stand for.",
        _EXAMPLES,
    )
    add = parser.add_argument
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
    add("--routes", action="store_true", help="with --plan: print how each would reach Spark")
    add("--version", action="version", version=f"resolve-config {__version__}")
    return parser


def _is_report(arguments: argparse.Namespace) -> bool:
    return bool(arguments.check or arguments.plan or arguments.policy)


def _refuse_bad_usage(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, command: list[str] | None
) -> None:
    word, act = arguments.input, _is_report(arguments)
    if word in _WORDS_TO_COME:
        parser.error(f"{word!r} is not a command yet; a file of that name is written ./{word}")
    if word in {_WATCH, _INVENTORY}:
        parser.error(f"{word!r} is a command and comes first; a file of that name is ./{word}")
    if command == []:
        parser.error("no command after --")
    if (command or act) and (arguments.output or arguments.format):
        parser.error("-o and --format do not go with --check, --plan, --policy or a command")
    if command and act:
        parser.error("a command after -- does not go with --check, --plan or --policy")
    if arguments.online and not arguments.policy:
        parser.error("--online goes with --policy")
    if arguments.routes and not arguments.plan:
        parser.error("--routes goes with --plan")
    if arguments.resolve_secrets and arguments.format != "spark":
        parser.error("--resolve-secrets goes with --format spark")


def _run(arguments: argparse.Namespace, command: list[str] | None) -> int:
    read = read_configs(arguments.input, text_format=arguments.input_format)
    settings, configs = split_input(read, arguments)
    if arguments.format == "spark":
        configs = _spark_entries(configs)
        if not arguments.resolve_secrets:
            return _deliver(configs, arguments)
        say("warning: Spark makes each entry a system property of the driver: values can be seen")
    sources = {arguments.input: settings}
    if arguments.providers:
        sources[arguments.providers] = read_configs(arguments.providers)
    with ExitStack() as opened:
        providers = open_sources(sources, opened)
        transformer = ConfigTransformer(providers, concurrency=arguments.lookup_concurrency)
        if _is_report(arguments):
            return _report(arguments, transformer, providers, configs)
        refuse_output_among(transformer.plan(configs), providers, arguments.output)
        result = transformer.transform(configs, strict=not arguments.allow_unresolved)
    say_what_is_odd(result)
    if command:
        _become(command, environment(result.data))
    return _deliver(result.data, arguments)


def _spark_entries(configs: Mapping[str, str]) -> dict[str, str]:
    others = [key for key in configs if not key.startswith("spark.")]
    if others:
        say(f"left out, since spark-submit reads only spark.*: {printable(', '.join(others))}")
    return {key: value for key, value in configs.items() if key.startswith("spark.")}


def _report(
    arguments: argparse.Namespace,
    transformer: ConfigTransformer,
    providers: Mapping[str, ConfigProvider],
    configs: Mapping[str, str],
) -> int:
    plan = transformer.plan(configs)
    if arguments.routes:
        report = reports.show_routes(plan, configs)
    elif arguments.plan:
        report = reports.show_plan(plan)
    elif arguments.check:
        report = reports.check(transformer, plan, providers)
    else:
        report = reports.policies(plan, providers, online=arguments.online)
    show_table(report.table)
    print_bytes(encode(report.text))
    for note in report.notes:
        say(printable(note))
    for name, error in report.failures.items():
        say(f"provider {name!r}: {printable(str(error))}")
    unresolved = unresolved_among(report.outcomes)
    if unresolved:
        say(str(UnresolvedError(unresolved)))
    fatal = [each for each in unresolved if not arguments.allow_unresolved or each.is_failure]
    return max([UNRESOLVED if fatal else DONE, *map(exit_code, report.failures.values())])


def _deliver(configs: Mapping[str, str], arguments: argparse.Namespace) -> int:
    content = encode(render(configs, arguments.format or "properties"))
    if arguments.output in {None, "-"}:
        print_bytes(content)
    else:
        write(content, arguments.output)
    return DONE


def _become(command: list[str], variables: Mapping[str, str]) -> NoReturn:
    replaced = [
        name for name in variables if os.environ.get(name, variables[name]) != variables[name]
    ]
    if replaced:
        say(f"replaced in the environment: {', '.join(replaced)}")
    ignored_by_python = (signal.SIGPIPE, signal.SIGXFSZ)
    before = [signal.signal(each, signal.SIG_DFL) for each in ignored_by_python]
    try:
        os.execvpe(command[0], command, {**os.environ, **variables})  # noqa: S606  It is asked for.
    except OSError as error:
        for number, handler in zip(ignored_by_python, before, strict=True):
            signal.signal(number, handler)  # Who called us lives on, and writes to sockets.
        raise ConfigException(f"cannot run {command[0]!r}: {error.strerror}") from error
