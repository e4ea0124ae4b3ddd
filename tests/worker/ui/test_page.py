from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from servers.chromium import console, resize
from worker.ui.canned import JDBC, SECRET, CannedWorker, connector
from worker.ui.looking import Page
from worker.ui.serving import serving_app

MARKUP = "<img src=x onerror=alert(1)>/a b%é"
KEY_VALUE = ("key", "value")
Open = Callable[[CannedWorker], Page]


@pytest.fixture
def worker() -> CannedWorker:
    return CannedWorker(
        connector("orders"), connector(MARKUP, "PAUSED"), connector("stock", "FAILED")
    )


@pytest.fixture
def open_page(serve: Callable[[Any], str], look_at: Callable[[str], Page]) -> Open:
    return lambda worker: look_at(serve(worker.app)).wait_for_list()


@pytest.fixture
def page(worker: CannedWorker, open_page: Open) -> Page:
    return open_page(worker)


def test_list_shows_each_connector_with_its_state_and_rate(page: Page) -> None:
    assert page.has("orders", "running")
    assert page.has(MARKUP, "paused")
    assert "1,283,400" in page.texts("#connectors td")
    assert "842.5" in page.texts("#connectors td")


def test_list_shows_the_error_of_a_task_and_details_its_trace(page: Page) -> None:
    (error,) = page.texts(".last-error")
    page.button("stock").click()
    page.wait_until(lambda: page.texts(".details pre"))

    assert error.startswith("AnalysisException: [PATH_NOT_FOUND]")
    assert "Traceback (most recent call last)" in page.texts(".details pre")[0]


def test_name_with_markup_and_separators_is_text_and_reaches_the_worker(
    page: Page, worker: CannedWorker
) -> None:
    page.button(f"Resume {MARKUP}").click()

    page.wait_until(lambda: page.has(MARKUP, "running"))
    assert worker.state(MARKUP) == "RUNNING"
    assert not page.texts("img")


def test_pause_button_pauses_and_keeps_the_focus(page: Page, worker: CannedWorker) -> None:
    page.button("Pause orders").send_keys(Keys.ENTER)

    page.wait_until(lambda: page.has("orders", "paused"))
    assert worker.state("orders") == "PAUSED"
    assert page.browser.switch_to.active_element.text == "Resume"


def test_details_show_references_and_when_they_were_resolved(page: Page) -> None:
    page.button("orders").click()
    page.wait_until(lambda: page.texts(".secrets li"))

    assert page.texts(".details table .reference") == [SECRET]
    (secret,) = page.texts(".secrets li")
    assert secret.startswith(SECRET)
    assert "for\nconnection.password\nresolved\n" in secret
    assert secret.endswith("changed\nnever")


def test_password_that_is_written_out_in_a_config_is_not_shown(open_page: Open) -> None:
    options = {"connection.password": "written-out", "sink.options.token": "written-out"}
    mixed = {"connection.url": "jdbc:x:${env:HOST}", "aws.secret": "${env:A}written-out"}
    page = open_page(CannedWorker(connector("orders", **options, **mixed)))
    page.button("orders").click()

    page.wait_until(lambda: "jdbc:x:${env:HOST}" in page.texts(".details td"))

    assert "${env:A}•••" in page.texts(".details td")
    assert "written-out" not in page.browser.page_source


def test_address_names_the_connector_whose_details_are_open(page: Page) -> None:
    page.button(MARKUP).click()
    page.browser.refresh()
    page.wait_for_list()

    page.wait_until(lambda: MARKUP in page.texts(".details td"))


def test_refresh_touches_only_what_has_changed(page: Page, worker: CannedWorker) -> None:
    page.button("stock").click()
    page.wait_until(lambda: page.texts(".details pre"))
    page.find("#filter").send_keys("o")
    page.browser.execute_script("""
        window.touched = new Set();
        new MutationObserver((changes) => changes.forEach(({target}) =>
            touched.add(target.closest("#connectors > tbody")?.querySelector(".name").textContent))
        ).observe(document.getElementById("connectors"), {childList: true, subtree: true});
    """)

    worker.connectors["orders"]["progress"]["0"]["rows"] = 7
    page.wait_until(lambda: "7" in page.texts("#connectors td"))

    assert page.browser.execute_script("return [...touched]") == ["orders"]
    assert page.browser.switch_to.active_element.get_attribute("value") == "o"


