"""What somebody sees and does who looks at the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from selenium.common import StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

_TEXTS = """return [...document.querySelectorAll(arguments[0])]
    .filter((each) => each.checkVisibility())
    .map((each) => each.innerText.trim())
    .filter(Boolean)"""


_BUTTON = """return [...document.querySelectorAll("button")]
    .filter((each) => each.checkVisibility())
    .find((each) => [each.innerText, each.ariaLabel].includes(arguments[0]))"""
_CONTROLS = {"button", "textbox", "searchbox", "combobox", "link", "DisclosureTriangle"}


@dataclass(frozen=True, slots=True)
class Page:
    """The page in a browser."""

    browser: Chrome

    def wait_until(self, happened: Callable[[], object]) -> None:
        """Wait until *happened* is true; fail after some seconds."""
        ignored = (StaleElementReferenceException,)
        WebDriverWait(self.browser, 15, 0.03, ignored).until(lambda _: happened())

    def find(self, css: str) -> WebElement:
        """Return the first element that is like *css*."""
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def texts(self, css: str) -> list[str]:
        """Return the texts of all that is shown and like *css*."""
        found: list[str] = self.browser.execute_script(_TEXTS, css)
        return found

    def has(self, name: str, state: str) -> bool:
        """Tell whether the list has connector *name* in *state*."""
        rows = self.texts("#connectors > tbody > tr:first-child")
        return any(row.split("\n")[0] == name and f"\t{state}\t" in row for row in rows)

    def button(self, label: str) -> WebElement:
        """Return the button of that text, or name, that is shown."""
        found: WebElement = self.browser.execute_script(_BUTTON, label)
        assert found, f"there is no button {label!r}"
        return found

    def field(self, label: str) -> WebElement:
        """Return the control of that label."""
        path = f"//*[@id=//label[normalize-space()='{label}']/@for]"
        return self.browser.find_element(By.XPATH, path)

    def controls(self) -> list[str]:
        """Return the names that controls have for a screen reader."""
        tree = self.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        return [
            node["name"]["value"]
            for node in tree["nodes"]
            if not node["ignored"] and node["role"]["value"] in _CONTROLS
        ]

    def wait_for_list(self) -> Page:
        """Wait until connectors are shown, or that there are none."""
        self.wait_until(lambda: self.texts("#connectors > tbody .name") or self.texts("#none"))
        return self

    def leave(self) -> None:
        """Leave the page, which asks the worker nothing more."""
        self.browser.get("about:blank")
