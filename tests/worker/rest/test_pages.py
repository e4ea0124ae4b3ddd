"""The page for people, as a browser gets it."""

from __future__ import annotations

import pytest
from selenium.webdriver.support.wait import WebDriverWait
from servers.chromium import chromium, console
from worker.rest.orders import Client


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/ui", "text/html"), ("/ui/page.js", "text/javascript"), ("/ui/icon.svg", "image/svg+xml")],
)
def test_the_page_may_load_its_own_files_and_nothing_else(
    ask: Client, path: str, kind: str
) -> None:
    answer = ask("GET", path)

    assert answer.status == 200
    assert answer.headers["Content-Type"].partition(";")[0] == kind
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_a_browser_asks_each_time_whether_the_file_is_still_the_same(ask: Client) -> None:
    first = ask("GET", "/ui")

    again = ask("GET", "/ui", headers={"If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == "no-cache"
    assert (again.status, again.text) == (304, "")


@pytest.mark.parametrize(
    "file",
    [
        "..%2Fworker_config.py",
        "%2e%2e%2Fherder.py",
        "%00",
        "none.js",
        ".",
        "..",
        "x" * 300,
        "%2Fetc",
    ],
)
def test_other_files_are_not_served(ask: Client, file: str) -> None:
    answer = ask("GET", f"/ui/{file}")

    assert answer.status == 404
    assert answer.error == "HTTP 404 Not Found"


def test_a_browser_shows_the_page_and_has_nothing_to_complain_about(orders: Client) -> None:
    with chromium() as browser:
        browser.get(f"{orders.url}/ui")

        WebDriverWait(browser, 20).until(
            lambda _: "orders" in browser.find_element("tag name", "main").text
        )

        assert console(browser) == []
