from __future__ import annotations

from pathlib import Path

import pytest

from configproviders import UnresolvedError
from configproviders.spark import resolve_options
from configproviders.testing import StaticConfigProvider

SECRETS = {"db": {"password": "p", "user": "u"}}


def test_options_are_resolved_as_text_and_a_none_is_left_out() -> None:
    options = {"password": "${live:db:password}", "fetchsize": 100, "header": True, "none": None}

    assert resolve_options(options, providers={"live": StaticConfigProvider(SECRETS)}) == {
        "password": "p",
        "fetchsize": "100",
        "header": "true",
    }


def test_providers_are_those_that_the_configs_declare(tmp_path: Path) -> None:
    (tmp_path / "s.properties").write_text("k=v\n")
    configs = {
        "config.providers": "mine",
        "config.providers.mine.class": "file",
        "config.providers.mine.param.allowed.paths": str(tmp_path),
        "spark.unrelated": "${nobody:x:y}",
    }

    options = resolve_options({"a": f"${{mine:{tmp_path}/s.properties:k}}"}, configs)

    assert options == {"a": "v"}


def test_configs_may_be_the_path_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "job.properties").write_text("config.providers=e\nconfig.providers.e.class=env\n")

    with pytest.raises(UnresolvedError, match=r"a: \$\{e:NOT_SET_ANYWHERE\}: no key"):
        resolve_options({"a": "${e:NOT_SET_ANYWHERE}"}, tmp_path / "job.properties")


def test_a_live_provider_wins_over_a_declared_one() -> None:
    configs = {"config.providers": "p", "config.providers.p.class": "env"}
    live = {"p": StaticConfigProvider(SECRETS)}

    assert resolve_options({"a": "${p:db:user}"}, configs, providers=live) == {"a": "u"}


def test_without_any_there_are_file_directory_and_env(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("v")

    assert resolve_options({"a": f"${{directory:{tmp_path}:k}}"}) == {"a": "v"}


def test_unresolved_may_be_left_as_typed() -> None:
    assert resolve_options({"a": "${nobody:x:y}"}, strict=False) == {"a": "${nobody:x:y}"}
