from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from servers.chromium import console
from worker.ui.looking import Page
from worker.workers import Begun, RotatedSecret

from configproviders.testing import CANARY
from configproviders.worker.rest.app import create_app
from configproviders.worker.status import State
from configproviders.worker.worker import Worker

NAME = "<b>new</b>/50 %é"
CHEAP = "worker.odd_connectors:CheapConnector"


@dataclass(frozen=True)
class Seen:
    """A worker, and its page."""

    worker: Worker
    page: Page

    def create(self, name: str, **config: str) -> None:
        """Create a connector, and wait until the page shows that it runs."""
        self.worker.herder.create(name, {"name": name, **config}).result()
        self.page.wait_until(lambda: self.page.has(name, "running"))


@pytest.fixture
def seen(
    begun: Begun, serve: Callable[[Any], str], look_at: Callable[[str], Page]
) -> Iterator[Seen]:
    with begun() as worker:
        yield Seen(worker, look_at(serve(create_app(worker))).wait_for_list())


@pytest.fixture
def config(secret: RotatedSecret) -> dict[str, str]:
    return {"connector.class": CHEAP, "password": secret.reference}


def test_connector_is_created_paused_and_deleted(seen: Seen, config: dict[str, str]) -> None:
    page, herder = seen.page, seen.worker.herder
    paste(page, config)
    page.field("name").send_keys(NAME, Keys.ENTER)
    page.wait_until(lambda: page.has(NAME, "running"))
    stored = herder.info(NAME).config

    page.button(f"Pause {NAME}").click()
    page.wait_until(lambda: page.has(NAME, "paused"))
    state = herder.status(NAME).state
    page.button("Delete…").click()
    page.button("Delete").click()

    page.wait_until(lambda: page.texts("#none") == ["There are no connectors yet."])
    assert stored == {**config, "name": NAME}
    assert state is State.PAUSED
    assert herder.names() == []


def test_secret_that_is_rotated_is_shown_with_its_times(
    seen: Seen, config: dict[str, str], secret: RotatedSecret
) -> None:
    page = seen.page
    seen.create("orders", **config)
    page.button("orders").click()
    page.wait_until(lambda: page.texts(".secrets dd"))
    before = page.texts(".secrets dd")

    secret.rotate()

    page.wait_until(lambda: page.texts(".secrets dd")[2] != "never")
    assert before[0] == "password"
    assert before[1] != "never"
    assert before[2] == "never"


def test_no_resolved_value_is_in_the_page(
    seen: Seen, config: dict[str, str], secret: RotatedSecret
) -> None:
    page = seen.page
    quoting = {"connector.class": "worker.odd_connectors:FailingConnector"}
    seen.create("quoting", **{**config, **quoting})
    page.wait_until(lambda: page.texts(".last-error"))
    page.button("quoting").click()
    page.wait_until(lambda: page.texts(".secrets li"))
    paste(page, {**config, "tasks.max": secret.reference, "name": "wrong"})
    page.button("Create").click()
    page.wait_until(lambda: page.texts("#create .field .error"))

    shown = page.browser.execute_script("""return document.documentElement.outerHTML
        + [...document.querySelectorAll("input, textarea, select")].map((each) => each.value)""")

    assert "refused: " in shown
    assert shown.count(secret.reference) >= 3
    assert CANARY not in shown


def test_settings_of_a_family_are_added_and_removed(seen: Seen) -> None:
    page = seen.page
    paste(page, {"connector.class": "SparkPipeline", "sink.options.path": "/data"})

    page.button("Add sink.options.<name>").click()
    added = page.browser.switch_to.active_element
    added.send_keys("compression")
    page.wait_until(lambda: len(page.texts("#create .extra button")) == 2)
    name = added.get_attribute("value")
    page.find(".extra:nth-of-type(2) button").click()

    assert name == "sink.options.compression"
    assert len(page.texts("#create .extra button")) == 1


def test_class_that_the_worker_does_not_know_is_said_in_the_form(seen: Seen) -> None:
    paste(seen.page, {"connector.class": "Nothing"})

    seen.page.wait_until(lambda: seen.page.texts("#create footer .error"))
    assert "Nothing" in seen.page.texts("#create footer .error")[0]
    assert console(seen.page.browser)


def paste(page: Page, config: dict[str, str]) -> None:
    """Open the form and paste *config*."""
    page.button("New connector").click()
    page.find("[data-part=paste] summary").click()
    page.find("#json").send_keys(json.dumps(config))
    page.button("Fill in the fields").click()
    page.wait_until(lambda: not page.find("#json").is_displayed())
