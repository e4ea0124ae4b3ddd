"""How soon a watcher tells of a changed file, and what ten thousand subscriptions cost.

Wall time for what is told, both sides in turn; CPU time of the whole process for what it takes.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

from watchdog.events import FileClosedEvent, FileMovedEvent, FileSystemEventHandler
from watchdog.observers import Observer

from configproviders import ConfigData, FileConfigProvider, Location, Watcher

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

CHANGES, SETTLE = 1_000, timedelta(milliseconds=20)
SUBSCRIPTIONS, FILES, DIRECTORIES, ROUNDS = 10_000, 1_000, 10, 5
IDLE_SECONDS = 66  # The longest pause between two polls of a file.

Millis = Callable[[], float]


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as directory:
        files = write_files(Path(directory))
        bench_memory(files)  # First, while the process has no memory to spare.
        bench_subscriptions(files)
    with tempfile.TemporaryDirectory() as directory:
        bench_latency(Path(directory))


def write_files(directory: Path) -> list[str]:
    """Write the files, as many into each directory."""
    files = [directory / str(number % DIRECTORIES) / str(number) for number in range(FILES)]
    for number, file in enumerate(files):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"user=u{number}\npassword=the value of {number}\n")
    return [str(file) for file in files]


def bench_memory(files: Sequence[str]) -> None:
    """Print what a subscription takes, by the process and by what Python traces."""
    taken = {}
    for name, measure in {"of the process": resident, "traced": traced}.items():
        with Watcher({"file": FileConfigProvider()}) as watcher:
            subscribe(watcher, files[:1], 1)
            gc.collect()
            before = measure()
            subscribe(watcher, files)
            gc.collect()
            taken[name] = (measure() - before) / SUBSCRIPTIONS
    tracemalloc.stop()
    process, python = (f"{each:,.0f}" for each in taken.values())
    print(
        f"{process} bytes  for each of {SUBSCRIPTIONS:,} subscriptions to {FILES:,} files;"
        f" Python traces {python}",
        flush=True,
    )


def bench_subscriptions(files: Sequence[str]) -> None:
    """Show what it takes to begin with all subscriptions, to have them, and to end."""
    begin, bare, end, at_work = [], [], [], []
    for number in range(ROUNDS):
        bare.append(millis(partial(look_up, files)))
        watcher = Watcher({"file": FileConfigProvider()})
        begin.append(millis(partial(subscribe, watcher, files)))
        if number == 0:
            show_idle(watcher, files)
        end.append(millis(watcher.close))
        at_work.append(millis_to_close_at_work(files))
    ratio = statistics.median(ours / theirs for ours, theirs in zip(begin, bare, strict=True))
    what = f"{SUBSCRIPTIONS:,} subscriptions to {FILES:,} files"
    print(
        f"{ratio:.2f} x  {what}, to begin: {spread(begin)} ms against their lookups alone,"
        f" {spread(bare)} ms"
    )
    print(f"{spread(end)} ms  {what}, to close, idle; at work {spread(at_work)} ms, goal 1,000 ms")


def show_idle(watcher: Watcher, files: Sequence[str]) -> None:
    """Print the threads, once all are there, and what they take while nothing happens."""
    change(watcher, files[:1])
    others = threading.active_count()
    with observed(files):
        of_watchdog = threading.active_count() - others
    ours = sum(each.name.startswith("watcher") for each in threading.enumerate())
    all_of_them = others - 1  # This one is not.
    print(
        f"{all_of_them} threads  of which {ours} are the watcher's own; watchdog alone takes"
        f" {of_watchdog} for the {DIRECTORIES} directories, goal {of_watchdog} + 4"
    )
    start, cpu = time.monotonic(), cpu_seconds()
    time.sleep(IDLE_SECONDS)
    share = (cpu_seconds() - cpu) / (time.monotonic() - start)
    print(f"{share:.2%} of a core  idle for {IDLE_SECONDS} s, each file polled once, goal 1%")


def subscribe(watcher: Watcher, files: Sequence[str], count: int = SUBSCRIPTIONS) -> None:
    """Subscribe to one key of each file, again and again."""
    for number in range(count):
        location = Location("file", files[number % len(files)])
        watcher.subscribe(location, {"password"}, lambda _path, _data: None)


def look_up(files: Sequence[str]) -> None:
    """Look the same up."""
    provider = FileConfigProvider()
    for number in range(SUBSCRIPTIONS):
        provider.get(files[number % len(files)], {"password"})


def millis_to_close_at_work(files: Sequence[str]) -> float:
    """Close a watcher when all files have changed, and the first callback was called."""
    watcher = Watcher({"file": FileConfigProvider()})
    subscribe(watcher, files)
    change(watcher, files)
    return millis(watcher.close)


def change(watcher: Watcher, files: Sequence[str]) -> None:
    """Change *files*, and wait until that is told of the first."""
    told = threading.Event()
    watcher.subscribe(Location("file", files[0]), (), lambda _path, _data: told.set())
    for each in files:
        Path(each).write_text(f"user=u\npassword={time.monotonic()}\n")
    told.wait(60)


@contextmanager
def observed(files: Sequence[str]) -> Iterator[None]:
    """Have watchdog alone observe the directories of *files*."""
    observer = Observer()
    for directory in {os.path.dirname(file) for file in files}:
        observer.schedule(FileSystemEventHandler(), directory)
    observer.start()
    yield
    observer.stop()
    observer.join()


def bench_latency(directory: Path) -> None:
    """Compare the time from a change to the callback with that to a handler of watchdog's."""
    with told_by_watcher(directory / "ours") as ours, told_by_watchdog(directory / "bare") as bare:
        rounds = [(ours() - SETTLE.total_seconds() * 1e3, bare()) for _ in range(CHANGES)]
    ratio = statistics.median(ours for ours, _ in rounds) / statistics.median(
        bare for _, bare in rounds
    )
    sides = [three(side) for side in zip(*rounds, strict=True)]
    print(
        f"{ratio:.2f} x  from the change of a file to the callback, less {SETTLE.microseconds:,} µs"
        f" to settle, {CHANGES:,} changes, p50/p99/most: {sides[0]} ms, goal 100 ms for p99,"
        f" against a handler of watchdog's that reads the file, {sides[1]} ms",
        flush=True,
    )


