"""Connectors that say their secret wherever a connector can say something, and those that fail.

A note of each task says what it was started with, as a digest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import new_class
from typing import Any
from urllib.parse import quote, quote_plus

from configproviders.config_def import INT, NO_DEFAULT, PASSWORD, STRING, ConfigDef, ConfigKey
from configproviders.data import Password
from configproviders.worker.connector import Connector, Progress, Task, TaskContext

HADOOP_KEY = "fs.s3a.leaks.secret.key"


def _refuse(value: Any) -> None:
    text = value.value() if isinstance(value, Password) else value
    if "refuse-me" in text:
        raise ValueError(f"{text!s} is refused")


SETTINGS = ConfigDef(
    (
        ConfigKey("secret", PASSWORD, NO_DEFAULT, "high", "What it says.", validator=_refuse),
        ConfigKey("user", STRING, "nobody", "low", "Who it is.", validator=_refuse),
        ConfigKey("count", INT, 1, "low", "A number."),
        ConfigKey("notes", STRING, NO_DEFAULT, "low", "Where notes go."),
        ConfigKey("fails.in", STRING, "", "low", "Where it fails."),
    )
)


class Said(Exception):  # noqa: N818  It is not about the error.
    """Makes its text of what it was given only when it is asked."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret

    def __str__(self) -> str:
        return f"refused: {self.secret!s}"


def raise_all(secret: str) -> None:
    """Raise an error that has the secret in its text, its notes, its cause and its context."""
    try:
        try:
            raise KeyError(secret)
        except KeyError as error:
            error.add_note(f"the password is {secret!s}")
            raise ExceptionGroup(f"with {secret!s}", [Said(secret), OSError(1, secret)]) from error
    except ExceptionGroup as group:
        raise new_class(str(secret), (Said,))(secret) from group


class Talk(Task):
    """Says the secret, and then waits."""

    def start(self, context: TaskContext) -> None:
        self.context, self.secret = context, context.config["secret"]
        self._log()
        self._die_in_a_thread()
        self._keep_on_disk()
        self._note()
        if context.config["fails.in"] == "start":
            raise_all(self.secret)
        if context.config["fails.in"] == "sql":
            context.spark.sql(f"SELECT * FROM nowhere_`{self.secret}`")

    def run(self) -> None:
        if self.context.config["fails.in"] == "run":
            raise_all(self.secret)
        while not self.context.wait(60):
            pass

    def stop(self) -> None:
        raise_all(self.secret)

    def progress(self) -> Progress:
        pair = {"token": self.secret}, {f"at {self.secret}": [self.secret, {"url": self.secret}]}
        return Progress(1, 0.5, [pair])

    def _log(self) -> None:
        text = str.__str__(self.secret)
        for logger in (self.context.logger, logging.getLogger("of.a.driver"), logging.root):
            logger.debug("logging in with %s", text)
            logger.warning("config: %s", {"url": f"db://me:{quote(text)}@host", "of": [text]})
            logger.info(json.dumps({"password": text}), extra={"password": text, "m": {"k": text}})
            try:
                raise_all(text)
            except Said:
                logger.exception("no login with %r", text, stack_info=True)
        self.context.logger.getChild(text).warning("a logger for each user")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(f"{text} is too short", stacklevel=1)

    def _die_in_a_thread(self) -> None:
        thread = threading.Thread(target=raise_all, args=(self.secret,), name="dying")
        thread.start()
        thread.join()

    def _keep_on_disk(self) -> None:
        from pyspark import StorageLevel

        frame = self.context.spark.range(1).selectExpr(f"'{self.context.connector}' AS name")
        frame.persist(StorageLevel.DISK_ONLY).count()

    def _note(self) -> None:
        hadoop: Any = self.context.spark.sparkContext._jsc
        key = hadoop.hadoopConfiguration().get(HADOOP_KEY)
        notes = {"secret": digest(self.secret), "hadoop": digest(key)}
        name = self.context.connector.partition("-")[0]
        file = Path(self.context.config["notes"], f"{name}-{self.context.task}")
        file.with_suffix(".new").write_text(json.dumps(notes))
        file.with_suffix(".new").replace(file)


class TalkativeConnector(Connector):
    """Hands its secret on to its tasks in many texts."""

    type = "source"
    task_class = Talk
    config_def = SETTINGS

    def validate(self, config: Mapping[str, str]) -> Mapping[str, Collection[str]]:
        secret = config["secret"]
        logging.getLogger("of.a.driver").warning("validates %s", str(secret))
        if config.get("fails.in") == "validate":
            raise_all(secret)
        if config.get("user") == "wrong":
            url = f"db://me:{quote(secret)}@host"
            return {"user": [f"nobody logs in with {secret!s}: {url}"], url: [json.dumps(secret)]}
        return {}

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        if config.get("fails.in") == "connector":
            raise_all(config["secret"])

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        secret = self.config["secret"]
        copies = {
            "fails.in": self.config.get("fails.in", ""),
            "copy": secret,
            "twice": f"{secret}{secret}",
            "url": f"db://me:{quote(secret, safe='')}@host?key={quote_plus(secret)}",
            "json": json.dumps({"key": secret}),
            "sentence": f"the password is {secret!s}, and no other",
        }
        return [{**self.config, **copies} for _ in range(max_tasks)]

    def stop(self) -> None:
        raise_all(self.config["secret"])

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        secret = config["secret"]
        if config.get("fails.in") == "offsets":
            raise_all(secret)
        return [({"file": secret, secret: 1}, {"at": [secret], quote(secret): {secret}})]

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        raise_all(config["secret"])


class LeakingConnector(TalkativeConnector):
    """Says what nobody can keep it from saying: it prints, and writes a file."""

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        print("printed:", config["secret"], flush=True)  # noqa: T201  That is what it is for.
        Path(config["notes"], "leaked").write_text(config["secret"])


def digest(text: str) -> str:
    """Return what tells a value without showing it."""
    return hashlib.sha256(text.encode()).hexdigest()