def test_filters_by_name_and_by_state_work_together(page: Page) -> None:
    page.button("1 failed").click()
    page.wait_until(lambda: page.texts(".name") == ["stock"])

    page.find("#filter").send_keys("orders")
    page.wait_until(lambda: page.texts("#none") == ["No connector is like that."])
    page.button("1 failed").click()

    page.wait_until(lambda: page.texts(".name") == ["orders"])


def test_connector_is_deleted_only_when_that_is_confirmed(page: Page, worker: CannedWorker) -> None:
    page.button("orders").click()
    page.wait_until(lambda: page.texts(".details"))
    page.button("Delete…").click()
    page.button("Cancel").click()
    page.wait_until(lambda: not page.find("#delete").is_displayed())
    still = "orders" in worker.connectors

    page.button("Delete…").click()
    page.button("Delete").click()

    page.wait_until(lambda: "orders" not in page.texts(".name"))
    assert still
    assert "orders" not in worker.connectors


def test_form_says_what_is_wrong_while_it_is_filled_in_and_then_creates(
    page: Page, worker: CannedWorker
) -> None:
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    page.field("name").send_keys("new one")
    page.field("connection.url").send_keys("jdbc:postgresql://db/orders")
    page.field("connection.user").send_keys("orders")
    page.field("connection.password").send_keys(SECRET)
    page.field("tasks.max").send_keys("two")
    (more, *_) = page.browser.find_elements("css selector", "#create fieldset summary")
    more.click()
    page.field("poll.interval.ms").send_keys("1000")
    page.field("tables").send_keys("a,b")
    page.wait_until(lambda: page.texts("#create .field .error"))
    said = page.texts("#create .field .error")
    page.field("tasks.max").send_keys(Keys.BACKSPACE * 3, "2")
    page.wait_until(lambda: "All settings are right" in page.texts("#create [role=status]"))
    page.button("Create").click()
    page.wait_until(lambda: page.has("new one", "running"))

    assert said == ["invalid value 'two' for configuration 'tasks.max': write digits"]
    assert worker.connectors["new one"]["info"]["config"] == {
        "name": "new one",
        "connector.class": JDBC,
        "connection.url": "jdbc:postgresql://db/orders",
        "connection.user": "orders",
        "connection.password": SECRET,
        "tables": "a,b",
        "poll.interval.ms": "1000",
        "tasks.max": "2",
    }


def test_form_tells_of_missing_settings_when_one_wants_to_create(page: Page) -> None:
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    before = page.texts("#create .field .error")

    page.button("Create").click()

    page.wait_until(lambda: len(page.texts("#create .field .error")) == 5)
    assert before == []
    assert page.browser.switch_to.active_element.get_attribute("id") == page.field(
        "name"
    ).get_attribute("id")


def test_pasted_json_fills_the_form_in_also_with_settings_of_no_definition(page: Page) -> None:
    config = {"connector.class": "JdbcSource", "tasks.max": 2, "options.fetchsize": "100"}
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    page.find("[data-part=paste] summary").click()
    page.find("#json").send_keys("{")
    page.button("Fill in the fields").click()
    page.wait_until(lambda: page.texts("[data-part=jsonError]"))
    said = page.texts("[data-part=jsonError]")

    page.find("#json").clear()
    page.find("#json").send_keys(json.dumps({"name": "pasted", "config": config}))
    page.button("Fill in the fields").click()

    page.wait_until(lambda: page.field("name").get_attribute("value") == "pasted")
    assert said == ["this is not JSON (line 1 column 2)"]
    assert page.field("tasks.max").get_attribute("value") == "2"
    extra = [page.find(f".extra [data-part={part}]").get_attribute("value") for part in KEY_VALUE]
    assert extra == ["options.fetchsize", "100"]


