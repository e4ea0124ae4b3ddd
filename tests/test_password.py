from __future__ import annotations

import copy
import json
import pickle
import traceback

import pytest

from configproviders.data import Password, SecretText
from configproviders.testing import CANARY


def test_a_password_shows_itself_to_none_but_who_asks() -> None:
    password = Password(CANARY)

    shown = f"{password} {password!r} {password!s} {password:>12} %s {[password]}" % password

    assert CANARY not in shown
    assert shown.startswith("[hidden] [hidden] [hidden]     [hidden] [hidden]")
    assert password.value() == CANARY
    assert not hasattr(password, "__dict__")


def test_passwords_are_equal_by_their_text_and_may_be_copied() -> None:
    password = Password(CANARY)

    assert password == Password(CANARY)
    assert len({password, Password(CANARY), Password("other")}) == 2
    assert password != CANARY
    assert copy.deepcopy([password])[0].value() == CANARY


@pytest.mark.parametrize("secret", [Password(CANARY), SecretText(CANARY)], ids=type)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_neither_is_pickled_and_the_error_says_what_to_do(secret: object, protocol: int) -> None:
    with pytest.raises(TypeError, match=r"hand on the reference \(on executors: configprov"):
        pickle.dumps({"password": secret}, protocol)


def test_a_secret_text_is_text_but_for_its_repr() -> None:
    text = SecretText(CANARY)

    assert text == CANARY
    assert json.dumps([text]) == f'["{CANARY}"]'
    assert str(text) == CANARY
    assert repr({"password": text}) == "{'password': [hidden]}"
    assert repr(copy.deepcopy([copy.copy(text)])) == "[[hidden]]"


def test_a_traceback_with_locals_shows_neither() -> None:
    def fail(options: dict[str, str]) -> None:
        password = Password(options["password"])
        raise ValueError(password)

    with pytest.raises(ValueError, match="hidden") as raised:
        fail({"password": SecretText(CANARY)})

    shown = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    assert CANARY not in "".join(shown.format())
