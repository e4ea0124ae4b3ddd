"""A Chromium without a window, driven by Selenium."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from servers.processes import program

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

_DEBIAN = ("/usr/lib/chromium",)
_ARGUMENTS = (
    "--headless=new",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


@contextmanager
def chromium() -> Iterator[Chrome]:
    """Run a browser that has a profile of its own; end it, and remove that, at the end."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = program("chromium", *_DEBIAN, package="chromium")
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root with it.
    options.set_capability("goog:loggingPrefs", {"browser": "WARNING"})
    driver = program("chromedriver", *_DEBIAN, package="chromium-driver")
    browser = Chrome(options, ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def console(browser: Chrome) -> list[str]:
    """Return what the console has shown since it was asked last."""
    entries = browser.get_log("browser")  # type: ignore[no-untyped-call]  # Selenium leaves it out.
    return [entry["message"] for entry in entries]


def resize(browser: Chrome, width: int, height: int) -> None:
    """Have the page be so wide and high, in the pixels of its style sheet, as on that screen."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