def test_what_the_worker_refuses_is_said_in_the_form_which_stays_open(page: Page) -> None:
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    for name in ("connection.url", "connection.user", "tables"):
        page.field(name).send_keys("x")
    page.field("connection.password").send_keys(SECRET)
    page.field("name").send_keys("orders", Keys.ENTER)

    page.wait_until(lambda: page.texts("#create footer .error"))

    assert page.texts("#create footer .error") == ["connector 'orders' is there already"]
    assert page.field("name").get_attribute("value") == "orders"
    assert len(console(page.browser)) == 1  # The browser notes the status 409.


def test_password_field_shows_a_reference_and_hides_all_else(page: Page) -> None:
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    password = page.field("connection.password")

    password.send_keys("${env:A}")
    shown = password.get_attribute("type")
    password.send_keys("x")

    assert shown == "text"
    assert password.get_attribute("type") == "password"
    assert "Write a reference" in page.texts("#create .hint")[0]


def test_worker_that_is_gone_is_told_of_until_it_is_there_again(
    worker: CannedWorker, look_at: Callable[[str], Page]
) -> None:
    with serving_app(worker.app) as url:
        page = look_at(url).wait_for_list()
    page.wait_until(lambda: page.texts("#unreachable"))
    said = page.texts("#unreachable")[0]

    with serving_app(worker.app, int(url.rpartition(":")[2])):
        page.wait_until(lambda: not page.texts("#unreachable"))
        page.wait_until(lambda: page.has("orders", "running"))
        noted = console(page.browser)
        page.leave()

    assert said.startswith("The worker cannot be reached. What is below is from ")
    assert all("ERR_CONNECTION" in line or "ERR_EMPTY_RESPONSE" in line for line in noted)


def test_thousand_connectors_are_shown_and_filtered(open_page: Open) -> None:
    page = open_page(CannedWorker(*(connector(f"pipeline-{number}") for number in range(1000))))
    counted = page.texts("#states button")
    page.find("#filter").send_keys("-999")

    page.wait_until(lambda: page.texts(".name") == ["pipeline-999"])

    assert counted == ["1,000 running"]


def test_connector_that_the_address_names_is_in_view_also_among_a_thousand(
    open_page: Open,
) -> None:
    page = open_page(CannedWorker(*(connector(f"pipeline-{number}") for number in range(1000))))
    page.browser.get(f"{page.browser.current_url}#pipeline-500")
    page.browser.refresh()
    page.wait_for_list()

    page.wait_until(lambda: page.texts(".details"))
    top = page.button("pipeline-500").rect["y"]
    seen = page.browser.execute_script("return [scrollY, scrollY + innerHeight]")

    assert seen[0] < top < seen[1]


def test_every_control_has_a_name_for_those_who_cannot_see_it(page: Page) -> None:
    page.button("stock").click()
    page.wait_until(lambda: page.texts(".details pre"))
    controls = page.controls()
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    page.button("Add a setting").click()
    controls += page.controls()

    assert {"Restart task 0 of stock", "connection.password", "Its value"} < set(controls)
    assert "" not in controls


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_page_fits_a_desk_and_a_telephone(
    page: Page, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    resize(page.browser, width, height)
    preference = {"name": "prefers-color-scheme", "value": scheme}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [preference]})

    page.button("stock").click()
    page.wait_until(lambda: page.texts(".details pre"))
    page.browser.save_screenshot(str(tmp_path / "list.png"))
    needed = [page.browser.execute_script("return document.documentElement.scrollWidth")]
    page.button("New connector").click()
    page.wait_until(lambda: page.texts("#create [data-part=groups] label"))
    page.browser.save_screenshot(str(tmp_path / "form.png"))
    needed.append(page.browser.execute_script("return document.querySelector('.body').scrollWidth"))

    assert max(needed) <= width
