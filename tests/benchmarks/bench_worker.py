"""What the worker adds to what it runs: its REST API, starts, restarts and the rows of a job.

Wall time on all sides, in turn, since machines are shared and noisy; processes of their own.
"""

from __future__ import annotations

from benchmarks.bench_worker_rest import bench_rest
from benchmarks.bench_worker_rotation import bench_rotation
from benchmarks.bench_worker_spark import bench_spark


def main() -> None:
    """Print all figures."""
    bench_rest()
    bench_rotation()
    bench_spark()


if __name__ == "__main__":
    main()
