"""The references of many configs: found, traced, checked and resolved, in one session."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PythonException

from configproviders import ConfigData, ConfigException, UnresolvedError
from configproviders.errors import LookupDenied, ProviderUnavailable
from configproviders.spark import affected_by, check, references, resolve
from configproviders.spark.executors import BackendSecrets, DriverSecrets
from configproviders.testing import CANARY, StaticConfigProvider

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VAULT = {"config.providers": "vault", "config.providers.vault.class": "vault"}


class Counted(StaticConfigProvider):
    """Answers from memory, refuses one path, and counts which keys it was asked for."""

    waits = True

    def __init__(self, paths: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(paths)
        self.asked: list[tuple[str, Collection[str] | None]] = []

    def get(self, path: str, keys: Collection[str] | None = None) -> ConfigData:
        self.asked.append((path, keys))
        if path == "refused":
            raise LookupDenied("the policy refuses 'refused'")
        return ConfigData(super().get(path, keys).data, timedelta(minutes=1))


def entries(spark: SparkSession, *rows: tuple[str, str, str | None]) -> DataFrame:
    return spark.createDataFrame(rows, "id string, key string, value string")


def rows(df: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in df.collect())


@pytest.mark.spark
def test_each_reference_is_a_row_with_its_place_in_the_text(spark: SparkSession) -> None:
    df = entries(
        spark,
        ("orders", "url", "jdbc:ä?user=${file:/etc/x:user}&password=$<vault:secret/db:pw>"),
        ("orders", "user", "${env:DB:USER}"),
        ("orders", "pattern", "^a$ and ${no reference} and $1"),
        ("stock", "none", None),
        ("stock", "home", "${env:HOME}"),
    )

    assert rows(references(df)) == [
        ("orders", "url", "file", "/etc/x", "user", 12, 31, "${file:/etc/x:user}"),
        ("orders", "url", "vault", "secret/db", "pw", 41, 62, "$<vault:secret/db:pw>"),
        ("orders", "user", "env", "DB", "USER", 0, 14, "${env:DB:USER}"),
        ("stock", "home", "env", "", "HOME", 0, 11, "${env:HOME}"),
    ]


@pytest.mark.spark
def test_columns_have_any_name_and_ids_any_type(spark: SparkSession) -> None:
    schema = "at struct<topic string, number bigint>, name string, setting string"
    df = spark.createDataFrame([(("t", 7), "k", "${a:b:c}")], schema)

    (row,) = references(df, "setting", id="at", key="name").collect()

    assert (row.config.topic, row.config.number, row.config_key) == ("t", 7, "k")


@pytest.mark.spark
def test_a_config_may_be_a_map(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    df = spark.createDataFrame([("c", '{"a": "${x:y:z}", "b": "plain"}')], "id string, text string")
    df = df.select("id", f.from_json("text", "map<string,string>").alias("config"))

    assert rows(references(df, "config")) == [("c", "a", "x", "y", "z", 0, 8, "${x:y:z}")]


@pytest.mark.spark
def test_values_without_a_reference_are_left_out_before_python(spark: SparkSession) -> None:
    found = references(entries(spark, ("a", "b", "c")))

    plan = found._jdf.queryExecution().executedPlan().toString()

    assert plan.index("MapInArrow") < plan.index("Filter")


@pytest.mark.spark
def test_text_that_is_not_utf8_is_no_obstacle(spark: SparkSession) -> None:
    df = spark.sql("select 'a' id, 'b' key, cast(x'ff247b613a623a637dfe' as string) value")

    with DriverSecrets(spark, providers={"a": Counted({"b": {"c": "found"}})}) as secrets:
        seen = [row.value for row in resolve(df, secrets).collect()]

    assert [row.text for row in references(df).collect()] == ["${a:b:c}"]
    assert seen == ["\ufffdfound\ufffd"]


@pytest.mark.spark
def test_large_strings_make_no_difference(spark: SparkSession) -> None:
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        df = entries(spark, ("a", "b", "${a:b:c} ${d:e}"), ("a", "c", "${a:b:c} $<d:e>"))
        with DriverSecrets(spark, providers={"a": Counted({"b": {"c": "found"}})}) as secrets:
            seen = [row.value for row in resolve(df, secrets, strict=False).collect()]
        found = sorted(row.text for row in references(df).collect())
    finally:
        spark.conf.unset(setting)

    assert found == ["$<d:e>", "${a:b:c}", "${a:b:c}", "${d:e}"]
    assert seen == ["found ${d:e}", "found $<d:e>"]


@pytest.mark.spark
def test_names_of_columns_may_hold_dots_and_backticks(spark: SparkSession) -> None:
    df = entries(spark, ("a", "b", "${p:db:user}")).toDF("the.id", "a`key", "a.value")
    found = references(df, "a.value", id="the.id", key="a`key").selectExpr("*", "1 as `x.y```")
    provider = Counted({"db": {"user": "orders"}})

    checked = check(check(found, providers={"p": provider}), providers={"p": provider})
    with DriverSecrets(spark, providers={"p": provider}) as secrets:
        resolved = [tuple(row) for row in resolve(df, secrets, "a.value").collect()]

    assert checked.columns == [*found.columns, "outcome", "error", "ttl"]
    assert [(row.config, row.config_key, row.outcome) for row in checked.collect()] == [
        ("a", "b", "found")
    ]
    assert resolved == [("a", "b", "orders")]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("column", "names", "message"),
    [
        ("valu", {}, "no column named 'valu'; did you mean 'value'?"),
        ("value", {"id": "ident"}, "no column named 'ident'"),
        ("number", {}, "column 'number' is int: references stand in text, or in a map of texts"),
    ],
)
def test_a_column_that_will_not_do_is_named(
    spark: SparkSession, column: str, names: dict[str, str], message: str
) -> None:
    df = entries(spark, ("a", "b", "c")).selectExpr("*", "1 as number")

    with pytest.raises(ConfigException, match=message.replace("?", r"\?")):
        references(df, column, **names)


@pytest.mark.spark
@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_without_a_package_it_is_said_how_to_get_it(
    spark: SparkSession, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = entries(spark, ("a", "b", "c"))
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ProviderUnavailable, match=r"pip install 'configproviders\[spark\]'"):
        references(df)


@pytest.mark.spark
def test_who_uses_a_place_is_found_however_it_is_spelt(spark: SparkSession) -> None:
    found = references(
        entries(
            spark,
            ("a", "as typed", "${vault:secret/data/db:password}"),
            ("a", "short", "x${vault:secret/db:user}y"),
            ("b", "a version", "$<vault:secret/db?version=2:user>"),
            ("b", "another", "${vault:secret/dbx:password}"),
            ("c", "of another provider", "${file:secret/data/db:password}"),
        )
    )

    everything = affected_by(found, "vault:secret/data/db", VAULT)
    password = affected_by(found, "vault:secret/db:password", VAULT)
    nothing = affected_by(found, "nobody:x", VAULT)

    assert [row[1] for row in rows(everything)] == ["as typed", "short", "a version"]
    assert [row[1] for row in rows(password)] == ["as typed"]
    assert (rows(nothing), nothing.columns) == ([], found.columns)


@pytest.mark.spark
def test_a_place_of_ours_needs_no_settings_unless_a_live_provider_has_the_name(
    spark: SparkSession,
) -> None:
    found = references(entries(spark, ("a", "b", "${vault:secret/data/db:pw}")))
    live = {"vault": StaticConfigProvider({})}

    assert affected_by(found, "vault:secret/db").count() == 1
    assert affected_by(found, "vault:secret/db", providers={"other": live["vault"]}).count() == 1
    assert affected_by(found, "vault:secret/db", providers=live).count() == 0


@pytest.mark.spark
def test_each_place_is_asked_once_and_the_outcome_stands_with_each_reference(
    spark: SparkSession,
) -> None:
    provider = Counted({"db": {"user": CANARY, "password": CANARY}})
    config = [("user", "${p:db:user}"), ("password", "${p:db:password}"), ("no", "${p:db:no}")]
    config += [("refused", "${p:refused:x}"), ("stranger", "${q:x:y}"), ("path", "${p:none:x}")]
    df = entries(spark, *((f"c{n}", key, text) for n in range(20) for key, text in config))

    checked = check(references(df), providers={"p": provider}).where("config = 'c7'")

    assert sorted(path for path, _ in provider.asked) == ["db", "none", "refused"]
    seen = {row.config_key: (row.outcome, row.ttl, row.error) for row in checked.collect()}
    assert seen["user"] == seen["password"] == ("found", timedelta(minutes=1), None)
    assert {key: seen[key][0] for key in ("no", "refused", "stranger", "path")} == {
        "no": "missing",
        "refused": "refused",
        "stranger": "missing",
        "path": "missing",
    }
    assert seen["refused"][2] == "the policy refuses 'refused'"
    plan = checked._jdf.queryExecution().toString()
    assert CANARY not in plan + str(seen)


@pytest.mark.spark
def test_a_column_is_resolved_with_each_place_asked_once(spark: SparkSession) -> None:
    provider = Counted({"db": {"user": "orders", "password": CANARY}})
    texts = ["${p:db:user}", "a ${p:db:password} b $<p:db:user> c", "plain ${x}", None]
    df = entries(
        spark, *((f"c{n}", str(k), text) for n in range(9) for k, text in enumerate(texts))
    )

    with DriverSecrets(spark, providers={"p": provider}) as secrets:
        resolved = resolve(df.repartition(4), secrets)
        seen = [row.value for row in resolved.orderBy("id", "key").collect()]
        plan = resolved._jdf.queryExecution().toString()

    assert seen == ["orders", f"a {CANARY} b orders c", "plain ${x}", None] * 9
    assert [path for path, _ in provider.asked] == ["db"]
    assert CANARY not in plan


@pytest.mark.spark
def test_a_column_to_resolve_is_text_and_may_have_any_name(spark: SparkSession) -> None:
    df = spark.createDataFrame([("${p:db:user}", 1)], "id string, number int")

    with DriverSecrets(spark, providers={"p": Counted({"db": {"user": "u"}})}) as secrets:
        seen = [tuple(row) for row in resolve(df, secrets, "id").collect()]
        with pytest.raises(ConfigException, match="column 'number' is not text"):
            resolve(df, secrets, "number")

    assert seen == [("u", 1)]


@pytest.mark.spark
def test_references_without_a_value_are_named_at_once_or_left_as_typed(
    spark: SparkSession,
) -> None:
    provider = Counted({"db": {"user": "orders"}})
    df = entries(
        spark,
        ("a", "0", "${p:db:user}"),
        *((f"c{n}", str(n), f"${{p:db:no{n:02}}} ${{p:db:user}}") for n in range(30)),
    )

    with DriverSecrets(spark, providers={"p": provider}) as secrets:
        with pytest.raises(UnresolvedError) as raised:
            resolve(df, secrets)
        lenient = resolve(df, secrets, strict=False)
        seen = [row.value for row in lenient.orderBy("id").collect()]
        with pytest.raises(UnresolvedError, match="the policy refuses"):
            resolve(entries(spark, ("", "", "${p:refused:x}")), secrets, strict=False)

    assert str(raised.value).startswith("20 references cannot be resolved:\n  value: ${p:db:no00}")
    assert raised.value.__notes__ == ["and 10 more"]
    assert seen[:2] == ["orders", "${p:db:no00} orders"]


@pytest.mark.spark
@pytest.mark.parametrize("strict", [True, False])
def test_a_reference_that_appears_later_fails_the_task_and_is_named(
    spark: SparkSession, tmp_path: Path, *, strict: bool
) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("${p:db:user}")
    provider = Counted({"db": {"user": "orders"}})

    with DriverSecrets(spark, providers={"p": provider}) as secrets:
        resolved = resolve(spark.read.text(str(file)), secrets, strict=strict)
        file.write_text("${p:db:late}")
        with pytest.raises(PythonException, match=r"\{p:db:late}: was not there when"):
            resolved.collect()


@pytest.mark.spark
def test_what_executors_find_missing_stays_as_typed_if_that_is_allowed(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "x.properties"
    file.write_text("user=orders\n")
    missing = f"${{file:{file}:no}} $<file:/nowhere:x>"
    df = entries(spark, ("a", "b", f"${{file:{file}:user}} {missing}"))

    (lenient,) = resolve(df, BackendSecrets(), strict=False).collect()
    with pytest.raises(PythonException, match=r"no key|'/nowhere'"):
        resolve(df, BackendSecrets()).collect()

    assert lenient.value == f"orders {missing}"