@contextmanager
def told_by_watcher(directory: Path) -> Iterator[Millis]:
    """Give what makes a change, and returns how long it takes to be told."""
    told: Queue[float] = Queue()
    changed = Changed(directory)

    def callback(_path: str, _data: ConfigData, /) -> None:
        told.put(time.perf_counter())

    with Watcher({"file": FileConfigProvider()}, settle=SETTLE) as watcher:
        watcher.subscribe(Location("file", str(changed.file)), {"password"}, callback)
        yield lambda: changed.millis(told)


@contextmanager
def told_by_watchdog(directory: Path) -> Iterator[Millis]:
    """Give the same with no more than watchdog."""
    told: Queue[float] = Queue()
    changed = Changed(directory)

    class Reads(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            if str(changed.file) in {event.src_path, event.dest_path}:
                changed.file.read_text()
                told.put(time.perf_counter())

    observer = Observer()
    kinds = [FileMovedEvent, FileClosedEvent]
    observer.schedule(Reads(), str(directory), event_filter=kinds)
    observer.start()
    yield lambda: changed.millis(told)
    observer.stop()
    observer.join()


@dataclass
class Changed:
    """A file of two entries, one of which changes by a rename."""

    directory: Path
    number: int = 0

    def __post_init__(self) -> None:
        self.directory.mkdir()
        self._write(self.file)

    @property
    def file(self) -> Path:
        """Where it is."""
        return self.directory / "db.properties"

    def millis(self, told: Queue[float]) -> float:
        """Change it; return how long that takes to be told."""
        self.number += 1
        new = self.directory / "new"
        self._write(new)
        start = time.perf_counter()
        new.replace(self.file)
        return (told.get(timeout=60) - start) * 1e3

    def _write(self, file: Path) -> None:
        file.write_text(f"user=orders\npassword=the value {self.number}\n")


def millis(call: Callable[[], object]) -> float:
    """Return the wall time of *call*."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def cpu_seconds() -> float:
    """Return the CPU time of this process so far."""
    times = os.times()
    return times.user + times.system


def resident() -> int:
    """Return the bytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def traced() -> int:
    """Return the bytes that Python objects take, from the first call on."""
    if not tracemalloc.is_tracing():
        tracemalloc.start()
    return tracemalloc.get_traced_memory()[0]


def three(values: Sequence[float]) -> str:
    """Write the median, the last percentile, and the most."""
    last = statistics.quantiles(values, n=100)[-1]
    return f"{statistics.median(values):.2f}/{last:.2f}/{max(values):.2f}"


def spread(values: Sequence[float]) -> str:
    """Write the median with the least and the most."""
    return f"{statistics.median(values):,.1f} ({min(values):,.1f}-{max(values):,.1f})"


if __name__ == "__main__":
    main()
