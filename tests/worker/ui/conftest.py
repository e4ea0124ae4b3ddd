"""A browser, and what is done with a page in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from worker.ui.looking import Page


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """Run one Chromium for all tests of a process."""
    from servers.chromium import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Serve an app until the browser has left its page; return its URL."""
    from worker.ui.serving import serving_app

    with ExitStack() as opened:
        yield lambda app: opened.enter_context(serving_app(app))


@pytest.fixture
def look_at(serve: object, browser: Chrome) -> Iterator[Callable[[str], Page]]:
    """Open the page of a worker; the console then has nothing that the test did not read."""
    from servers.chromium import console, resize
    from worker.ui.looking import Page

    resize(browser, 1280, 900)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def open_page(url: str) -> Page:
        browser.get(f"{url}/ui")
        return Page(browser)

    yield open_page
    found = console(browser)
    browser.get("about:blank")
    console(browser)  # What came of leaving the page.
    assert found == []
