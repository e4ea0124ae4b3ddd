"""Keeps querying PostgreSQL as three roles, whose passwords are changed meanwhile.

``demo.py`` starts it in a directory with the files that app.properties names, and with PGHOST,
PGPORT and VAULT_ADDR, by which libpq and the provider find their servers.
"""

from __future__ import annotations

import argparse
import math
import time
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, SimpleQueue

import psycopg

from configproviders import ConfigTransformer, ConfigTransformerResult, Watcher, load_providers
from configproviders.config_file import read_configs
from configproviders.watch import ConfigChange

CONFIG = Path(__file__).with_name("app.properties")
ROLES = ("orders", "stock", "reports")
TRIES = 30


class Sessions:
    """A session of each role, and what it logs in with: what was told last."""

    def __init__(self, config: ConfigTransformerResult[str], watcher: Watcher) -> None:
        """Take a config, and hear of what changed since it was made."""
        self.queries = self.failed = self.changes = 0
        self._settings = config.data
        self._uses = {use.config_key: use for use in config.plan.uses()}
        self._open: dict[str, psycopg.Connection] = {}
        self._news: SimpleQueue[ConfigChange] = SimpleQueue()
        self._watcher = watcher
        watcher.watch(config.plan, self._news.put, since=config.answers)

    def query(self, role: str) -> None:
        """Query as *role*, and if its session is lost, once more in a new one."""
        self.queries += 1
        for _ in range(TRIES):
            try:
                self._session(role).execute("SELECT count(*) FROM pg_class")
            except psycopg.OperationalError:
                self.end(role)
            else:
                return
        self.failed += 1

    def listen(self, seconds: float) -> None:
        """Wait so long for a change; end the sessions of those whom it concerns."""
        try:
            change = self._news.get(timeout=seconds)
        except Empty:
            return
        for key in change.config_keys:
            use, role = self._uses[key], key.partition(".")[0]
            values = change.locations[use.location].data.data
            if use.key in values:  # If it was deleted, the session goes on.
                self._settings[key] = values[use.key]
                self.end(role)
                self.changes += 1
                print(f"{key} has changed: {role} logs in anew")

    def end(self, role: str) -> None:
        """End the session of *role*; its next query begins another one."""
        if session := self._open.pop(role, None):
            session.close()

    def _session(self, role: str) -> psycopg.Connection:
        if role not in self._open:
            user, password = self._settings[f"{role}.user"], self._settings[f"{role}.password"]
            try:
                self._open[role] = psycopg.connect(user=user, password=password, autocommit=True)
            except psycopg.OperationalError:  # It may be too early for the callback: look now.
                print(f"{role} is not let in: is there another password?")
                self._watcher.invalidate(self._uses[f"{role}.password"].location)
                self.listen(1)
                raise
        return self._open[role]


def main() -> None:
    """Query until enough has changed, or the time is over."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--changes", type=int, default=math.inf)
    parser.add_argument("--seconds", type=float, default=math.inf)
    limits = parser.parse_args()
    end = time.monotonic() + limits.seconds
    configs = read_configs(str(CONFIG))
    with ExitStack() as opened:
        providers = load_providers(configs)
        for provider in providers.values():
            opened.enter_context(provider)
        config = ConfigTransformer(providers).transform(configs, strict=True)
        sessions = Sessions(config, opened.enter_context(Watcher(providers)))
        for role in ROLES:
            opened.callback(sessions.end, role)
        print(f"querying as {', '.join(ROLES)}")
        while sessions.changes < limits.changes and time.monotonic() < end:
            sessions.listen(0.02)
            for role in ROLES:
                sessions.query(role)
    print(f"{sessions.queries} queries, {sessions.failed} failed; {sessions.changes} changes")


if __name__ == "__main__":
    main()
