"""What fits together in the config of a pipeline: :func:`mistakes`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from ...config_def import ConfigDef
from ...data import SecretText
from ...errors import near, there_is
from ...spark.routes import route, stream_route
from ..connector_keys import CONNECTOR_DEF
from . import _settings as settings
from ._flow import JDBC, PLACES
from ._query import refused

Mistake = tuple[str, str]
"""The key of a setting, and what is wrong with it."""

_CREDENTIALS = re.compile(r"//[^/?;]*@|[?&;:](user|password)=", re.IGNORECASE)
# Databases that run in the worker's own JVM, where their SQL calls Java; Spark brings Derby.
_EMBEDDED = re.compile(
    r"\s*jdbc:(derby:(?!//)|h2:(?!tcp:|ssl:)|hsqldb:(?!hsqls?:|https?:))", re.IGNORECASE
)
_SEEN = (  # In plans, which Spark shows and logs, and in the names of files.
    settings.SOURCE_SCHEMA,
    settings.SOURCE_TABLES,
    settings.SOURCE_SELECT,
    settings.TRANSFORM_SQL,
    settings.SINK_SELECT,
    settings.SINK_TABLE,
    settings.CHECKPOINT,
)
# Options of Spark's readers and writers, and of Kafka's clients, that name classes to load.
_CLASSES = re.compile(
    r"driver|connectionprovider|.*(class|classes|factory|interceptors?|committer|handler)"
    r"|.*(metric\.reporters|security\.providers|partition\.assignment\.strategy)"
    r"|fs\..*\.impl|kafka\.config\.providers.*",
    re.IGNORECASE,
)
_CLASSES_IN_URL = re.compile(r"[?&;:]\w*(factory|class|classname|plugins?)\w*=", re.IGNORECASE)
_KNOWN_CLASSES = ("org.apache.kafka.common.security.", "software.amazon.msk.auth.iam.")
_JAAS = re.compile(
    r"\s*(org\.apache\.kafka\.common\.security\.(plain|scram|oauthbearer)\.\w*"
    r"|software\.amazon\.msk\.auth\.iam\.IAM)LoginModule\s"
)
_LOADS = "names code to load, which is not for a connector's config to say"
# Options that Spark reads itself, and quotes when they are wrong.
_QUOTED = {
    "batchsize",
    "charset",
    "codec",
    "columnnameofcorruptrecord",
    "compression",
    "dateformat",
    "encoding",
    "fetchsize",
    "header",
    "inferschema",
    "isolationlevel",
    "linesep",
    "lowerbound",
    "maxfilespertrigger",
    "mode",
    "multiline",
    "numpartitions",
    "partitioncolumn",
    "querytimeout",
    "startingoffsets",
    "timestampformat",
    "upperbound",
}
_SIDES = (
    (settings.SOURCE_FORMAT, settings.SOURCE_OPTIONS_PREFIX),
    (settings.SINK_FORMAT, settings.SINK_OPTIONS_PREFIX),
)
_NO_STREAMS = (JDBC,)
_INFERRED = ("csv", "json", "xml", "orc", "parquet", "avro")
_INFERENCE = "spark.sql.streaming.schemaInference"
_FILES = (*_INFERRED, "text")
_ONE_PLACE = f"it is one place for several tables: write {settings.TABLE} for the name of each"


def mistakes(config: Mapping[str, str]) -> dict[str, list[str]]:
    """Return all that does not fit together in *config*, the settings of a pipeline, by key."""
    found = defaultdict[str, list[str]](list)
    mode = settings.MODE.read(config)
    checks = [_in_formats(config), _in_options(config, mode), _in_sight(config), _in_sql(config)]
    checks += [_in_urls(config), _in_run(config, mode), _in_tables(config, mode)]
    checks.append(_in_stream(config) if mode == settings.STREAMING else _in_batch(config))
    for check in checks:
        for key, message in check:
            found[key].append(message)
    return dict(found)


def misspelt(config: Mapping[str, str], config_def: ConfigDef) -> dict[str, list[str]]:
    """Return the settings in *config* that look like those of *config_def*, and are none."""
    names = [key.name for key in config_def]
    known = {name for key in config_def.expanded(config) for name in key.names}
    known |= {name for key in CONNECTOR_DEF.expanded(config) for name in key.names}
    strays = [key for key in config if key not in known and not key.startswith("spark.")]
    starts = tuple({f"{name.partition('.')[0]}." for name in names if "." in name})
    hints = {key: _hint(key, names, belongs=key.startswith(starts)) for key in strays}
    return {key: [f"no setting named {key!r}; {hint}"] for key, hint in hints.items() if hint}


def both_transforms(config: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what is wrong if *config* asks for a query and a function."""
    if not (settings.TRANSFORM_SQL.read(config) and settings.TRANSFORM_FUNCTION.read(config)):
        return {}
    message = "transform.sql and transform.function exclude each other: have the function do both"
    return {settings.TRANSFORM_FUNCTION.name: [message]}


def _hint(name: str, names: Collection[str], *, belongs: bool) -> str:
    return there_is(name, names) if belongs else near(name, names)


def _in_sight(config: Mapping[str, str]) -> Iterator[Mistake]:
    for key in _SEEN:
        if isinstance(config.get(key.name), SecretText):
            yield key.name, "no reference may stand there: Spark shows it in plans, logs and paths"
    if not settings.SINK_TABLE.read(config):
        return
    for name, text in config.items():
        if name.startswith(settings.SINK_OPTIONS_PREFIX) and isinstance(text, SecretText):
            yield name, "the catalog would keep it with the table: no reference beside sink.table"


