"""What ``make bench`` prints: one line per figure, the ratio to a named baseline first.

CPU time, not wall time, and rounds of both sides in turn, since machines are shared and noisy.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from servers.jars import KAFKA_CLIENTS, fetched

from configproviders import ConfigProvider, ConfigTransformer, FileConfigProvider, reference
from configproviders.properties import dumps
from configproviders.testing import StaticConfigProvider

HERE = Path(__file__).parent
ROUNDS, CALLS, WARM_UP_SECONDS = 61, 20, 6
PROCESSES = 15

Micros = Callable[[], float]


def main() -> None:
    """Print every figure that this machine can give."""
    with tempfile.TemporaryDirectory() as directory:
        config = write_config(Path(directory))
        classpath = kafka_classpath(Path(directory))
        if classpath is None:
            print("transform: skipped, Kafka's classes need javac on PATH")
        else:
            bench_transform(Path(directory), config, classpath)
        bench_process(Path(directory), classpath)
    bench_hostile_text()


def write_config(directory: Path) -> dict[str, str]:
    """Write ten files of 50 secrets; return 1,000 entries, 500 of which refer to one each."""
    config = {}
    for number in range(10):
        path = directory / f"secrets-{number}.properties"
        path.write_text(dumps({f"key-{k}": f"the value {k} of {number}" for k in range(50)}))
        for k in range(50):
            config[f"plain.setting.{number}.{k}"] = f"some plain value {k}"
            config[f"secret.setting.{number}.{k}"] = f"${{file:{path}:key-{k}}}"
    (directory / "config.properties").write_text(dumps(config))
    return config


def kafka_classpath(directory: Path) -> str | None:
    """Fetch Kafka's classes and compile the baseline, which is not to be measured."""
    if not shutil.which("javac"):
        return None
    slf4j = next((Path(pyspark.__file__).parent / "jars").glob("slf4j-api-*.jar"))
    classpath = f"{directory}:{fetched(KAFKA_CLIENTS)}:{slf4j}"
    source = str(HERE / "KafkaBaseline.java")
    subprocess.run(["javac", "-cp", classpath, "-d", str(directory), source], check=True)
    return classpath


def bench_transform(directory: Path, config: dict[str, str], classpath: str) -> None:
    """Compare ``transform`` with Kafka's, with values in memory and from files, warm and cold."""
    paths = [str(directory / f"secrets-{number}.properties") for number in range(10)]
    in_memory = StaticConfigProvider({path: FileConfigProvider().get(path).data for path in paths})
    providers: dict[str, ConfigProvider] = {"memory": in_memory, "files": FileConfigProvider()}
    for mode, provider in providers.items():
        transformer = ConfigTransformer({"file": provider})

        def forget(provider: ConfigProvider = provider) -> None:
            reference._remembered.cache_clear()
            provider.close()  # With it go the files that were kept.

        def warm(transformer: ConfigTransformer = transformer) -> float:
            return cpu_micros(lambda: transformer.transform(dict(config)))

        def cold(
            transformer: ConfigTransformer = transformer, forget: Callable[[], None] = forget
        ) -> float:
            return cpu_micros(lambda: transformer.transform(dict(config)), before=forget)

        with kafka(classpath, mode, directory / "config.properties") as baseline:
            rounds = {"warm": side_by_side(warm, baseline), "cold": side_by_side(cold, baseline)}
        show(f"transform, {mode}, warm", rounds["warm"], "Kafka's", goal=0.5)
        show(f"transform, {mode}, cold", rounds["cold"], "Kafka's", goal=1)


def cpu_micros(
    call: Callable[[], object], before: Callable[[], None] = lambda: None, calls: int = CALLS
) -> float:
    """Return the CPU time of one call, over many."""
    spent = 0
    for _ in range(calls):
        before()
        start = time.thread_time_ns()
        call()
        spent += time.thread_time_ns() - start
    return spent / 1e3 / calls


@contextmanager
def kafka(classpath: str, mode: str, config: Path) -> Iterator[Micros]:
    """Start the baseline, warm; yield what asks it for a round."""
    command = ["java", "-cp", classpath, "KafkaBaseline", "transform", mode, str(config)]
    process = subprocess.Popen(
        [*command, str(WARM_UP_SECONDS), str(CALLS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    )
    with process:
        assert process.stdin
        assert process.stdout
        questions, answers = process.stdin, process.stdout

        def ask() -> float:
            questions.write("\n")
            return float(answers.readline())

        ask()  # Answered after the warm-up.
        yield ask
        questions.close()


def bench_process(directory: Path, classpath: str | None) -> None:
    """Compare ``resolve-config`` of a small file with bare Python, and with a JVM."""
    job = directory / "job.properties"
    secrets = directory / "secrets-0.properties"
    job.write_text("".join(f"k{k}=${{file:{secrets}:key-{k}}}\n" for k in range(3)))
    ours = [str(Path(sys.executable).parent / "resolve-config"), str(job)]
    python = [sys.executable, "-c", "pass"]
    bare = side_by_side(lambda: process_micros(ours), lambda: process_micros(python), PROCESSES)
    show("resolve-config, the process", bare, "python -c pass:", goal=3)
    if classpath is None:
        print("resolve-config against a JVM: skipped")
        return
    java = ["java", "-cp", classpath, "KafkaBaseline", "resolve", str(job)]
    jvm = side_by_side(lambda: process_micros(ours), lambda: process_micros(java), PROCESSES)
    show("resolve-config, the process", jvm, "a JVM's", goal=None)


def process_micros(command: Sequence[str]) -> float:
    """Return the CPU time of *command*, with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run(command, stdout=quiet, stderr=quiet, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6


def side_by_side(ours: Micros, theirs: Micros, rounds: int = ROUNDS) -> list[tuple[float, float]]:
    """Measure both in turn."""
    return [(ours(), theirs()) for _ in range(rounds)]


def show(name: str, rounds: list[tuple[float, float]], against: str, goal: float | None) -> None:
    """Print the median ratio with its spread, and both medians with theirs."""
    ratio = spread([ours / theirs for ours, theirs in rounds], ".2f")
    sides = [spread(side, ",.0f") for side in zip(*rounds, strict=True)]
    aim = f", goal {goal} x" if goal else ""
    print(f"{ratio} x  {name}: {sides[0]} µs against {against} {sides[1]} µs{aim}", flush=True)


def spread(values: Sequence[float], form: str) -> str:
    """Write the median with the first and the last decile."""
    low, *_, high = statistics.quantiles(values, n=10)
    return f"{statistics.median(values):{form}} ({low:{form}}-{high:{form}})"


def bench_hostile_text() -> None:
    """Show that the time of ``transform`` grows as the text does, whatever the text."""
    transformer = ConfigTransformer({})
    for unit in ("${a:", "$<${:>"):
        times = {}
        for length in (10_000, 100_000, 1_000_000):
            config = {"key": (unit * length)[:length]}

            def call(config: dict[str, str] = config) -> object:
                return transformer.transform(config)

            times[length] = statistics.median(cpu_micros(call, calls=1) for _ in range(5))
        ratio = times[1_000_000] / times[10_000] / 100
        shown = ", ".join(f"{length:,}: {micros:,.0f} µs" for length, micros in times.items())
        print(f"{ratio:.2f} x  a straight line, characters of {unit!r} repeated: {shown}")


if __name__ == "__main__":
    main()
