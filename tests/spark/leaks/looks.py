"""What a run shows, sorted by surface: pages, what the job wrote down, logs and processes."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from servers.spark_cluster import SparkCluster
from spark.leaks import ui
from spark.leaks.canaries import Findings
from spark.leaks.event_logs import events
from spark.leaks.processes import ProcessSampler

_PAGES = {
    "/jobs": "UI: jobs, stages",
    "/stages": "UI: jobs, stages",
    "/SQL": "UI: SQL",
    "/StreamingQuery": "UI: streaming",
}
_ANSWERS = {
    "environment": "REST: environment",
    "jobs": "REST: jobs, stages",
    "stages": "REST: jobs, stages",
    "sql": "REST: sql",
}


def look_at_pages(start: str, findings: Findings) -> None:
    """Look at the UI of the application at *start*, and at its REST API."""
    for where, page in ui.application_pages(start):
        path = urlsplit(where).path
        names = (name for prefix, name in _PAGES.items() if path.startswith(prefix))
        findings.look(next(names, "UI: environment, executors, storage, threads"), where, page)
    for where, answer in ui.rest_answers(start):
        last = urlsplit(where).path.rsplit("/")[-1]
        findings.look(_ANSWERS.get(last, "REST: the rest, metrics"), where, answer)


def look_at_daemons(cluster: SparkCluster, findings: Findings) -> None:
    """Look at the UIs of the Master and the Worker."""
    for start in (cluster.master_web, cluster.worker_web):
        for where, page in ui.pages(start):
            findings.look("UI: master, worker", where, page)
        for where, answer in ui.pages(f"{start}/json/"):
            findings.look("REST: master, worker", where, answer)


def look_at_seen(seen: Path, findings: Findings) -> None:
    """Look at what the job wrote down of itself in the folder *seen*, and at its event logs."""
    for folder in filter(Path.is_dir, seen.iterdir()):
        for file in folder.iterdir():
            findings.look(folder.name, str(file), file.read_bytes())
    for log in seen.glob("events-*"):
        for surface, event in events(log.read_bytes()):
            findings.look(surface, "an event", event)


def look_at_logs(cluster: SparkCluster, findings: Findings) -> None:
    """Look at the logs of the Master, the Worker and the executors."""
    for log in cluster.directory.glob("*.log"):
        findings.look("log4j: master, worker", log.name, log.read_bytes())
    for log in cluster.directory.glob("work/*/*/std*"):
        findings.look("log4j: executors", log.name, log.read_bytes())


def look_at_processes(processes: ProcessSampler, findings: Findings) -> None:
    """Look at the command lines and environments that were sampled."""
    for line in processes.command_lines:
        executor = b"CoarseGrainedExecutorBackend" in line
        surface = "command lines of executors" if executor else "command lines"
        findings.look(surface, "a process", line)
    for environment in processes.environments:
        findings.look("environments", "a process", environment)
