from __future__ import annotations

import subprocess
import sys

from configproviders.testing import CANARY
from configproviders.watch import ChangeKind
from configproviders.watch.content import NOTHING, Content


def test_the_keys_that_changed_came_or_went_are_named() -> None:
    before = Content.of({"same": "1", "changed": "1", "gone": "1"})
    after = Content.of({"same": "1", "changed": "2", "new": "1"})

    assert after.changed_since(before) == {"changed", "gone", "new"}


def test_the_kind_says_what_happened() -> None:
    some = Content.of({"k": "v"})

    assert some.kind_since(NOTHING) is ChangeKind.APPEARED
    assert NOTHING.kind_since(some) is ChangeKind.DELETED
    assert Content.of({"k": "w"}).kind_since(some) is ChangeKind.CHANGED


def test_no_keys_are_all_of_them() -> None:
    content = Content.of({"a": "1", "b": "2"})

    assert content.only(()) == content
    assert content.only({"a", "c"}) == Content.of({"a": "1"})


def test_what_cannot_be_read_is_what_it_was() -> None:
    before, after = Content.of({"a": "1", "b": "2"}), Content.of({"a": "3"})

    assert after.keeping({"b", "c"}, before) == Content.of({"a": "3", "b": "2"})


def test_no_value_is_kept_and_another_process_has_other_digests() -> None:
    program = (
        "from configproviders.watch.content import Content;"
        f"print(Content.of({{'k': {CANARY!r}}}).digests['k'].hex())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()

    here = Content.of({"k": CANARY}).digests["k"].hex()

    assert len(elsewhere) == len(here) == 32
    assert elsewhere != here


def test_half_a_surrogate_pair_is_a_value_like_any_other() -> None:
    assert Content.of({"k": "\ud800"}) != Content.of({"k": "\ud801"})
