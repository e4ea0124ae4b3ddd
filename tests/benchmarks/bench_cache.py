"""What a cache costs where it hits, and what it asks of the backend where many threads miss.

CPU time for the hits, in rounds of both sides in turn, since machines are shared and noisy.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from configproviders import ConfigData
from configproviders.cache import CachingConfigProvider
from configproviders.testing import StaticConfigProvider

ROUNDS, CALLS, COLD_ROUNDS, THREADS = 61, 5_000, 50, 32
LATENCY_SECONDS = 0.02
HOUR = timedelta(hours=1)


def main() -> None:
    """Print both figures."""
    bench_hit()
    bench_cold_location()


def bench_hit() -> None:
    """Compare a hit with looking the value up in a dict, and with asking without a cache."""
    values = {f"path/{number}": {"user": "u", "password": "p"} for number in range(100)}
    backend = StaticConfigProvider(values)
    cache = CachingConfigProvider(backend, default_ttl=HOUR)
    keys = {"user", "password"}
    cache.get_many(dict.fromkeys(values, keys))
    calls = len(backend.calls)

    def hit() -> object:
        return cache.get("path/50", keys)

    def look_up() -> object:
        return values["path/50"]

    rounds = [(cpu_nanos(hit), cpu_nanos(look_up)) for _ in range(ROUNDS)]
    assert len(backend.calls) == calls
    show("cache, a hit with two keys", rounds, "a dict look-up's")

    def copied() -> object:
        found = values["path/50"]
        return ConfigData({key: found[key] for key in keys}, HOUR)

    rounds = [(cpu_nanos(hit), cpu_nanos(copied)) for _ in range(ROUNDS)]
    show("cache, a hit with two keys", rounds, "a dict look-up's with a ConfigData of it")


def cpu_nanos(call: Callable[[], object]) -> float:
    """Return the CPU time of one call, over many."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS


class Slow(StaticConfigProvider):
    """Answers as a backend on the network does: later."""

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        time.sleep(LATENCY_SECONDS)
        return super().get(path, keys)


def bench_cold_location() -> None:
    """Have many threads ask for one cold location at once, with a TTL and without one."""
    for name, ttl in (("a TTL", HOUR), ("no TTL", None)):
        calls, millis = [], []
        with ThreadPoolExecutor(THREADS) as threads:
            for _ in range(COLD_ROUNDS):
                count, seconds = ask_at_once(threads, ttl)
                calls.append(count)
                millis.append(seconds * 1e3)
        print(
            f"{max(calls)} calls at most (least {min(calls)}, rounds {COLD_ROUNDS}, goal 1)"
            f"  cache with {name}, {THREADS} threads ask for one cold location:"
            f" {spread(millis, '.1f')} ms against the backend's {LATENCY_SECONDS * 1e3:.0f} ms",
            flush=True,
        )


def ask_at_once(threads: ThreadPoolExecutor, ttl: timedelta | None) -> tuple[int, float]:
    """Return the calls that the backend got, and how long all threads took."""
    backend = Slow({"path": {"user": "u"}})
    cache = CachingConfigProvider(backend, default_ttl=ttl)
    together = threading.Barrier(THREADS)

    def ask(_: int) -> ConfigData:
        together.wait()
        return cache.get("path", {"user"})

    start = time.perf_counter()
    answers = list(threads.map(ask, range(THREADS)))
    seconds = time.perf_counter() - start
    assert all(answer.data == {"user": "u"} for answer in answers)
    return len(backend.calls), seconds


def show(name: str, rounds: list[tuple[float, float]], against: str) -> None:
    """Print the median ratio with its deciles, and both medians with theirs."""
    ratio = spread([ours / theirs for ours, theirs in rounds], ".2f")
    ours, theirs = (spread(side, ",.0f") for side in zip(*rounds, strict=True))
    print(f"{ratio} x  {name}: {ours} ns against {against} {theirs} ns", flush=True)


def spread(values: Sequence[float], form: str) -> str:
    """Write the median with the first and the last decile."""
    low, *_, high = statistics.quantiles(values, n=10)
    return f"{statistics.median(values):{form}} ({low:{form}}-{high:{form}})"


if __name__ == "__main__":
    main()