def _in_formats(config: Mapping[str, str]) -> Iterator[Mistake]:
    for its_format, _ in _SIDES:
        if "." in its_format.read(config):
            yield its_format.name, "write the short name of the format: a class " + _LOADS


def _in_options(config: Mapping[str, str], mode: str) -> Iterator[Mistake]:
    """Yield the options that would choose code, or show a secret."""
    for its_format, prefix in _SIDES:
        streamed = mode == settings.STREAMING and prefix == settings.SOURCE_OPTIONS_PREFIX
        for key, text in config.items():
            option = key.removeprefix(prefix).lower()
            if not key.startswith(prefix):
                continue
            if not _is_harmless(option, text):
                yield key, f"it {_LOADS}"
            if not isinstance(text, SecretText):
                continue
            way = stream_route(option, its_format.read(config)) if streamed else route(option)
            if way.is_refused or option in _QUOTED:
                shown = way.shown or "errors, which quote it"
                yield key, f"no reference may stand there: it would be seen in {shown}"


def _is_harmless(option: str, text: str) -> bool:
    if option.endswith("sasl.jaas.config"):
        return bool(_JAAS.match(text)) and text.count("LoginModule") == 1
    if option in {"compression", "codec"}:
        return "." not in text  # Else it is a class.
    return not _CLASSES.fullmatch(option) or text.strip().startswith(_KNOWN_CLASSES)


def _in_sql(config: Mapping[str, str]) -> Iterator[Mistake]:
    for key in (settings.SOURCE_SELECT, settings.TRANSFORM_SQL, settings.SINK_SELECT):
        if word := refused(key.read(config) or ""):
            yield key.name, f"{word!r} would run other code, or read confs: use transform.function"


def _in_urls(config: Mapping[str, str]) -> Iterator[Mistake]:
    for its_format, prefix in _SIDES:
        url = settings.options_of(config, prefix).get("url", "")
        if _EMBEDDED.match(url):
            yield f"{prefix}url", "that database would run in the worker itself: use one of its own"
        if its_format.read(config).lower() != JDBC:
            continue
        if not url.startswith("jdbc:"):
            yield f"{prefix}url", "write jdbc:<database>:…, as the driver's documentation says"
        if _CLASSES_IN_URL.search(url):
            yield f"{prefix}url", f"it {_LOADS}"
        if _CREDENTIALS.search(url):
            yield f"{prefix}url", "keep credentials out of it: there are settings for them"


def _in_run(config: Mapping[str, str], mode: str) -> Iterator[Mistake]:
    for key, its_mode in (
        (settings.SCHEDULE_INTERVAL, settings.SCHEDULE),
        (settings.TRIGGER_INTERVAL, settings.STREAMING),
        (settings.CHECKPOINT, settings.STREAMING),
    ):
        value = key.read(config)
        if value and mode != its_mode:
            yield key.name, f"it is for mode={its_mode}, and mode is {mode}"
        if not value and mode == its_mode and key is not settings.TRIGGER_INTERVAL:
            yield key.name, f"mode={its_mode} needs it"


def _in_tables(config: Mapping[str, str], mode: str) -> Iterator[Mistake]:
    tables = settings.SOURCE_TABLES.read(config)
    if not tables:
        return
    if mode == settings.STREAMING:
        yield settings.SOURCE_TABLES.name, "a stream has one source: make a connector for each"
    if not all(tables) or len(set(tables)) < len(tables):
        yield settings.SOURCE_TABLES.name, "a table is there twice, or has no name"
    source = settings.options_of(config, settings.SOURCE_OPTIONS_PREFIX)
    if "query" in source:
        yield settings.SOURCE_TABLES.name, "it and a query exclude each other"
    if settings.SOURCE_FORMAT.read(config).lower() != JDBC and not source.keys() & PLACES:
        yield settings.SOURCE_TABLES.name, f"write {settings.TABLE} in source.options.path"
    for prefix in (settings.SOURCE_OPTIONS_PREFIX, settings.SINK_OPTIONS_PREFIX):
        options = settings.options_of(config, prefix)
        for name in PLACES & options.keys():
            if settings.TABLE not in options[name]:
                yield f"{prefix}{name}", _ONE_PLACE
    if settings.TABLE not in (settings.SINK_TABLE.read(config) or settings.TABLE):
        yield settings.SINK_TABLE.name, _ONE_PLACE


def _in_stream(config: Mapping[str, str]) -> Iterator[Mistake]:
    source, sink = (
        key.read(config).lower() for key in (settings.SOURCE_FORMAT, settings.SINK_FORMAT)
    )
    if source in _NO_STREAMS:
        yield settings.SOURCE_FORMAT.name, f"Spark reads no stream of {source}: use mode=schedule"
    if "checkpointlocation" in settings.options_of(config, settings.SINK_OPTIONS_PREFIX):
        yield settings.CHECKPOINT.name, "write it here, and not among the options of the sink"
    inferred = config.get(_INFERENCE, "").strip().lower() == "true"
    if source in _INFERRED and not inferred and not settings.SOURCE_SCHEMA.read(config):
        yield settings.SOURCE_SCHEMA.name, f"a stream of {source} needs it, as in 'id BIGINT'"
    mode = settings.SINK_MODE.read(config)
    modes = ("append",) if sink in _FILES else settings.STREAM_SINK_MODES
    if mode not in modes:
        yield settings.SINK_MODE.name, f"a stream to {sink} is written with {' or '.join(modes)}"


def _in_batch(config: Mapping[str, str]) -> Iterator[Mistake]:
    mode = settings.SINK_MODE.read(config)
    if mode not in settings.BATCH_SINK_MODES:
        words = " or ".join(settings.BATCH_SINK_MODES)
        yield settings.SINK_MODE.name, f"it is for mode=streaming; a batch is written with {words}"
