"""From any source of Spark to any sink: :class:`SparkPipelineConnector`.

::

    connector.class=SparkPipelineConnector
    mode=streaming
    checkpoint.location=/var/lib/orders/checkpoint
    source.format=json
    source.schema=id BIGINT, price DOUBLE
    source.options.path=/var/spool/orders
    transform.sql=SELECT id, price * 1.2 AS gross FROM source
    sink.format=parquet
    sink.options.path=/data/orders

What each mode promises: files that a stream writes hold every row once, however often it is
stopped; a stream to ``jdbc`` may write the rows of a batch twice (see
:mod:`configproviders.worker.connectors._stream`); a batch that fails half way has written what it
has written, as any job of Spark.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from ... import __version__
from ...config_def import ConfigDef
from ...errors import ConfigException, UnsupportedOperation
from ..connector import Connector, ConnectorType, Progress, Task, TaskContext
from . import _settings as settings
from ._batch import Batches
from ._checkpoint import Checkpoint, forget_files
from ._stream import Stream, partitioned
from ._validation import both_transforms, misspelt, mistakes


class PipelineTask(Task):
    """Runs one query, or copies its part of the tables."""

    _work: Batches | Stream | None = None

    def start(self, context: TaskContext) -> None:
        """Start the query, if it is one."""
        is_stream = settings.MODE.read(context.config) == settings.STREAMING
        self._work = Stream(context) if is_stream else Batches(context)
        if context.is_stopping:  # It may have been so before there was a query to stop.
            self.stop()

    def run(self) -> None:
        """Run until all is done, or until it is stopped; raise what fails."""
        if self._work is not None:
            self._work.run()

    def stop(self) -> None:
        """End between two batches of a query, if one ends soon, or after a table."""
        if self._work is not None:
            self._work.stop()

    def progress(self) -> Progress | None:
        """Return the rows that were read, and where a query is."""
        return None if self._work is None else self._work.progress()


class SparkPipelineConnector(Connector):
    """Reads with any format of Spark, transforms with SQL or a function, writes with any format."""

    type: ClassVar[ConnectorType] = "source"
    config_def: ClassVar[ConfigDef] = settings.PIPELINE_DEF
    task_class = PipelineTask

    renamed: ClassVar[Mapping[str, str]] = {}
    """What settings are called in a pipeline; a name that ends in a dot is that of a family."""

    preset: ClassVar[Mapping[str, str]] = {}
    """Settings of the pipeline that have a value if they are not given."""

    @classmethod
    def version(cls) -> str:
        """Return the version of this package."""
        return __version__

    def validate(self, config: Mapping[str, str]) -> Mapping[str, Collection[str]]:
        """Return what is misspelt, and what does not fit together."""
        own = {pipeline: name for name, pipeline in reversed(list(self.renamed.items()))}
        found = misspelt(config, self.config_def)
        with suppress(ConfigException):  # A setting that cannot be read is told by itself.
            pipeline = mistakes(self.pipeline(config))
            for more in (
                {own.get(key, key): pipeline[key] for key in pipeline},
                both_transforms(config),
            ):
                for key, said in more.items():
                    found[key] = [*found.get(key, ()), *said]
        return found

    def start(self, config: Mapping[str, str]) -> None:
        """Take the config."""
        self.config = self.pipeline(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return a config for each task: one, or the tables dealt over *max_tasks*."""
        tables = settings.SOURCE_TABLES.read(self.config)
        count = min(max_tasks, len(tables))
        if count < 2:  # noqa: PLR2004  One task has them all.
            return [self.config]
        return [
            {**self.config, settings.SOURCE_TABLES.name: ",".join(tables[task::count])}
            for task in range(count)
        ]

    def offsets(self, config: Mapping[str, str]) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return where a stream is after its last batch; none for what is no stream."""
        pipeline = self.pipeline(config)
        location = settings.CHECKPOINT.read(pipeline)
        if not location:
            return ()
        return partitioned(settings.SOURCE_FORMAT.read(pipeline), Checkpoint(location).offsets())

    def reset_offsets(self, config: Mapping[str, str]) -> None:
        """Delete what Spark has noted in the checkpoint, and of the files in the sink.

        The next start reads all that there is, and writes it beside what is in the sink.
        """
        pipeline = self.pipeline(config)
        location = settings.CHECKPOINT.read(pipeline)
        if not location:
            raise UnsupportedOperation("only a stream has offsets, and mode is not streaming")
        Checkpoint(location).delete()
        if path := settings.options_of(pipeline, settings.SINK_OPTIONS_PREFIX).get("path"):
            forget_files(path)

    def pipeline(self, config: Mapping[str, str]) -> dict[str, str]:
        """Return *config* with the settings of a pipeline in the place of its own.

        A setting of its own that is empty is as one that is not given; an option may be empty.
        """
        names = {name: self._renamed(name) for name in config}
        translated = {
            names[name]: value for name, value in config.items() if value or names[name] == name
        }
        return {**self.preset, **translated}

    def _renamed(self, name: str) -> str:
        for own, pipeline in self.renamed.items():
            if own == name:
                return pipeline
            if own.endswith(".") and name.startswith(own):
                return pipeline + name.removeprefix(own)
        return name
